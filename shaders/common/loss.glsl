// The loss of one row, as engine/net/plain_ops.h defines it. The including shader declares params and gives access
// to outputs and targets: float outputValue(at), uint targetWord(at).
#include "loss_terms.glsl"

// The target of output j of a row.
float targetValue(uint row, uint j) {
    if (params.targetKind == targetValues) return uintBitsToFloat(targetWord(row * params.targetWidth + j));
    uint label = targetWord(row);
    if (params.targetKind == targetSign) return label == 0 ? -1.0 : 1.0;
    if (params.targetKind == targetBit) return float(label);
    return label == j ? 1.0 : 0.0;
}

// Softmax of outputs [at, at + params.outputs) is exp(z_j - largest) / sum.
struct Softmax {
    float largest;
    float sum;
};

float largestOutput(uint at) {
    float largest = outputValue(at);
    for (uint j = 1; j < params.outputs; ++j) largest = max(largest, outputValue(at + j));
    return largest;
}

precise float powerOf(float value, float largest) { return exponential(value - largest); }

// exp(z - largest) of the output at `at`: an including shader may have computed it before, and then defines this.
#ifndef outputPower
precise float outputPower(uint at, float largest) { return powerOf(outputValue(at), largest); }
#endif

precise Softmax softmaxOf(uint at) {
    Softmax s = Softmax(largestOutput(at), 0.0);
    for (uint j = 0; j < params.outputs; ++j) s.sum += outputPower(at + j, s.largest);
    return s;
}

// softmaxOf(at) where the loss needs it.
Softmax softmaxIfNeeded(uint at) {
    if (loss == lossCrossEntropy) return softmaxOf(at);
    return Softmax(0.0, 1.0);
}

// dz of output j of a row whose outputs start at `at`: the loss's gradient times `derivative`, f'(z) of the output activation
// (cross-entropy has none). `s` is softmaxIfNeeded(at).
precise float outputGradient(uint at, uint row, uint j, Softmax s, float derivative) {
    return loss == lossCrossEntropy
               ? outputPower(at + j, s.largest) / s.sum - (targetWord(row) == j ? 1.0 : 0.0)
               : lossTermGradient(outputValue(at + j), targetValue(row, j)) * derivative;
}

// Sum of the row's terms; its outputs start at `at`, and `s` is softmaxIfNeeded(at).
precise float rowLoss(uint at, uint row, Softmax s) {
    if (loss == lossCrossEntropy) return logarithm(s.sum) - (outputValue(at + targetWord(row)) - s.largest);
    float total = 0.0;
    for (uint j = 0; j < params.outputs; ++j) total += lossTerm(outputValue(at + j), targetValue(row, j));
    return total;
}
