// The push constants of every kernel, and the numbers that stand for choices. C++ and GLSL share this file, so a field
// added here is added on both sides. At most 128 bytes per struct (the size that every Vulkan device supports).
#ifndef LOCKSTEP_PARAMS_H
#define LOCKSTEP_PARAMS_H
#include "activations.h"
#include "optimizers.h"
#include "order.h"
#include "shared.h"

SHARED_BEGIN

SHARED_CONST uint lossCrossEntropy = 0u;
SHARED_CONST uint lossMeanSquared = 1u;
SHARED_CONST uint lossHuber = 2u;
SHARED_CONST uint lossBinaryCrossEntropy = 3u;

// How an example's label becomes the value that the loss compares with (engine/net/dataset.cpp).
SHARED_CONST uint targetClassIndex = 0u; // cross-entropy: the class number itself
SHARED_CONST uint targetSign = 1u;       // one output, two classes: class 0 -> -1, class 1 -> +1
SHARED_CONST uint targetBit = 2u;        // one output, two classes: 0 or 1
SHARED_CONST uint targetOneHot = 3u;     // an output per class: 1 for the example's class, else 0
SHARED_CONST uint targetValues = 4u;     // regression: the stored values

// The features of a point in the plane (engine/net/plane_features.h).
SHARED_CONST uint planeX = 0u;
SHARED_CONST uint planeY = 1u;
SHARED_CONST uint planeXX = 2u;
SHARED_CONST uint planeYY = 3u;
SHARED_CONST uint planeXY = 4u;
SHARED_CONST uint planeSinX = 5u;
SHARED_CONST uint planeSinY = 6u;

// Where the colours of a plane map lie in its array of words 0xAABBGGRR.
SHARED_CONST uint colourNegative = 0u;
SHARED_CONST uint colourZero = 1u;
SHARED_CONST uint colourPositive = 2u;
SHARED_CONST uint colourBackground = 3u;
SHARED_CONST uint colourClasses = 4u;  // of the first class; the others follow
SHARED_CONST uint colourClassCount = 16u;

// No step has failed yet (failedStep in loss_ring.glsl).
SHARED_CONST uint noStep = 0xFFFFFFFFu;

// inputs[row] = the example at position `first + row` of the order (or of the file, when `shuffle` is 0).
struct GatherBatchParams {
    uint rows;        // rows of the batch to fill
    uint first;       // position of its first row in the epoch
    uint count;       // examples in the split
    uint shuffle;     // 1: orderIndex(position), 0: file order
    uint stride;      // floats from one row of the batch to the next (a multiple of 4)
    uint sourceStride; // bytes as pixels: 32-bit words from one example to the next; floats: floats
    uint targetWidth; // values of one target (1 for a class number)
    OrderKeys keys;
};

// A product of a dense layer: `rows` examples, `inputs` -> `outputs`; strides in floats, multiples of 4.
struct DenseParams {
    uint rows;
    uint inputs;
    uint outputs;
    uint inputStride;  // of the layer's inputs and of a row of weights
    uint outputStride; // of the layer's outputs
    uint first;        // rung `one`: outputs [first, first + count) of the product, counted row by row
    uint count;
};

// The batch, and the first layer's product with it (gathered_dense.comp).
struct GatheredDenseParams {
    GatherBatchParams batch;
    DenseParams dense;
};
SHARED_CONST uint gatheredPixels = 20u; // specialisation constant: whether the source holds pixels

// Numbers of the specialisation constants of a dense product's kernels (dense_constants.glsl says what each means).
SHARED_CONST uint denseGroupSize = 0u;
SHARED_CONST uint denseGroupN = 1u;
SHARED_CONST uint denseTileM = 2u;
SHARED_CONST uint denseTileN = 3u;
SHARED_CONST uint denseActivation = 4u;
SHARED_CONST uint denseSlabK = 5u;
SHARED_CONST uint denseSharers = 6u;
SHARED_CONST uint updateOptimizer = 7u; // update.glsl, in every kernel that includes it
SHARED_CONST uint denseSlices = 8u;
SHARED_CONST uint denseMatrixM = 10u; // product_matrix.glsl
SHARED_CONST uint denseMatrixN = 11u;
SHARED_CONST uint denseMatrixK = 12u;
SHARED_CONST uint denseAdds = 13u;
SHARED_CONST uint densePadding = 2u;       // floats behind each row of a slab in shared memory
SHARED_CONST uint denseBanks = 32u;        // of shared memory: product_pipelined.glsl pads its slabs by them
SHARED_CONST uint denseMatrixPadding = 8u; // halves: rows still begin at multiples of 16 bytes

// What the kernels of shaders/roof read.
struct RoofParams {
    uint rounds;   // of the loop
    float factor;
    float summand; // matrices: what the second one is filled with
};
SHARED_CONST uint roofOperations = 128u;   // floating-point operations of an invocation in a round
SHARED_CONST uint roofMatrixProducts = 8u; // products of tiles of a subgroup in a round

SHARED_CONST uint lastLayerRows = 8u; // of a workgroup of last_layer.comp
struct LossParams {
    uint rows;
    uint outputs;
    uint stride;           // of outputs and gradients
    uint targetWidth;
    uint step;             // number of the step, kept as failedStep when its loss is not finite
    uint slot;             // where in the ring of losses the result goes
    uint targetKind;       // target... above
    uint groups;           // workgroups of the dispatch; a single one writes the result itself
    float scale;           // 1 / (terms in the mean): 1 / rows, or 1 / (rows * outputs)
};

