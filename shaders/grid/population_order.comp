#version 450
#extension GL_GOOGLE_include_directive : require

// orders[(step * batch + row) * networks + network] = the example at that row of a step's batch, by the network's own seed.
// Apart from training, whose registers are full and whose loops have no rounds to spare.
// x: networks, y: parts of a batch, z: steps.
#include "order.h"
#include "population.h"
#include "random.h"

layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) readonly buffer Records { PopulationRecord records[]; };
layout(set = 0, binding = 1) readonly buffer Networks { PopulationNetwork networks[]; }; // [place]
layout(set = 0, binding = 2) writeonly buffer Orders { uint orders[]; };
layout(push_constant) uniform Params { PopulationTrainParams params; };

const uint streamOfOrder = 2u; // RandomStream::order (engine/net/random.h)

OrderKeys keysOf(PopulationNetwork network, uint epoch) {
    Random4 words = philox(Random4(epoch, 0u, 0u, streamOfOrder), network.seedLow, network.seedHigh);
    return OrderKeys(words.x, words.y, words.z, words.w);
}

void main() {
    uint network = gl_GlobalInvocationID.x;
    uint step = gl_GlobalInvocationID.z;
    if (network >= params.orderNetworks) return;
    PopulationRecord record = records[params.firstRecord + step];
    OrderKeys keys = keysOf(networks[params.orderFirst + network], record.epoch);
    uint begin = gl_GlobalInvocationID.y * populationOrderRows;
    for (uint row = begin; row < min(begin + populationOrderRows, record.rows); ++row)
        orders[(step * params.batch + row) * params.orderNetworks + network] =
            orderIndex(record.first + row, params.examples, keys);
}
