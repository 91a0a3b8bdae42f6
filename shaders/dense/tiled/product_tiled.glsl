// C[m][n] = sum_k A[m][k] B[k][n] with shared memory: a workgroup loads a slab of slabK values of k for all its rows of A and
// columns of B once, and every invocation computes its tileM x tileN outputs from it. An invocation's columns lie groupN
// apart, so that neighbours read neighbouring words of shared memory and write neighbouring words of C. Where the including
// shader defines QUADS, its columns are fours of neighbours instead, and so can be stored as halves.
//
// Where a product has few outputs and long sums, as the weights' gradients of a small last layer have, most of a GPU would have
// nothing to do. Then `slices` invocations share each output's sum ("split-K"): a slab is as many times as long, they take
// its fours of k in turn, and in the end the first one adds up all parts, in a fixed order. So the order of additions depends
// on the number of slices, and not on the length of a slab.
//
// The including shader provides what product_blocked.glsl names; without QUADS store(m, n, float) for one value instead of
// loadColumns, store and finish for four.

// A shader that computes several products in one dispatch says in BEGIN which one, and where in it this workgroup is.
#ifndef BEGIN
#define BEGIN
uint groupRow() { return gl_WorkGroupID.y; }
uint groupColumn() { return gl_WorkGroupID.x; }
#endif

const uint blockM = groupM * tileM;
const uint blockN = groupN * tileN;
const uint slabsK = slabK * slices;
// Rows are padded by two floats, so that neighbours storing four k each hit different banks.
const uint strideA = blockM + densePadding;
const uint strideB = blockN + densePadding;
shared float aSlab[slabsK * strideA]; // [k][m]; parts of sums in the end: slabsK is blockN at least where there are slices
shared float bSlab[slabsK * strideB]; // [k][n]

#ifdef QUADS
uint columnOf(uint n) { return (n / 4 * groupN + localN()) * 4 + n % 4; }
#else
uint columnOf(uint n) { return n * groupN + localN(); }
#endif

void loadSlab(uint m0, uint n0, uint k0) {
    for (uint quad = gl_LocalInvocationIndex; quad < slabsK * blockM / 4; quad += groupSize) {
        uint m = aAlongK ? quad / (slabsK / 4) : quad % (blockM / 4) * 4;
        uint k = aAlongK ? quad % (slabsK / 4) * 4 : quad / (blockM / 4);
        vec4 four = m0 + m < productM() && k0 + k < productK() ? loadA(m0 + m, k0 + k) : vec4(0.0);
        for (uint i = 0; i < 4; ++i) aSlab[aAlongK ? (k + i) * strideA + m : k * strideA + m + i] = four[i];
    }
    for (uint quad = gl_LocalInvocationIndex; quad < slabsK * blockN / 4; quad += groupSize) {
        uint n = bAlongK ? quad / (slabsK / 4) : quad % (blockN / 4) * 4;
        uint k = bAlongK ? quad % (slabsK / 4) * 4 : quad / (blockN / 4);
        vec4 four = n0 + n < productN() && k0 + k < productK() ? loadB(k0 + k, n0 + n) : vec4(0.0);
        for (uint i = 0; i < 4; ++i) bSlab[bAlongK ? (k + i) * strideB + n : k * strideB + n + i] = four[i];
    }
}

void main() {
    BEGIN
    uint m0 = groupRow() * blockM;
    uint n0 = groupColumn() * blockN;
    uint ownM = localM() * tileM;

    float sum[tileM * tileN];
    float rowSum[tileM];
    [[unroll]] for (uint i = 0; i < tileM * tileN; ++i) sum[i] = 0.0;
    [[unroll]] for (uint m = 0; m < tileM; ++m) rowSum[m] = 0.0;

    uint slice = slices > 1 ? gl_LocalInvocationIndex / (groupN * groupM) : 0;
    for (uint k0 = 0; k0 < productK(); k0 += slabsK) {
        loadSlab(m0, n0, k0);
        barrier();
        [[unroll]] for (uint kk = 0; kk < slabK; ++kk) {
            uint k = (kk / 4 * slices + slice) * 4 + kk % 4;
            float a[tileM];
            float b[tileN];
            [[unroll]] for (uint m = 0; m < tileM; ++m) a[m] = aSlab[k * strideA + ownM + m];
            [[unroll]] for (uint n = 0; n < tileN; ++n) b[n] = bSlab[k * strideB + columnOf(n)];
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                if (sumRowsOfA) rowSum[m] += a[m];
                [[unroll]] for (uint n = 0; n < tileN; ++n)
                    sum[m * tileN + n] = fma(a[m], b[n], sum[m * tileN + n]);
            }
        }
        barrier();
    }

    for (uint part = 1; part < slices; ++part) {
        if (slice == part) {
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                [[unroll]] for (uint n = 0; n < tileN; ++n)
                    aSlab[(ownM + m) * blockN + columnOf(n)] = sum[m * tileN + n];
                if (localN() == 0) bSlab[ownM + m] = rowSum[m];
            }
        }
        barrier();
        if (slice == 0) {
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                [[unroll]] for (uint n = 0; n < tileN; ++n)
                    sum[m * tileN + n] += aSlab[(ownM + m) * blockN + columnOf(n)];
                rowSum[m] += bSlab[ownM + m];
            }
        }
        barrier();
    }
    if (slice != 0) return;

#ifdef QUADS
    vec4 columns[tileN / 4];
    [[unroll]] for (uint n = 0; n < tileN; n += 4) columns[n / 4] = loadColumns(n0 + columnOf(n));
#endif
    [[unroll]] for (uint m = 0; m < tileM; ++m) {
        uint row = m0 + ownM + m;
        if (row < productM()) {
#ifdef QUADS
            [[unroll]] for (uint n = 0; n < tileN; n += 4) {
                uint at = m * tileN + n;
                uint column = n0 + columnOf(n);
                if (column < productN())
                    store(row, column, vec4(sum[at], sum[at + 1], sum[at + 2], sum[at + 3]), columns[n / 4]);
            }
#else
            [[unroll]] for (uint n = 0; n < tileN; ++n) {
                uint column = n0 + columnOf(n);
                if (column < productN()) store(row, column, sum[m * tileN + n]);
            }
#endif
            if (sumRowsOfA && n0 == 0 && localN() == 0) storeRowSum(row, rowSum[m]);
        }
    }

#ifdef QUADS
    [[dont_unroll]] for (uint row = m0 + ownM; row < min(m0 + ownM + tileM, productM()); ++row)
        [[dont_unroll]] for (uint n = 0; n < tileN; n += 4)
            if (n0 + columnOf(n) < productN()) finish(row, n0 + columnOf(n));
#endif
}
