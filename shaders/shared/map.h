// Thousands of networks of one shape, each with its own hyperparameters: what goes into their training and
// what comes out of it, alike on processors and GPUs. Formulas: map_network.glsl.
#ifndef LOCKSTEP_MAP_H
#define LOCKSTEP_MAP_H
#include "shared.h"

SHARED_BEGIN

// A loss beyond the first one times this has diverged.
SHARED_CONST float mapDivergence = 1e6f;
SHARED_CONST float mapLargestLoss = 3.40282347e38f; // of all floats

// What a network has to itself.
struct MapStart {
    float firstStep;  // learning rate of the first layer times 2 / (examples * hidden) ...
    float secondStep; // ... and of the second
    float scale;      // of its initial weights
};

// How its training ended. Losses are sums of squared errors over the examples.
struct MapEnd {
    uint step;    // at which it diverged; the number of steps where it did not
    float first;  // loss before any step
    float before; // diverged: the loss before that of `step`; else the sum of the losses of all steps
    float last;   // diverged: the loss of `step`; else the sum over the last steps
};

struct MapParams {
    uint networks; // that are trained by this dispatch
    uint capacity; // floats from one value of a network's state to the next
    uint examples;
    uint begin; // steps [begin, end) of `steps`
    uint end;
    uint steps;
    uint tail; // the last steps, over which the end's loss is taken
};

SHARED_END

#endif
