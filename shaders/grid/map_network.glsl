// A network per invocation, trained by gradient descent on all examples:
//   z[h] = sum_i first[h][i] x[i],   f = activation(z),   error = sum_h second[h] f[h] / hidden - target
//   dSecond[h] = sum_examples error f[h],   dFirst[h][i] = sum_examples error second[h] f'(z[h]) x[i]
//   second -= secondStep dSecond,   first -= firstStep dFirst,   loss = sum_examples error^2
// over steps [begin, end); the state of each network waits in memory for the next dispatch. The learning rates' factors are in
// firstStep and secondStep. Every sum is one of fused multiply-adds in the order of the plain loops.
//   examples [examples][exampleVec4s]: inputs, then the target; behind them the weights that all networks start from,
//            [hidden][inputs] and [hidden]
//   state    [value][capacity]: first, second, what is noted of the losses; contiguous from network to network
// x: networks.
//
// The including shader provides, for this invocation's network: loadWeights() and saveWeights() around the steps of a dispatch;
// loss(); and learn(start), called after loss() for the same weights.
#include "activation.glsl"
#include "params.h"
#include "map.h"

layout(local_size_x_id = 0) in;
layout(constant_id = 1) const uint inputs = 8;
layout(constant_id = 2) const uint hidden = 8;
layout(constant_id = 3) const uint activation = 5; // identity, relu or tanh

const uint exampleVec4s = inputs / 4 + 1;
const uint weights = hidden * inputs + hidden;
const uint notes = 4;

layout(set = 0, binding = 0) uniform textureBuffer examples;
layout(set = 0, binding = 1) readonly buffer Starts { MapStart starts[]; };
layout(set = 0, binding = 2) buffer State { float state[]; };
layout(set = 0, binding = 3) writeonly buffer Ends { MapEnd ends[]; };
layout(push_constant) uniform Params { MapParams params; };

uint network() { return gl_GlobalInvocationID.x; }
uint at(uint value) { return value * params.capacity + network(); }

float x[exampleVec4s * 4]; // of the example at hand: inputs and target

void readExample(uint example) {
    [[unroll]] for (uint k = 0; k < exampleVec4s; ++k) {
        vec4 four = texelFetch(examples, int(example * exampleVec4s + k));
        [[unroll]] for (uint j = 0; j < 4; ++j) x[4 * k + j] = four[j];
    }
}

float activated(float z) {
    if (activation == activation_tanh) return fastTanh(z);
    return activation == activation_relu && z < 0.0 ? 0.0 : z;
}

// d f'(z), from f(z).
float derived(float d, float value) {
    if (activation == activation_tanh) return d * fma(-value, value, 1.0);
    return activation == activation_relu && !(value > 0.0) ? 0.0 : d;
}

float errorOf(float answer) { return fma(answer, 1.0 / float(hidden), -x[inputs]); }

void loadWeights();
void saveWeights();
float loss();
void learn(MapStart start);

// What is noted of the losses.
float firstLoss; // below 0: the network has diverged
float before;
float sum;
float last;

void loadNotes() {
    firstLoss = state[at(weights)];
    before = state[at(weights + 1)];
    sum = state[at(weights + 2)];
    last = state[at(weights + 3)];
}

void saveNotes() {
    state[at(weights)] = firstLoss;
    state[at(weights + 1)] = before;
    state[at(weights + 2)] = sum;
    state[at(weights + 3)] = last;
}

void begin(float scale) {
    [[dont_unroll]] for (uint k = 0; k < weights; ++k)
        state[at(k)] = texelFetch(examples, int(params.examples * exampleVec4s + k / 4))[k % 4] * scale;
    firstLoss = 0.0;
    before = 0.0;
    sum = 0.0;
    last = 0.0;
}

// Whether a loss is below what counts as divergence; a NaN is not.
bool within(float now, uint step) {
    return now <= (step == 0 ? mapLargestLoss : min(firstLoss * mapDivergence, mapLargestLoss));
}

void note(float now, uint step) {
    if (step == 0) firstLoss = now;
    sum += now;
    if (step >= params.steps - params.tail) last += now;
    before = now;
}

void train(MapStart start) {
    loadWeights();
    [[dont_unroll]] for (uint step = params.begin; step < params.end; ++step) {
        float now = loss();
        if (!within(now, step)) {
            ends[network()] = MapEnd(step, firstLoss, before, now);
            firstLoss = -1.0;
            break;
        }
        note(now, step);
        learn(start);
    }
    saveWeights();
}

void main() {
    if (network() >= params.networks) return;
    MapStart start = starts[network()];
    if (params.begin == 0) begin(start.scale);
    else loadNotes();
    if (firstLoss < 0.0) return;
    train(start);
    saveNotes();
    if (params.end == params.steps && firstLoss >= 0.0)
        ends[network()] = MapEnd(params.steps, firstLoss, sum, last);
}
