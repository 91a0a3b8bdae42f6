// One example in the registers of an invocation: its values, and what it adds to the gradients. The including shader declares
// w[], the network's parameters.
float gradients[parameterCount];
float wanted[outputs];

#define VALUE float
float parameter(uint at) { return w[at]; }
float activated(uint activation, float z) { return activateFast(activation, z); }
#include "population_forward.glsl"

float outputOf(uint j) { return values[answersAt + j]; }
float wantedOf(uint j) { return wanted[j]; }
#include "population_loss.glsl"

void gather(uint example) {
    [[unroll]] for (uint quad = 0; quad < exampleQuads; ++quad) {
        vec4 four = examples[example * exampleQuads + quad];
        [[unroll]] for (uint k = 0; k < 4; ++k) {
            uint at = 4 * quad + k;
            if (at < inputs) values[at] = four[k];
            else if (at < inputs + outputs) wanted[at - inputs] = four[k];
        }
    }
}

float dSums[valueCount]; // dZ; of the inputs: never asked for

float savedOf(uint layer, uint at) { return derivativeNeedsSum(activationOf(layer)) ? sums[at] : values[at]; }

// dZ of the outputs, times `scale`; returns the example's loss.
float lossAndGradient(float scale) {
    Softmax s = softmaxOfOutputs();
    [[unroll]] for (uint j = 0; j < outputs; ++j)
        dSums[answersAt + j] = outputGradient(j, s) *
                               activationDerivative(outputActivation, savedOf(layers - 1, answersAt + j)) * scale;
    return exampleLoss(s);
}

void addGradient(uint at, float dSum, float value) { gradients[at] = fma(dSum, value, gradients[at]); }

// A layer's gradients of weights and biases, and, but for the first layer, dZ of the layer below.
void denseBackward(uint layer, uint ins, uint outs, uint weights, uint from) {
    [[unroll]] for (uint o = 0; o < outs; ++o) {
        float dSum = dSums[from + ins + o];
        [[unroll]] for (uint i = 0; i < ins; ++i) addGradient(weights + o * ins + i, dSum, values[from + i]);
        addGradient(weights + ins * outs + o, dSum, 1.0);
    }
    if (layer == 0) return;
    [[unroll]] for (uint i = 0; i < ins; ++i) {
        float sum = 0.0;
        [[unroll]] for (uint o = 0; o < outs; ++o)
            sum = fma(dSums[from + ins + o], parameter(weights + o * ins + i), sum);
        dSums[from + i] = sum * activationDerivative(activationOf(layer - 1), savedOf(layer - 1, from + i));
    }
}

void backward() {
    if (layers > 4) denseBackward(4, width4, width5, weights4, values4);
    if (layers > 3) denseBackward(3, width3, width4, weights3, values3);
    if (layers > 2) denseBackward(2, width2, width3, weights2, values2);
    if (layers > 1) denseBackward(1, width1, width2, weights1, width0);
    denseBackward(0, width0, width1, 0, 0);
}

// Adds an example's part to the gradients; returns its loss.
float learnFromExample(uint example, float scale) {
    gather(example);
    forward();
    float terms = lossAndGradient(scale);
    backward();
    return terms;
}
