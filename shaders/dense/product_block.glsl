// The block of tileM x tileN outputs that one invocation holds in registers, from row m0 and column n0 of a product.
//
// The including shader provides: productM/N/K() the sizes of the product; loadColumns(n): what store() needs to know of four
// columns, loaded once for all rows; store(m, n, four, columns); finish(m, n), called for the same four outputs afterwards,
// outside unrolled code; and, when sumRowsOfA, storeRowSum(m, sum_k A[m][k]).

float sum[tileM * tileN];
float rowSum[tileM]; // of A, when sumRowsOfA

void clearBlock() {
    [[unroll]] for (uint i = 0; i < tileM * tileN; ++i) sum[i] = 0.0;
    [[unroll]] for (uint m = 0; m < tileM; ++m) rowSum[m] = 0.0;
}

void storeBlock(uint m0, uint n0) {
    vec4 columns[tileN / 4];
    [[unroll]] for (uint n = 0; n < tileN; n += 4) columns[n / 4] = loadColumns(n0 + n);
    [[unroll]] for (uint m = 0; m < tileM; ++m) {
        if (m0 + m < productM()) {
            [[unroll]] for (uint n = 0; n < tileN; n += 4)
                if (n0 + n < productN())
                    store(m0 + m, n0 + n,
                          vec4(sum[m * tileN + n], sum[m * tileN + n + 1], sum[m * tileN + n + 2],
                               sum[m * tileN + n + 3]),
                          columns[n / 4]);
            if (sumRowsOfA && n0 == 0) storeRowSum(m0 + m, rowSum[m]);
        }
    }

    [[dont_unroll]] for (uint m = m0; m < min(m0 + tileM, productM()); ++m)
        [[dont_unroll]] for (uint n = n0; n < min(n0 + tileN, productN()); n += 4) finish(m, n);
}
