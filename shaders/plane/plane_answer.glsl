// The colour of a network's answer in a point of the plane:
//   one output       its sign and size: a probability p as 2 p - 1, other values as they are, clamped to [-1, 1]
//   several outputs  the classes' colours, mixed by softmax (cross-entropy), by sigmoid (binary cross-entropy) or by the
//                    outputs themselves, clamped to [0, 1]; discretised: the colour of the largest (the first among equals)
// Values that are not finite have the background's colour. The including shader declares the constants `loss` and
// `outputActivation`, colours[], and what output j of the answer at `at` is: float answerValue(at, j).
#include "plane_colour.glsl"

vec4 singleColour(float value, bool discretise) {
    if (isNotFinite(value)) return colourAt(colourBackground); // a sigmoid would make a class of it
    if (loss == lossBinaryCrossEntropy) value = 2.0 * sigmoid(value) - 1.0;
    else if (outputActivation == activation_sigmoid) value = 2.0 * value - 1.0;
    return signedColour(value, discretise);
}

vec4 classColour(uint number) { return colourAt(colourClasses + number % colourClassCount); }

float weightOf(float value, float largest) {
    if (loss == lossCrossEntropy) return exponential(value - largest);
    if (loss == lossBinaryCrossEntropy) return sigmoid(value);
    return clamp(value, 0.0, 1.0);
}

vec4 mixedColour(uint at, uint count, bool discretise) {
    uint best = 0;
    float largest = answerValue(at, 0);
    bool finite = true;
    for (uint j = 0; j < count; ++j) {
        float value = answerValue(at, j);
        finite = finite && !isNotFinite(value);
        if (value > largest) {
            best = j;
            largest = value;
        }
    }
    if (!finite) return colourAt(colourBackground);
    if (discretise) return classColour(best);
    vec4 sum = vec4(0.0);
    float weights = 0.0;
    for (uint j = 0; j < count; ++j) {
        float weight = weightOf(answerValue(at, j), largest);
        sum += weight * classColour(j);
        weights += weight;
    }
    return weights > 0.0 ? sum / weights : colourAt(colourBackground);
}

vec4 answerColour(uint at, uint count, bool discretise) {
    return count == 1 ? singleColour(answerValue(at, 0), discretise) : mixedColour(at, count, discretise);
}
