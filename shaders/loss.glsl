// The loss of one row, as engine/net/plain_ops.h defines it. The including shader declares outputs[], targets[] and params.
#include "math.glsl"

layout(constant_id = 1) const uint loss = 0;

// The value that output j of a row is compared with.
float targetValue(uint row, uint j) {
    if (params.targetKind == targetValues) return uintBitsToFloat(targets[row * params.targetWidth + j]);
    uint label = targets[row];
    if (params.targetKind == targetSign) return label == 0 ? -1.0 : 1.0;
    if (params.targetKind == targetBit) return float(label);
    return label == j ? 1.0 : 0.0;
}

// Softmax of outputs [at, at + params.outputs) is exp(z_j - largest) / sum.
struct Softmax {
    float largest;
    float sum;
};

Softmax softmaxOf(uint at) {
    Softmax s = Softmax(outputs[at], 0.0);
    for (uint j = 1; j < params.outputs; ++j) s.largest = max(s.largest, outputs[at + j]);
    for (uint j = 0; j < params.outputs; ++j) s.sum += exactExp(outputs[at + j] - s.largest);
    return s;
}

// One term of the loss for output y and target t; not for cross-entropy.
float lossTerm(float y, float t) {
    float d = y - t;
    if (loss == lossMeanSquared) return d * d;
    if (loss == lossHuber) return abs(d) < 1.0 ? 0.5 * d * d : abs(d) - 0.5;
    return max(y, 0.0) - y * t + exactLog1p(exactExp(-abs(y)));
}

// Sum of the row's terms; its outputs start at `at`.
float rowLoss(uint at, uint row) {
    if (loss == lossCrossEntropy) {
        Softmax s = softmaxOf(at);
        return exactLog(s.sum) - (outputs[at + targets[row]] - s.largest);
    }
    float total = 0.0;
    for (uint j = 0; j < params.outputs; ++j) total += lossTerm(outputs[at + j], targetValue(row, j));
    return total;
}
