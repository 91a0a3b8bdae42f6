// C[m][n] = sum_k A[m][k] B[k][n], register-blocked: one invocation computes tileM x tileN outputs and holds them, and four k
// of A and B, in registers. Every value loaded is used tileN (or tileM) times, and comes as part of a vec4; no shared memory.
//
// The including shader provides: productM/N/K() the sizes; aAlongK, bAlongK: whether four neighbours in memory are four k
// (else four m, four n); loadA(m, k), loadB(k, n): those four values, indices inside or clamped; sumRowsOfA; and what
// product_block.glsl asks for. All loops but that over k are unrolled: an array indexed at run time would fall out of the
// registers. Innermost are the four k of one output: where registers are few, it is fetched and put back once for all four.

#include "product_block.glsl"

void main() {
    uint m0 = invocationM() * tileM;
    uint n0 = invocationN() * tileN;
    if (m0 >= productM() || n0 >= productN()) return;

    clearBlock();

    for (uint k = 0; k < productK(); k += 4) {
        float a[4 * tileM]; // [k][m]
        float b[4 * tileN]; // [k][n]
        if (aAlongK) {
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                vec4 four = loadA(m0 + m, k);
                [[unroll]] for (uint kk = 0; kk < 4; ++kk) a[kk * tileM + m] = four[kk];
            }
        } else {
            [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                [[unroll]] for (uint m = 0; m < tileM; m += 4) {
                    vec4 four = loadA(m0 + m, k + kk);
                    [[unroll]] for (uint i = 0; i < 4; ++i) a[kk * tileM + m + i] = four[i];
                }
        }
        if (bAlongK) {
            [[unroll]] for (uint n = 0; n < tileN; ++n) {
                vec4 four = loadB(k, n0 + n);
                [[unroll]] for (uint kk = 0; kk < 4; ++kk) b[kk * tileN + n] = four[kk];
            }
        } else {
            [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                [[unroll]] for (uint n = 0; n < tileN; n += 4) {
                    vec4 four = loadB(k + kk, n0 + n);
                    [[unroll]] for (uint i = 0; i < 4; ++i) b[kk * tileN + n + i] = four[i];
                }
        }
        [[unroll]] for (uint m = 0; m < tileM; ++m) {
            if (sumRowsOfA)
                rowSum[m] = rowSum[m] + a[m] + a[tileM + m] + a[2 * tileM + m] + a[3 * tileM + m];
            [[unroll]] for (uint n = 0; n < tileN; ++n)
                [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                    sum[m * tileN + n] = fma(a[kk * tileM + m], b[kk * tileN + n], sum[m * tileN + n]);
        }
    }

    storeBlock(m0, n0);
}
