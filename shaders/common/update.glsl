// One optimizer step on four parameters, or on one where the including shader has defined PARAMETERS as float. The formulas are
// in shaders/shared/optimizers.h, a row for each.
#ifndef LOCKSTEP_UPDATE_GLSL
#define LOCKSTEP_UPDATE_GLSL
#include "math.glsl"
#include "params.h"

#ifndef PARAMETERS
#define PARAMETERS vec4
#endif

layout(constant_id = updateOptimizer) const uint optimizer = 0;

// Numbers that the optimizer keeps of every parameter.
#define ROW(number_, id, name, rate, states, state1, state2, traits, operations, formula, step) + (optimizer == number_ ? states : 0)
const int stateArrays = 0 LOCKSTEP_OPTIMIZERS(ROW);
#undef ROW
bool keepsFirst() { return stateArrays >= 1; }
bool keepsSecond() { return stateArrays == 2; }

// The parameters after the step. m and v are what the optimizer keeps, the first and second state. `precise` holds for all that
// goes into the result (math.glsl): a kernel that folds the step into a product computes the same bits as update.comp.
precise PARAMETERS updated(UpdateParams how, PARAMETERS w, PARAMETERS gradient, inout PARAMETERS m, inout PARAMETERS v) {
    PARAMETERS g = gradient + how.l2 * w + how.l1 * sign(w);
    float rate = how.learningRate;
    float momentum = how.momentum;
    float decay = how.secondDecay;
    float epsilon = how.epsilon;
    float secondScale = how.secondScale;
    float keep = how.weightKeep;
    bool nesterov = how.nesterov != 0;
#define ROW(number_, id, name, rate_, states, state1, state2, traits, operations, formula, step) if (optimizer == number_) { step; }
    LOCKSTEP_OPTIMIZERS(ROW)
#undef ROW
    return w;
}

#endif
