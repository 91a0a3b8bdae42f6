// C[m][n] = sum_k A[m][k] B[k][n] with shared memory, as in product_tiled.glsl: the same slabs, the same order of additions. Two
// things keep an invocation from waiting.
// - There are two slabs. While all invocations compute from one of them, what the next one needs is on its way from memory into
//   registers, and then goes into the other slab. So loads and multiplications overlap, and one barrier per slab is enough.
// - Shared memory is read and written four numbers at a time: for each k, an invocation reads its tileM rows of A and its tileN
//   columns of B as vec4s. Its rows are neighbours; its columns are fours of neighbours that lie groupN fours apart, so that
//   neighbouring invocations read neighbouring vec4s. tileM and tileN are multiples of four.
//
// Slabs are [k][m] and [k][n], whichever way the operands lie in memory. Invocations load squares of 4 x 4 numbers as four vec4s.
// Where four neighbours in memory are four k, a square is transposed in registers on its way.
//
// The including shader provides what product_blocked.glsl names.

const uint blockM = groupM * tileM;
const uint blockN = groupN * tileN;
const uint slabsK = slabK * slices;
// Sizes in vec4s. Invocations that store squares of neighbouring fours of k at the same time would all reach the same banks of
// shared memory, whose number is a power of two: four rows are padded, so that the next four begin in other banks.
const uint padding = (denseBanks + slabsK - 1) / slabsK;
const uint fourRowsA = blockM + padding;
const uint fourRowsB = blockN + padding;
const uint slabA = slabsK / 4 * fourRowsA;
const uint slabB = slabsK / 4 * fourRowsB;
shared vec4 aSlabs[2 * slabA]; // parts of sums in the end: two slabs are blockN long at least where there are slices
shared vec4 bSlabs[2 * slabB];

uint other(uint slab) { return 1 - slab; }
uint placeA(uint slab, uint k, uint m) { return slab * slabA + k / 4 * fourRowsA + k % 4 * (blockM / 4) + m / 4; }
uint placeB(uint slab, uint k, uint n) { return slab * slabB + k / 4 * fourRowsB + k % 4 * (blockN / 4) + n / 4; }

// Squares of both operands in one list, which the invocations share: first those of A, then those of B.
const uint squaresA = slabsK / 4 * (blockM / 4);
const uint squaresB = slabsK / 4 * (blockN / 4);
const uint squaresEach = (squaresA + squaresB + groupSize - 1) / groupSize;
mat4 next[squaresEach]; // of the next slab, as they lie in memory

// First k and first m (or n) of a square: neighbouring invocations take neighbours in memory.
uvec2 beginOf(uint square, uint block, bool alongK) {
    return 4 * (alongK ? uvec2(square % (slabsK / 4), square / (slabsK / 4))
                       : uvec2(square / (block / 4), square % (block / 4)));
}

vec4 valuesA(uint m, uint k) { return m < productM() && k < productK() ? loadA(m, k) : vec4(0.0); }
vec4 valuesB(uint k, uint n) { return n < productN() && k < productK() ? loadB(k, n) : vec4(0.0); }

// From memory into registers. Nothing waits for the values before storeNext() uses them.
void loadNext(uint m0, uint n0, uint k0) {
    [[unroll]] for (uint each = 0; each < squaresEach; ++each) {
        uint square = each * groupSize + gl_LocalInvocationIndex;
        if (square < squaresA) {
            uvec2 begin = beginOf(square, blockM, aAlongK);
            uint k = k0 + begin.x;
            uint m = m0 + begin.y;
            [[unroll]] for (uint i = 0; i < 4; ++i) next[each][i] = aAlongK ? valuesA(m + i, k) : valuesA(m, k + i);
        } else if (square < squaresA + squaresB) {
            uvec2 begin = beginOf(square - squaresA, blockN, bAlongK);
            uint k = k0 + begin.x;
            uint n = n0 + begin.y;
            [[unroll]] for (uint i = 0; i < 4; ++i) next[each][i] = bAlongK ? valuesB(k, n + i) : valuesB(k + i, n);
        }
    }
}

// From registers into a slab.
void storeNext(uint slab) {
    [[unroll]] for (uint each = 0; each < squaresEach; ++each) {
        uint square = each * groupSize + gl_LocalInvocationIndex;
        if (square < squaresA) {
            uvec2 begin = beginOf(square, blockM, aAlongK);
            mat4 rows = aAlongK ? transpose(next[each]) : next[each];
            [[unroll]] for (uint i = 0; i < 4; ++i) aSlabs[placeA(slab, begin.x + i, begin.y)] = rows[i];
        } else if (square < squaresA + squaresB) {
            uvec2 begin = beginOf(square - squaresA, blockN, bAlongK);
            mat4 rows = bAlongK ? transpose(next[each]) : next[each];
            [[unroll]] for (uint i = 0; i < 4; ++i) bSlabs[placeB(slab, begin.x + i, begin.y)] = rows[i];
        }
    }
}

