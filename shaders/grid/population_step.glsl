// What the kernels that train a population share: their buffers, which example a row is, the optimizer's numbers, and the way
// through the steps. A network whose batch loss is not finite stays as it was before that step, from then on.
//
// The including shader provides: load(place) and store(place, state) around the steps of a dispatch; learnFrom(step, record,
// place, firstExample), which leaves the gradients of the batch and returns its loss; and update(how, place).
#include "population.h"
#include "population_network.glsl"

#define PARAMETERS float
#include "update.glsl"

layout(local_size_x_id = 0) in;
layout(constant_id = 0) const uint groupSize = 64;
layout(constant_id = 3) const uint order = orderOfFile;

layout(set = 0, binding = 0) readonly buffer Examples { vec4 examples[]; }; // [data set][example][exampleQuads]
layout(set = 0, binding = 1) readonly buffer Orders { uint orders[]; };
layout(set = 0, binding = 2) readonly buffer Records { PopulationRecord records[]; };
layout(set = 0, binding = 3) readonly buffer Networks { PopulationNetwork networks[]; };
layout(set = 0, binding = 4) buffer States { PopulationState states[]; };
layout(set = 0, binding = 5) buffer Parameters { float parameters[]; }; // [parameter][place], as are both below
layout(set = 0, binding = 6) buffer First { float firstState[]; };
layout(set = 0, binding = 7) buffer Second { float secondState[]; };
layout(push_constant) uniform Params { PopulationTrainParams params; };

// The example at row `row` of the batch of step `step` of the dispatch.
uint exampleOf(uint step, PopulationRecord record, uint row, uint place) {
    if (order == orderOfFile) return record.first + row;
    if (order == orderOfTable) return orders[(params.firstRecord + step) * params.batch + row];
    return orders[(step * params.batch + row) * params.orderNetworks + place - params.orderFirst];
}

precise UpdateParams updateOf(PopulationNetwork network, PopulationRecord record) {
    UpdateParams how;
    how.learningRate = network.learningRate * record.rateFactor;
    how.momentum = network.momentum;
    how.secondDecay = params.secondDecay;
    how.epsilon = params.epsilon;
    how.secondScale = record.secondScale;
    how.weightKeep = 1.0 - network.learningRate * record.schedule * network.weightDecay;
    how.l1 = params.l1;
    how.l2 = network.l2;
    how.nesterov = params.nesterov;
    return how;
}

void load(uint place);
void store(uint place, PopulationState state);
float learnFrom(uint step, PopulationRecord record, uint place, uint firstExample);
void update(UpdateParams how, uint place);

void train(uint place) {
    PopulationState state = states[place];
    if (state.diverged != 0) return;
    PopulationNetwork network = networks[place];
    load(place);
    for (uint step = 0; step < params.steps && state.diverged == 0; ++step) {
        PopulationRecord record = records[params.firstRecord + step];
        float batchLoss = learnFrom(step, record, place, network.data * params.examples);
        if (isNotFinite(batchLoss)) {
            state.diverged = 1;
        } else {
            update(updateOf(network, record), place);
            state.batchLoss = batchLoss;
            ++state.steps;
        }
    }
    store(place, state);
}
