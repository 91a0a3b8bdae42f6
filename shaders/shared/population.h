// Push constants and records of the kernels that train, score and draw a population
// (engine/grid/population.h). Included by C++ and GLSL.
//
// A network's place is its number after sorting by hidden activation, because a dispatch has one activation. Numbers
// that every network has lie as [number][place], so that neighbouring invocations read neighbouring words. A network's
// parameters are W[0] [outputs][inputs], b[0], W[1], b[1], ... without padding.
#ifndef LOCKSTEP_POPULATION_H
#define LOCKSTEP_POPULATION_H
#include "shared.h"

SHARED_BEGIN

SHARED_CONST uint populationLayers = 5u; // dense layers at most: four hidden ones and the output layer

// How a step finds its examples: in the order of the data set; by a table for each network, which
// population_order.comp writes for the dispatch; or, if all share a seed, by one table from the host.
SHARED_CONST uint orderOfFile = 0u;
SHARED_CONST uint orderOfSeed = 1u;
SHARED_CONST uint orderOfTable = 2u;

// A network's hyperparameters, [place].
struct PopulationNetwork {
    float learningRate;
    float momentum;    // as in UpdateParams
    float l2;          // as in UpdateParams
    float weightDecay; // where the optimizer decouplesDecay; else 0
    uint seedLow;
    uint seedHigh;
    uint data;   // which data set
    uint member; // its number in the job
};

// The state of a network's training, [place].
struct PopulationState {
    uint steps;      // done
    uint diverged;   // 1: the loss of step `steps` was not finite
    float batchLoss; // of the last step done
};

// What changes from step to step, written by the host.
struct PopulationRecord {
    uint first; // position of the batch's first row in the epoch
    uint rows;
    uint epoch;
    float scale;       // 1 / (terms in the mean of the loss)
    float rateFactor;  // on a network's learning rate: the schedule's, and 1 / (1 - beta1^t) where the optimizer correctsBias
    float schedule;    // the schedule's alone
    float secondScale; // as in UpdateParams
};

// Steps of networks [first, first + networks).
struct PopulationTrainParams {
    uint places; // of all networks: the distance between two numbers of one
    uint first;
    uint networks;
    uint steps; // to be done, records [firstRecord, firstRecord + steps)
    uint firstRecord;
    uint batch;      // rows of a record in the table of the order
    uint examples;   // of a data set
    uint orderFirst; // orderOfSeed: the place of the table's first network, and how many it has
    uint orderNetworks;
    float secondDecay; // as in UpdateParams, like the rest
    float epsilon;
    float l1;
    uint nesterov;
};

// Rows of a batch that one invocation of population_order.comp takes.
SHARED_CONST uint populationOrderRows = 64u;

// Losses and correct predictions of networks [first, first + networks), in parts of `rows` examples, from `firstPart` on:
// part p goes to parts[p][place]. Then adds up the parts of all networks.
struct PopulationScoreParams {
    uint places;
    uint first;
    uint networks;
    uint examples;
    uint rows;
    uint classes; // 0: regression, no predictions to count
    uint firstPart;
    uint parts;
    float terms; // in the mean of the loss
};

// The results of a network, [member].
struct PopulationResult {
    uint steps;
    uint diverged;
    float batchLoss;
    float loss;
    float accuracy;
    float weightNorm;
};

// Tiles of networks [first, first + networks) in a picture.
struct PopulationPictureParams {
    uint places;
    uint first;
    uint networks;
    uint columns; // tiles beside each other
    uint cells;   // pixels along one side of a tile
    uint kinds;   // as in PlaneInputsParams
    float left;   // the corner of the plane, and the side of a cell
    float top;
    float cell;
    uint discretise;
};

SHARED_END

#endif
