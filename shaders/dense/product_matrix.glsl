// C[m][n] = sum_k A[m][k] B[k][n] by cooperative matrices. A workgroup loads slabs of A and B as halves into shared memory, as
// in product_tiled.glsl; each of its subgroups multiplies matrixM x matrixK by matrixK x matrixN tiles from there, and holds
// tileM x tileN sums. In the end the sums go through shared memory, so that invocations can store fours of neighbours.
//
// The including shader provides what product_blocked.glsl names, and wordsA(m, k), wordsB(k, n): what loadA and loadB return,
// as it lies in memory.

layout(constant_id = denseMatrixM) const uint matrixM = 16; // gpu::MatrixTile
layout(constant_id = denseMatrixN) const uint matrixN = 16;
layout(constant_id = denseMatrixK) const uint matrixK = 16;

const uint subgroupTilesN = groupN; // tiles of subgroups in a workgroup's block, side by side ...
const uint subgroupTilesM = groupSize / sharers / groupN; // ... and one above the other
const uint blockM = subgroupTilesM * tileM;
const uint blockN = subgroupTilesN * tileN;
const uint matricesM = tileM / matrixM;
const uint matricesN = tileN / matrixN;
// [m][k] where four neighbours in memory are four k, else [k][m]; likewise B.
shared uvec2 aSlab[blockM * slabK / 4];
shared uvec2 bSlab[blockN * slabK / 4];
shared float cBlock[blockM * blockN];
shared float rowSum[blockM]; // of A, when sumRowsOfA

void loadSlab(uint m0, uint n0, uint k0) {
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockM / 4; quad += groupSize) {
        uint m = m0 + (aAlongK ? quad / (slabK / 4) : quad % (blockM / 4) * 4);
        uint k = k0 + (aAlongK ? quad % (slabK / 4) * 4 : quad / (blockM / 4));
        aSlab[quad] = m < productM() && k < productK() ? wordsA(m, k) : uvec2(0);
    }
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockN / 4; quad += groupSize) {
        uint n = n0 + (bAlongK ? quad / (slabK / 4) : quad % (blockN / 4) * 4);
        uint k = k0 + (bAlongK ? quad % (slabK / 4) * 4 : quad / (blockN / 4));
        bSlab[quad] = n < productN() && k < productK() ? wordsB(k, n) : uvec2(0);
    }
}

void addRowSums() { // A is [k][m] where they are asked for
    for (uint m = gl_LocalInvocationIndex; m < blockM; m += groupSize) {
        float sum = rowSum[m];
        for (uint k = 0; k < slabK; ++k) sum += unpackFour(aSlab[(k * blockM + m) / 4])[m % 4];
        rowSum[m] = sum;
    }
}

MATRIX_SUM matrixSums[matricesM * matricesN];

void multiplySlab(uint tileRow, uint tileColumn) {
    for (uint k = 0; k < slabK; k += matrixK) {
        MATRIX_A a[matricesM];
        MATRIX_B b[matricesN];
        [[unroll]] for (uint i = 0; i < matricesM; ++i) {
            uint m = tileRow + i * matrixM;
            if (aAlongK)
                LOAD_ROWS(a[i], aSlab, (m * slabK + k) / 4, slabK / 4);
            else
                LOAD_COLUMNS(a[i], aSlab, (k * blockM + m) / 4, blockM / 4);
        }
        [[unroll]] for (uint j = 0; j < matricesN; ++j) {
            uint n = tileColumn + j * matrixN;
            if (bAlongK)
                LOAD_COLUMNS(b[j], bSlab, (n * slabK + k) / 4, slabK / 4);
            else
                LOAD_ROWS(b[j], bSlab, (k * blockN + n) / 4, blockN / 4);
        }
        [[unroll]] for (uint i = 0; i < matricesM; ++i)
            [[unroll]] for (uint j = 0; j < matricesN; ++j)
                matrixSums[i * matricesN + j] = MULTIPLY_ADD(a[i], b[j], matrixSums[i * matricesN + j]);
    }
}

// All invocations of the workgroup have to call it: those of subgroups beyond the last tile load, and multiply nothing.
void multiplyTile(uint tile, uint m0, uint n0, bool addsRows) {
    bool multiplies = tile < subgroupTilesM * subgroupTilesN;
    uint tileRow = tile / subgroupTilesN * tileM;
    uint tileColumn = tile % subgroupTilesN * tileN;
    [[unroll]] for (uint i = 0; i < matricesM * matricesN; ++i) matrixSums[i] = MATRIX_SUM(0.0);
    for (uint k0 = 0; k0 < productK(); k0 += slabK) {
        loadSlab(m0, n0, k0);
        barrier();
        if (addsRows) addRowSums();
        if (multiplies) multiplySlab(tileRow, tileColumn);
        barrier();
    }
    if (!multiplies) return;
    [[unroll]] for (uint i = 0; i < matricesM; ++i)
        [[unroll]] for (uint j = 0; j < matricesN; ++j)
            STORE_ROWS(matrixSums[i * matricesN + j], cBlock,
                       (tileRow + i * matrixM) * blockN + tileColumn + j * matrixN, blockN);
}

void main() {
    uint m0 = gl_WorkGroupID.y * blockM;
    uint n0 = gl_WorkGroupID.x * blockN;
    bool sumsRows = sumRowsOfA && gl_WorkGroupID.x == 0;
    if (sumsRows)
        for (uint m = gl_LocalInvocationIndex; m < blockM; m += groupSize) rowSum[m] = 0.0;

    // A device may form fewer subgroups than there are tiles, each of more invocations.
    for (uint first = 0; first < subgroupTilesM * subgroupTilesN; first += gl_NumSubgroups)
        multiplyTile(first + gl_SubgroupID, m0, n0, sumsRows && first == 0);
    barrier();

    for (uint quad = gl_LocalInvocationIndex; quad < blockM * blockN / 4; quad += groupSize) {
        uint m = m0 + quad / (blockN / 4);
        uint n = n0 + quad % (blockN / 4) * 4;
        if (m >= productM() || n >= productN()) continue;
        vec4 four = vec4(cBlock[quad * 4], cBlock[quad * 4 + 1], cBlock[quad * 4 + 2], cBlock[quad * 4 + 3]);
        store(m, n, four, loadColumns(n));
        finish(m, n);
    }
    if (sumsRows)
        for (uint m = gl_LocalInvocationIndex; m < min(blockM, productM() - m0); m += groupSize)
            storeRowSum(m0 + m, rowSum[m]);
}
