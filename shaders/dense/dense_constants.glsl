// The specialisation constants of every kernel of a dense product C[m][n] = sum_k A[m][k] B[k][n]. Their numbers have names in
// params.h, by which engine/step/dense_kernel.cpp sets them (Kernels::dense: the activation).
// A workgroup is groupM x groupN invocations (times `slices`), numbered along x alone: some software drivers build their vectors from
// neighbours along x only, and leave most elements idle where x is short.
// Rung matrix: groupN and the tiles count subgroups and what a subgroup computes (product_matrix.glsl); groupM is not used.
#ifndef LOCKSTEP_DENSE_CONSTANTS
#define LOCKSTEP_DENSE_CONSTANTS
#include "params.h"
layout(local_size_x_id = denseGroupSize) in;
layout(constant_id = denseGroupSize) const uint groupSize = 64; // invocations of a workgroup: groupM * groupN * slices
layout(constant_id = denseGroupN) const uint groupN = 8;        // of them along n
layout(constant_id = denseTileM) const uint tileM = 1;          // rows of C that one invocation computes
layout(constant_id = denseTileN) const uint tileN = 1;          // columns of C that one invocation computes
layout(constant_id = denseActivation) const uint activation = 0; // f, applied to each sum; backward: its derivative
layout(constant_id = denseSlabK) const uint slabK = 16;         // tiled, pipelined, matrix: length of k in a slab in shared memory
layout(constant_id = denseSharers) const uint sharers = 4;      // subgroup: invocations that share loads of A, at most a
                                                                // subgroup; matrix: invocations of a subgroup
layout(constant_id = denseSlices) const uint slices = 1;        // tiled, pipelined: parts of each sum, taken by as many invocations
layout(constant_id = denseAdds) const bool adds = false;         // weight gradients: to those of earlier parts of the batch
const uint groupM = groupSize / groupN / slices;

// Place of this invocation within its workgroup, and within the whole product.
uint localN() { return gl_LocalInvocationIndex % groupN; }
uint localM() { return gl_LocalInvocationIndex / groupN % groupM; }
uint invocationN() { return gl_WorkGroupID.x * groupN + localN(); }
uint invocationM() { return gl_WorkGroupID.y * groupM + localM(); }

// Rung naive-strided: the same workgroup, with its invocations numbered down the columns.
uint stridedN() { return gl_WorkGroupID.x * groupN + gl_LocalInvocationIndex / groupM; }
uint stridedM() { return gl_WorkGroupID.y * groupM + gl_LocalInvocationIndex % groupM; }
#endif
