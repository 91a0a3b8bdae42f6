// C[m][n] = sum_k A[m][k] B[k][n], register-blocked as in product_blocked.glsl. A is shared through the subgroup: its
// invocations lie along n and need the same rows of A. Each of them loads a different part of these rows, once, and all of them
// read it from that invocation's register. So a tall block costs no more loads.
//
// The including shader provides what product_blocked.glsl lists. The workgroup is one row of invocations along n (groupM is
// 1) and consists of whole subgroups of at least `sharers`. No invocation leaves before the loop ends: those beyond the product
// still load for the others.

#include "product_block.glsl"

void main() {
    uint m0 = invocationM() * tileM;
    uint n0 = invocationN() * tileN;
    uint own = gl_SubgroupInvocationID % sharers;

    clearBlock();

    const uint turns = (tileM + sharers - 1) / sharers; // vec4s of A that each invocation loads for four k
    [[dont_unroll]] for (uint k = 0; k < productK(); k += 4) {
        vec4 part[turns]; // along k: the four k of one m; else four m of one k
        [[unroll]] for (uint turn = 0; turn < turns; ++turn) {
            uint at = min(turn * sharers + own, tileM - 1);
            part[turn] = aAlongK ? loadA(m0 + at, k) : loadA(m0 + at / 4 * 4, k + at % 4);
        }
        vec4 b[tileN]; // likewise: the four k of one n; else [k][n / 4]
        [[unroll]] for (uint n = 0; n < tileN; ++n)
            b[n] = bAlongK ? loadB(k, n0 + n) : loadB(k + n / (tileN / 4), n0 + n % (tileN / 4) * 4);
        [[unroll]] for (uint m = 0; m < tileM; ++m) {
            vec4 a; // [k] of this m
            [[unroll]] for (uint kk = 0; kk < 4; ++kk) {
                uint at = aAlongK ? m : m / 4 * 4 + kk;
                a[kk] = subgroupBroadcast(part[at / sharers][aAlongK ? kk : m % 4], at % sharers);
            }
            if (sumRowsOfA) rowSum[m] = rowSum[m] + a.x + a.y + a.z + a.w; // in the order of k
            [[unroll]] for (uint n = 0; n < tileN; ++n)
                [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                    sum[m * tileN + n] =
                        fma(a[kk], bAlongK ? b[n][kk] : b[kk * (tileN / 4) + n / 4][n % 4], sum[m * tileN + n]);
        }
    }

    if (n0 >= productN()) return;
    storeBlock(m0, n0);
}
