// C[m][n] = sum_k A[m][k] B[k][n], register-blocked as in product_blocked.glsl, and A is shared through the subgroup: its lanes
// lie along n and need the same rows of A. Each lane loads a different part of them, once, and all lanes read it from that
// lane's register. A block can be tall then at no price in loads, and one k at a time is enough.
//
// The including shader provides what product_blocked.glsl lists, and single values: loadA1(m, k), loadB1(k, n). The workgroup is
// one row of lanes along n (groupM is 1), whole subgroups of `lanes` or more. No lane leaves before the loop ends: those beside
// the product load for the others.

void main() {
    uint m0 = invocationM() * tileM;
    uint n0 = invocationN() * tileN;
    uint own = gl_SubgroupInvocationID % lanes;

    float sum[tileM * tileN];
    float rowSum[tileM];
    [[unroll]] for (uint i = 0; i < tileM * tileN; ++i) sum[i] = 0.0;
    [[unroll]] for (uint m = 0; m < tileM; ++m) rowSum[m] = 0.0;

    const uint fours = (tileM + 3) / 4;
    const uint turns = aAlongK ? (tileM + lanes - 1) / lanes : (fours + lanes - 1) / lanes;
    [[dont_unroll]] for (uint k = 0; k < productK(); ++k) {
        vec4 part[turns]; // of A, loaded by this lane: along m four values, along k one
        [[unroll]] for (uint turn = 0; turn < turns; ++turn) {
            uint at = turn * lanes + own;
            if (aAlongK)
                part[turn].x = loadA1(m0 + min(at, tileM - 1), k);
            else
                part[turn] = loadA(m0 + min(at, fours - 1) * 4, k);
        }
        float b[tileN];
        if (bAlongK) {
            [[unroll]] for (uint n = 0; n < tileN; ++n) b[n] = loadB1(k, n0 + n);
        } else {
            [[unroll]] for (uint n = 0; n < tileN; n += 4) {
                vec4 four = loadB(k, n0 + n);
                b[n] = four.x;
                b[n + 1] = four.y;
                b[n + 2] = four.z;
                b[n + 3] = four.w;
            }
        }
        [[unroll]] for (uint m = 0; m < tileM; ++m) {
            uint at = aAlongK ? m : m / 4;
            float a = subgroupBroadcast(part[at / lanes][aAlongK ? 0 : m % 4], at % lanes);
            if (sumRowsOfA) rowSum[m] += a;
            [[unroll]] for (uint n = 0; n < tileN; ++n) sum[m * tileN + n] = fma(a, b[n], sum[m * tileN + n]);
        }
    }

    if (n0 >= productN()) return;
    [[unroll]] for (uint m = 0; m < tileM; ++m) {
        if (m0 + m < productM()) {
            [[unroll]] for (uint n = 0; n < tileN; n += 4)
                if (n0 + n < productN())
                    store(m0 + m, n0 + n,
                          vec4(sum[m * tileN + n], sum[m * tileN + n + 1], sum[m * tileN + n + 2],
                               sum[m * tileN + n + 3]));
            if (sumRowsOfA && n0 == 0) storeRowSum(m0 + m, rowSum[m]);
        }
    }

    [[dont_unroll]] for (uint m = m0; m < min(m0 + tileM, productM()); ++m)
        [[dont_unroll]] for (uint n = n0; n < min(n0 + tileN, productN()); n += 4) finish(m, n);
}
