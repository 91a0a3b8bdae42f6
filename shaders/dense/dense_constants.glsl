// What every kernel of a dense product is specialised by. Names follow the product C[m][n] = sum_k A[m][k] B[k][n].
// For the rung matrix, groupN and the tiles count subgroups and what a subgroup computes (product_matrix.glsl); groupM is not used.
// A workgroup is groupM x groupN invocations, numbered along x alone: some software drivers build their vectors from
// neighbours along x only, and leave most lanes idle where x is short.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64; // invocations of a workgroup, groupM * groupN * slices
layout(constant_id = 1) const uint groupN = 8;     // of them along n
layout(constant_id = 2) const uint tileM = 1;      // rows of C that one invocation computes
layout(constant_id = 3) const uint tileN = 1;      // columns of C that one invocation computes
layout(constant_id = 4) const uint activation = 0; // whose function or derivative is applied at the end
layout(constant_id = 5) const uint slabK = 16;     // tiled, matrix: length of k held in shared memory at a time
layout(constant_id = 6) const uint lanes = 4;      // subgroup: invocations that share loads of A, no more than a subgroup has; matrix: of a subgroup
layout(constant_id = 8) const uint slices = 1;     // tiled: parts of the sum that invocations share, one after the other
const uint groupM = groupSize / groupN / slices;

// Place of this invocation within its workgroup, and within the whole product.
uint laneN() { return gl_LocalInvocationIndex % groupN; }
uint laneM() { return gl_LocalInvocationIndex / groupN % groupM; }
uint invocationN() { return gl_WorkGroupID.x * groupN + laneN(); }
uint invocationM() { return gl_WorkGroupID.y * groupM + laneM(); }

// Rung naive-strided: the same workgroup, with its invocations numbered down the columns.
uint stridedN() { return gl_WorkGroupID.x * groupN + gl_LocalInvocationIndex / groupM; }
uint stridedM() { return gl_WorkGroupID.y * groupM + gl_LocalInvocationIndex % groupM; }
