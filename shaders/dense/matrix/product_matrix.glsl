// C[m][n] = sum_k A[m][k] B[k][n] by cooperative matrices. A workgroup loads slabs of A and B as halves into shared memory, as
// in product_tiled.glsl; each of its subgroups multiplies matrixM x matrixK by matrixK x matrixN tiles from there, and holds
// tileM x tileN sums. There are two slabs of each: the next ones are loaded while these are multiplied. In the end the sums go
// through shared memory, so that invocations can store fours of neighbours.
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
// [m][k] where four neighbours in memory are four k, else [k][m]; likewise B. Rows are padded, so that the same column of
// neighbouring rows lies in different banks. Sizes in fours of halves.
const uint strideA = (uint(aAlongK) * slabK + uint(!aAlongK) * blockM + denseMatrixPadding) / 4;
const uint strideB = (uint(bAlongK) * slabK + uint(!bAlongK) * blockN + denseMatrixPadding) / 4;
const uint slabA = (uint(aAlongK) * blockM + uint(!aAlongK) * slabK) * strideA;
const uint slabB = (uint(bAlongK) * blockN + uint(!bAlongK) * slabK) * strideB;
const uint slabWords = 2 * (slabA + slabB);
const uint sumWords = blockM * blockN / 2;
// Both slabs of A, then both of B; in the end the sums [m][n], two in each pair of words.
shared uvec2 pool[slabWords > sumWords ? slabWords : sumWords];
shared float rowSum[blockM]; // of A, when sumRowsOfA

uint other(uint slab) { return 1 - slab; }
uint beginA(uint slab) { return slab * slabA; }
uint beginB(uint slab) { return 2 * slabA + slab * slabB; }

void loadSlab(uint m0, uint n0, uint k0, uint slab) {
    const uint aQuads = (aAlongK ? slabK : blockM) / 4; // of a row
    const uint bQuads = (bAlongK ? slabK : blockN) / 4;
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockM / 4; quad += groupSize) {
        uint row = quad / aQuads;
        uint column = quad % aQuads;
        uint m = m0 + (aAlongK ? row : column * 4);
        uint k = k0 + (aAlongK ? column * 4 : row);
        pool[beginA(slab) + row * strideA + column] = m < productM() && k < productK() ? wordsA(m, k) : uvec2(0);
    }
    for (uint quad = gl_LocalInvocationIndex; quad < slabK * blockN / 4; quad += groupSize) {
        uint row = quad / bQuads;
        uint column = quad % bQuads;
        uint n = n0 + (bAlongK ? row : column * 4);
        uint k = k0 + (bAlongK ? column * 4 : row);
        pool[beginB(slab) + row * strideB + column] = n < productN() && k < productK() ? wordsB(k, n) : uvec2(0);
    }
}

void addRowSums(uint slab) { // A is [k][m] where they are asked for
    for (uint m = gl_LocalInvocationIndex; m < blockM; m += groupSize) {
        float sum = rowSum[m];
        for (uint k = 0; k < slabK; ++k) sum += unpackFour(pool[beginA(slab) + k * strideA + m / 4])[m % 4];
        rowSum[m] = sum;
    }
}

MATRIX_SUM matrixSums[matricesM * matricesN];

void multiplySlab(uint tileRow, uint tileColumn, uint slab) {
    for (uint k = 0; k < slabK; k += matrixK) {
        MATRIX_A a[matricesM];
        MATRIX_B b[matricesN];
        [[unroll]] for (uint i = 0; i < matricesM; ++i) {
            uint m = tileRow + i * matrixM;
            if (aAlongK)
                LOAD_ROWS(a[i], pool, beginA(slab) + m * strideA + k / 4, strideA);
            else
                LOAD_COLUMNS(a[i], pool, beginA(slab) + k * strideA + m / 4, strideA);
        }
        [[unroll]] for (uint j = 0; j < matricesN; ++j) {
            uint n = tileColumn + j * matrixN;
            if (bAlongK)
                LOAD_COLUMNS(b[j], pool, beginB(slab) + n * strideB + k / 4, strideB);
            else
                LOAD_ROWS(b[j], pool, beginB(slab) + k * strideB + n / 4, strideB);
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
    uint slab = 0;
    loadSlab(m0, n0, 0, slab);
    barrier();
    for (uint k0 = 0; k0 < productK(); k0 += slabK) {
        if (k0 + slabK < productK()) loadSlab(m0, n0, k0 + slabK, other(slab));
        if (addsRows) addRowSums(slab);
        if (multiplies) multiplySlab(tileRow, tileColumn, slab);
        barrier(); // the next slab is there, and nobody needs this one any more
        slab = other(slab);
    }
    if (!multiplies) return;
    [[unroll]] for (uint i = 0; i < matricesM; ++i)
        [[unroll]] for (uint j = 0; j < matricesN; ++j)
            STORE_ROWS(matrixSums[i * matricesN + j], pool,
                       ((tileRow + i * matrixM) * blockN + tileColumn + j * matrixN) / 2, blockN / 2);
}

// Stores the sums of the tiles from `first` on that the subgroups have left in shared memory.
void storeTiles(uint first, uint m0, uint n0) {
    for (uint quad = gl_LocalInvocationIndex; quad < blockM * blockN / 4; quad += groupSize) {
        uint row = quad / (blockN / 4);
        uint column = quad % (blockN / 4) * 4;
        uint m = m0 + row;
        uint n = n0 + column;
        uint tile = row / tileM * subgroupTilesN + column / tileN;
        if (tile - first >= gl_NumSubgroups || m >= productM() || n >= productN()) continue;
        vec4 four = vec4(uintBitsToFloat(pool[quad * 2]), uintBitsToFloat(pool[quad * 2 + 1]));
        store(m, n, four, loadColumns(n));
        finish(m, n);
    }
}

void main() {
    uint m0 = gl_WorkGroupID.y * blockM;
    uint n0 = gl_WorkGroupID.x * blockN;
    bool sumsRows = sumRowsOfA && gl_WorkGroupID.x == 0;
    if (sumsRows)
        for (uint m = gl_LocalInvocationIndex; m < blockM; m += groupSize) rowSum[m] = 0.0;

    // A device may form fewer subgroups than there are tiles, each of more invocations.
    for (uint first = 0; first < subgroupTilesM * subgroupTilesN; first += gl_NumSubgroups) {
        multiplyTile(first + gl_SubgroupID, m0, n0, sumsRows && first == 0);
        barrier();
        storeTiles(first, m0, n0);
        barrier();
    }
    if (sumsRows)
        for (uint m = gl_LocalInvocationIndex; m < min(blockM, productM() - m0); m += groupSize)
            storeRowSum(m0 + m, rowSum[m]);
}