const uint foursM = tileM / 4;
const uint foursN = tileN / 4;
vec4 sum[tileM * foursN]; // [m][fours of columns]
vec4 rowSum[foursM];      // of A, when sumRowsOfA
uint ownRow() { return localM() * tileM; }
uint ownColumn(uint four) { return (four * groupN + localN()) * 4; }

void multiplySlab(uint slab, uint slice) {
    [[unroll]] for (uint kk = 0; kk < slabK; ++kk) {
        uint k = (kk / 4 * slices + slice) * 4 + kk % 4;
        vec4 a[foursM];
        vec4 b[foursN];
        [[unroll]] for (uint i = 0; i < foursM; ++i) a[i] = aSlabs[placeA(slab, k, ownRow() + i * 4)];
        [[unroll]] for (uint j = 0; j < foursN; ++j) b[j] = bSlabs[placeB(slab, k, ownColumn(j))];
        [[unroll]] for (uint i = 0; i < foursM; ++i)
            if (sumRowsOfA) rowSum[i] += a[i];
        [[unroll]] for (uint m = 0; m < tileM; ++m)
            [[unroll]] for (uint j = 0; j < foursN; ++j)
                sum[m * foursN + j] = fma(vec4(a[m / 4][m % 4]), b[j], sum[m * foursN + j]);
    }
}

// The first slice adds the parts of all others to its own, one after the other.
void addSlices(uint slice) {
    for (uint part = 1; part < slices; ++part) {
        if (slice == part) {
            [[unroll]] for (uint m = 0; m < tileM; ++m)
                [[unroll]] for (uint j = 0; j < foursN; ++j)
                    aSlabs[((ownRow() + m) * blockN + ownColumn(j)) / 4] = sum[m * foursN + j];
            if (localN() == 0)
                [[unroll]] for (uint i = 0; i < foursM; ++i) bSlabs[ownRow() / 4 + i] = rowSum[i];
        }
        barrier();
        if (slice == 0) {
            [[unroll]] for (uint m = 0; m < tileM; ++m)
                [[unroll]] for (uint j = 0; j < foursN; ++j)
                    sum[m * foursN + j] += aSlabs[((ownRow() + m) * blockN + ownColumn(j)) / 4];
            [[unroll]] for (uint i = 0; i < foursM; ++i) rowSum[i] += bSlabs[ownRow() / 4 + i];
        }
        barrier();
    }
}

void storeSums(uint m0, uint n0) {
    vec4 columns[foursN];
    [[unroll]] for (uint j = 0; j < foursN; ++j) columns[j] = loadColumns(n0 + ownColumn(j));
    [[unroll]] for (uint m = 0; m < tileM; ++m) {
        uint row = m0 + ownRow() + m;
        if (row < productM()) {
            [[unroll]] for (uint j = 0; j < foursN; ++j) {
                uint column = n0 + ownColumn(j);
                if (column < productN()) store(row, column, sum[m * foursN + j], columns[j]);
            }
            if (sumRowsOfA && n0 == 0 && localN() == 0) storeRowSum(row, rowSum[m / 4][m % 4]);
        }
    }

    uint begin = m0 + ownRow();
    [[dont_unroll]] for (uint row = begin; row < min(begin + tileM, productM()); ++row)
        [[dont_unroll]] for (uint j = 0; j < foursN; ++j)
            if (n0 + ownColumn(j) < productN()) finish(row, n0 + ownColumn(j));
}

void main() {
    uint m0 = gl_WorkGroupID.y * blockM;
    uint n0 = gl_WorkGroupID.x * blockN;
    uint slice = slices > 1 ? gl_LocalInvocationIndex / (groupN * groupM) : 0;
    [[unroll]] for (uint i = 0; i < tileM * foursN; ++i) sum[i] = vec4(0.0);
    [[unroll]] for (uint i = 0; i < foursM; ++i) rowSum[i] = vec4(0.0);

    uint slab = 0;
    loadNext(m0, n0, 0);
    storeNext(slab);
    barrier();
    for (uint k0 = 0; k0 < productK(); k0 += slabsK) {
        bool more = k0 + slabsK < productK();
        if (more) loadNext(m0, n0, k0 + slabsK);
        multiplySlab(slab, slice);
        if (more) storeNext(other(slab)); // which all have been done with since the last barrier
        barrier();                        // the next slab is there, and this one is free
        slab = other(slab);
    }

    addSlices(slice);
    if (slice == 0) storeSums(m0, n0);
}
