// Sum over a workgroup's invocations in a fixed order, so that a run repeats bit for bit.
layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64; // a power of two

shared float partial[groupSize];

// All invocations of the workgroup must call it.
float sumOverGroup(float value) {
    uint id = gl_LocalInvocationIndex;
    partial[id] = value;
    barrier();
    for (uint width = groupSize / 2; width > 0; width /= 2) {
        if (id < width) partial[id] += partial[id + width];
        barrier();
    }
    return partial[0];
}
