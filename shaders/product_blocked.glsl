// C[m][n] = sum_k A[m][k] B[k][n], register-blocked: one invocation computes tileM x tileN outputs and holds them, and four k
// of A and B, in registers. Every value loaded is used tileN (or tileM) times, and comes as part of a vec4; no shared memory.
//
// The including shader provides: productM/N/K() the sizes; aAlongK, bAlongK: whether four neighbours in memory are four k
// (else four m, four n); loadA(m, k), loadB(k, n): those four values, indices inside or clamped; store(m, n, vec4) for four
// columns; finish(m, n), called for the same four afterwards, outside unrolled code; and, when sumRowsOfA, storeRowSum(m, sum_k
// A[m][k]). All other loops are unrolled: an array indexed at run time would fall out of the registers.

void main() {
    uint m0 = invocationM() * tileM;
    uint n0 = invocationN() * tileN;
    if (m0 >= productM() || n0 >= productN()) return;

    float sum[tileM * tileN];
    float rowSum[tileM];
    [[unroll]] for (uint i = 0; i < tileM * tileN; ++i) sum[i] = 0.0;
    [[unroll]] for (uint m = 0; m < tileM; ++m) rowSum[m] = 0.0;

    for (uint k = 0; k < productK(); k += 4) {
        float a[4 * tileM]; // [k][m]
        float b[4 * tileN]; // [k][n]
        if (aAlongK) {
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                vec4 four = loadA(m0 + m, k);
                a[m] = four.x;
                a[tileM + m] = four.y;
                a[2 * tileM + m] = four.z;
                a[3 * tileM + m] = four.w;
            }
        } else {
            [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                [[unroll]] for (uint m = 0; m < tileM; m += 4) {
                    vec4 four = loadA(m0 + m, k + kk);
                    a[kk * tileM + m] = four.x;
                    a[kk * tileM + m + 1] = four.y;
                    a[kk * tileM + m + 2] = four.z;
                    a[kk * tileM + m + 3] = four.w;
                }
        }
        if (bAlongK) {
            [[unroll]] for (uint n = 0; n < tileN; ++n) {
                vec4 four = loadB(k, n0 + n);
                b[n] = four.x;
                b[tileN + n] = four.y;
                b[2 * tileN + n] = four.z;
                b[3 * tileN + n] = four.w;
            }
        } else {
            [[unroll]] for (uint kk = 0; kk < 4; ++kk)
                [[unroll]] for (uint n = 0; n < tileN; n += 4) {
                    vec4 four = loadB(k + kk, n0 + n);
                    b[kk * tileN + n] = four.x;
                    b[kk * tileN + n + 1] = four.y;
                    b[kk * tileN + n + 2] = four.z;
                    b[kk * tileN + n + 3] = four.w;
                }
        }
        [[unroll]] for (uint kk = 0; kk < 4; ++kk)
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                if (sumRowsOfA) rowSum[m] += a[kk * tileM + m];
                [[unroll]] for (uint n = 0; n < tileN; ++n)
                    sum[m * tileN + n] = fma(a[kk * tileM + m], b[kk * tileN + n], sum[m * tileN + n]);
            }
    }

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