// One optimizer step over the whole parameter arena. optimizers.h has the formulas, engine/net/settings.cpp
// computes these numbers.
struct UpdateParams {
    uint count;            // parameters, padding included (a multiple of 4)
    uint stride;           // vec4s from one turn of an invocation to its next: the invocations of the dispatch
    float learningRate;    // divided by 1 - beta1^t where the optimizer correctsBias
    float momentum;        // momentum, or beta1
    float secondDecay;     // alpha, or beta2
    float epsilon;
    float secondScale;     // 1 / sqrt(1 - beta2^t) where it correctsBias; else 1
    float weightKeep;      // 1 - rate * weight decay where it decouplesDecay; else 1
    float l1;
    float l2;
    uint nesterov;
};

// The weights' gradients of all layers, and the optimizer's step with them (weight_gradients.comp).
struct WeightGradientsParams {
    uint rows;
    uint layers;
    UpdateParams update;
};
// Where a layer lies in the arenas, counted in floats.
struct WeightGradientsLayer {
    uint inputs;
    uint outputs;
    uint inputStride;
    uint outputStride;
    uint firstInput;     // A[l]
    uint firstDSum;      // dZ[l]
    uint firstParameter; // W[l]; b[l] begins at the next multiple of 64 after it
    uint firstGroup;     // its first workgroup
    uint groupsN;        // its workgroups along n
};

// A product whose kernel also does the optimizer's step; `count` and `stride` are not used.
struct DenseUpdateParams {
    DenseParams dense;
    UpdateParams update;
};

// Half precision: the optimizer's step also writes the weights as halves.
struct UpdateHalfParams {
    UpdateParams update;
    uint layers;
};

// The scale of the loss (loss_scale.glsl): its first and largest value, its smallest, and the good steps until a halved
// scale is doubled again.
SHARED_CONST float lossScaleMost = 32768.0f;
SHARED_CONST float lossScaleLeast = 5.9604645e-8f; // 2^-24
SHARED_CONST uint lossScaleGrowth = 2000u;

// An operand of products, to be rounded to a format (round_operand.comp, largest_operand.comp).
struct RoundParams {
    uint count;       // numbers in fours, padding included
    uint invocations; // of the dispatch: each takes every so many fours
    uint columns;     // numbers of a row that count
    uint stride;      // floats from one row to the next
    uint slot;        // of the tensor's largest number
    int mostScale;    // as scaleFor() takes it
};

// Parameters, to be rounded to the format in which they are stored (round_parameters.comp).
struct RoundParametersParams {
    uint count;       // parameters in fours, padding included
    uint invocations; // of the dispatch: each takes every so many fours
    uint first;       // of these fours in the arena
    uint stepLow;     // of 64 bits, as roundingWords() takes them
    uint stepHigh;
    uint seedLow;
    uint seedHigh;
};

struct LossScaleParams {
    uint layers;
};

// The most layers of a network that whole_step computes.
SHARED_CONST uint wholeStepLayers = 8u;

// Several steps of a network that fits into a workgroup's shared memory.
struct WholeStepParams {
    uint steps;            // to be done, records [firstRecord, firstRecord + steps)
    uint firstRecord;
    uint count;            // examples of the data set
    uint shuffle;          // as in GatherBatchParams
    uint sourceStride;
    uint pixels;           // 1: examples are bytes
    uint targetKind;
    uint targetWidth;
    uint outputs;          // width of the last layer, as loss.glsl calls it
};

// What changes from step to step, written by the host.
struct StepRecord {
    uint step;
    uint slot;             // in the ring of losses
    uint first;            // position of the batch's first row in the epoch
    uint rows;
    float scale;           // as in LossParams
    OrderKeys keys;
    UpdateParams update;   // `count` and `stride` are not used
};

// Adds up the losses of the workgroups of loss_and_gradient, if there is more than one.
struct LossSumParams {
    uint groups;
    uint step;
    uint slot;
    float scale;
};

// Loss, correct predictions and confusion matrix of `rows` evaluated examples.
struct ScoreParams {
    uint rows;
    uint outputs;
    uint stride;
    uint targetWidth;
    uint classes;          // 0: regression, no predictions to count
    uint targetKind;
    uint slot;             // where the first workgroup's sum of losses goes; the others' follow
};

// inputs[row] = the features of cell `first + row` of a square grid over the plane, from its upper left corner on.
struct PlaneInputsParams {
    uint rows;
    uint first;
    uint size;             // cells along one side of the grid
    uint stride;           // of inputs
    uint features;
    uint kinds;            // four bits per feature, plane... above; the first one in the lowest
    float left;            // the grid's corner, and the side of a cell
    float top;
    float cell;
};

struct PlanePictureParams {
    uint size;             // pixels along one side of the picture
    uint cells;            // cells along one side of the grid, at most `size`
    uint outputs;
    uint stride;           // of outputs
    uint discretise;       // 1: the colour of the predicted class only, without its strength
};

// Tiles of one layer's neurons in a picture.
struct NeuronPictureParams {
    uint neurons;          // of the layer; tiles beyond them are painted in the background's colour
    uint stride;           // of activations
    uint cells;            // cells along one side of the grid
    uint tile;             // pixels along one side of a tile
    uint columns;          // tiles beside each other
    uint top;              // pixel row of the first tile
    uint discretise;
};

SHARED_END

#endif
