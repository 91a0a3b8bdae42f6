// Where in the arena of parameters a layer lies, in floats, and where its weights lie as halves, for kernels that go over
// all parameters of half precision. The including shader defines LAYER_TABLE, the binding.
struct LayerPlace {
    uint weights; // a multiple of 64
    uint bias;    // likewise; weights, padding included, end at or before it
    uint outputs;
    uint halves;  // of the weights, in halves; a multiple of 128
};
layout(set = 0, binding = LAYER_TABLE) readonly buffer LayerTable { LayerPlace layers[]; };
