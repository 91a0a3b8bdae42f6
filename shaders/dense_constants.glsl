// What every kernel of a dense product is specialised by. Names follow the product C[m][n] = sum_k A[m][k] B[k][n].
layout(local_size_x_id = 0, local_size_y_id = 1) in;
layout(constant_id = 0) const uint groupN = 8;   // invocations of a workgroup along n (gl_LocalInvocationID.x)
layout(constant_id = 1) const uint groupM = 8;   // and along m (gl_LocalInvocationID.y)
layout(constant_id = 2) const uint tileM = 1;    // rows of C that one invocation computes
layout(constant_id = 3) const uint tileN = 1;    // columns of C that one invocation computes
layout(constant_id = 4) const uint activation = 0; // whose function or derivative is applied at the end
layout(constant_id = 5) const uint slabK = 16;   // tiled: length of k held in shared memory at a time
