// One optimizer step on four parameters, or on one where the including shader has defined PARAMETERS as float, with
// g = gradient + l2 w + l1 sign(w), as torch.optim (engine/net/plain_ops.h has the formulas). The including shader has included
// params.h.
#ifndef LOCKSTEP_UPDATE_GLSL
#define LOCKSTEP_UPDATE_GLSL

#ifndef PARAMETERS
#define PARAMETERS vec4
#endif

layout(constant_id = 7) const uint optimizer = 0;

// What the optimizer keeps of every parameter: `first` is momentum (or RMSprop's mean square), `second` Adam's second moment.
bool keepsFirst() { return optimizer != optimizerSgd; }
bool keepsSecond() { return optimizer == optimizerAdam || optimizer == optimizerAdamw; }

// The parameters after the step; `first` and `second` go in as they were and come out as they are then.
PARAMETERS updated(UpdateParams how, PARAMETERS w, PARAMETERS gradient, inout PARAMETERS first, inout PARAMETERS second) {
    PARAMETERS g = gradient + how.l2 * w + how.l1 * sign(w);
    if (optimizer == optimizerSgd) {
        w -= how.learningRate * g;
    } else if (optimizer == optimizerMomentum) {
        first = how.momentum * first + g;
        w -= how.learningRate * (how.nesterov != 0 ? g + how.momentum * first : first);
    } else if (optimizer == optimizerRmsprop) {
        first = how.secondDecay * first + (1.0 - how.secondDecay) * g * g;
        w -= how.learningRate * g / (sqrt(first) + how.epsilon);
    } else {
        w *= how.weightKeep;
        first = how.momentum * first + (1.0 - how.momentum) * g;
        second = how.secondDecay * second + (1.0 - how.secondDecay) * g * g;
        w -= how.learningRate * first / (sqrt(second) * how.secondScale + how.epsilon);
    }
    return w;
}

#endif
