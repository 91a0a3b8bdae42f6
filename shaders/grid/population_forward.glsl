// The answers of a network, with everything in private arrays and every loop unrolled (not where the including shader has
// defined LOOPED). It defines VALUE (a float, or a vec4: four examples side by side), what a parameter is and what an
// activation makes of such a value: float parameter(at), VALUE activated(activation, z).
#include "population_network.glsl"

#ifdef LOOPED
#define UNROLLED [[dont_unroll]]
#else
#define UNROLLED [[unroll]]
#endif

VALUE values[valueCount]; // A[0], A[1], ...
VALUE sums[valueCount];   // Z of the same neurons

void dense(uint layer, uint ins, uint outs, uint weights, uint from) {
    UNROLLED for (uint o = 0; o < outs; ++o) {
        VALUE sum = VALUE(0.0);
        UNROLLED for (uint i = 0; i < ins; ++i)
            sum = fma(values[from + i], VALUE(parameter(weights + o * ins + i)), sum);
        sum += parameter(weights + ins * outs + o);
        sums[from + ins + o] = sum;
        values[from + ins + o] = activated(activationOf(layer), sum);
    }
}

void forward() {
    dense(0, width0, width1, 0, 0);
    if (layers > 1) dense(1, width1, width2, weights1, width0);
    if (layers > 2) dense(2, width2, width3, weights2, values2);
    if (layers > 3) dense(3, width3, width4, weights3, values3);
    if (layers > 4) dense(4, width4, width5, weights4, values4);
}
