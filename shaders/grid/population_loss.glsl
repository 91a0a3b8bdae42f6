// The loss of one example. The including shader has filled: float outputOf(j), float wantedOf(j).
#include "loss_terms.glsl"
#include "population_network.glsl"

// Softmax is exp(y_j - largest) / sum. Only cross-entropy computes it; other losses do not read it.
struct Softmax {
    float largest;
    float sum;
};

precise Softmax softmaxOfOutputs() {
    Softmax s = Softmax(0.0, 1.0);
    if (loss == lossCrossEntropy) {
        s = Softmax(outputOf(0), 0.0);
        [[unroll]] for (uint j = 1; j < outputs; ++j) s.largest = max(s.largest, outputOf(j));
        [[unroll]] for (uint j = 0; j < outputs; ++j) s.sum += exponential(outputOf(j) - s.largest);
    }
    return s;
}

// Sum of the example's terms.
precise float exampleLoss(Softmax s) {
    float total = 0.0;
    [[unroll]] for (uint j = 0; j < outputs; ++j) {
        if (loss != lossCrossEntropy) total += lossTerm(outputOf(j), wantedOf(j));
        else if (wantedOf(j) > 0.5) total = logarithm(s.sum) - (outputOf(j) - s.largest);
    }
    return total;
}

// With respect to output j, not yet scaled.
precise float outputGradient(uint j, Softmax s) {
    if (loss == lossCrossEntropy) return exponential(outputOf(j) - s.largest) / s.sum - wantedOf(j);
    return lossTermGradient(outputOf(j), wantedOf(j));
}
