// C[m][n] = sum_k A[m][k] B[k][n] with shared memory: a workgroup loads a slab of slabK values of k for all its rows of A and
// columns of B once, and every invocation computes its tileM x tileN outputs from it. An invocation's columns lie groupN
// apart, so that neighbours read neighbouring words of shared memory and write neighbouring words of C. Where the including
// shader defines QUADS, its columns are fours of neighbours instead, and so can be stored as halves.
//
// The including shader provides what product_blocked.glsl names; without QUADS store(m, n, float) for one value instead of
// loadColumns, store and finish for four.

const uint blockM = groupM * tileM;
const uint blockN = groupN * tileN;
shared float aSlab[slabK * blockM]; // [k][m]
shared float bSlab[slabK * blockN]; // [k][n]

#ifdef QUADS
uint columnOf(uint n) { return (n / 4 * groupN + laneN()) * 4 + n % 4; }
#else
uint columnOf(uint n) { return n * groupN + laneN(); }
#endif

void loadSlab(uint m0, uint n0, uint k0) {
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockM / 4; quad += groupSize) {
        if (aAlongK) {
            uint m = quad / (slabK / 4);
            uint k = quad % (slabK / 4) * 4;
            vec4 four = m0 + m < productM() && k0 + k < productK() ? loadA(m0 + m, k0 + k) : vec4(0.0);
            for (uint i = 0; i < 4; ++i) aSlab[(k + i) * blockM + m] = four[i];
        } else {
            uint k = quad / (blockM / 4);
            uint m = quad % (blockM / 4) * 4;
            vec4 four = m0 + m < productM() && k0 + k < productK() ? loadA(m0 + m, k0 + k) : vec4(0.0);
            for (uint i = 0; i < 4; ++i) aSlab[k * blockM + m + i] = four[i];
        }
    }
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockN / 4; quad += groupSize) {
        if (bAlongK) {
            uint n = quad / (slabK / 4);
            uint k = quad % (slabK / 4) * 4;
            vec4 four = n0 + n < productN() && k0 + k < productK() ? loadB(k0 + k, n0 + n) : vec4(0.0);
            for (uint i = 0; i < 4; ++i) bSlab[(k + i) * blockN + n] = four[i];
        } else {
            uint k = quad / (blockN / 4);
            uint n = quad % (blockN / 4) * 4;
            vec4 four = n0 + n < productN() && k0 + k < productK() ? loadB(k0 + k, n0 + n) : vec4(0.0);
            for (uint i = 0; i < 4; ++i) bSlab[k * blockN + n + i] = four[i];
        }
    }
}

void main() {
    uint m0 = gl_WorkGroupID.y * blockM;
    uint n0 = gl_WorkGroupID.x * blockN;
    uint ownM = laneM() * tileM;

    float sum[tileM * tileN];
    float rowSum[tileM];
    [[unroll]] for (uint i = 0; i < tileM * tileN; ++i) sum[i] = 0.0;
    [[unroll]] for (uint m = 0; m < tileM; ++m) rowSum[m] = 0.0;

    for (uint k0 = 0; k0 < productK(); k0 += slabK) {
        loadSlab(m0, n0, k0);
        barrier();
        [[unroll]] for (uint k = 0; k < slabK; ++k) {
            float a[tileM];
            float b[tileN];
            [[unroll]] for (uint m = 0; m < tileM; ++m) a[m] = aSlab[k * blockM + ownM + m];
            [[unroll]] for (uint n = 0; n < tileN; ++n) b[n] = bSlab[k * blockN + columnOf(n)];
            [[unroll]] for (uint m = 0; m < tileM; ++m) {
                if (sumRowsOfA) rowSum[m] += a[m];
                [[unroll]] for (uint n = 0; n < tileN; ++n)
                    sum[m * tileN + n] = fma(a[m], b[n], sum[m * tileN + n]);
            }
        }
        barrier();
    }

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
            if (sumRowsOfA && invocationN() == 0) storeRowSum(row, rowSum[m]);
        }
    }

#ifdef QUADS
    [[dont_unroll]] for (uint row = m0 + ownM; row < min(m0 + ownM + tileM, productM()); ++row)
        [[dont_unroll]] for (uint n = 0; n < tileN; n += 4)
            if (n0 + columnOf(n) < productN()) finish(row, n0 + columnOf(n));
#endif
}
