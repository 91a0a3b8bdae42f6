// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords playgroundControls[] = {
    {"Playground", "Trains a small network on points in the plane and shows what every neuron computes."},
    {"Save weights with the state",
     "Stores all weights in state files too, so that training continues from them."},
    {"*##playground losses", "Shows or hides this line."},
    {"playground losses",
     "Loss on training points and on test points, step by step. A growing gap is overfitting."},
    {"##lower*", "What is shown below: losses by step, or histograms of the weights."},
    {"Undo##edit", "Takes back the last change that you made by hand."},
    {"Undo 100 steps##*", "Puts the weights back to where they were 100 steps ago."},
    {"A tenth of the learning rate##*",
     "Divides the learning rate by 10, so that training no longer diverges."},
    {"##answer*", "The prediction as a map, as a surface, or the data as one layer sees it."},
    {"Discrete", "Shows the predicted class alone, without its probability."},
    {"More##playground",
     "Opens all other settings: points, batch, optimizer, initial weights, seed and rung."},
    {"Train", "Shows the points that the network trains on (filled)."},
    {"Test", "Shows the points that only measure it (hollow)."},
    {"##fold layer*", "The layer whose outputs place the points."},
    {"*##axis *", "The neuron whose output is this axis. Click for the next one."},
    {"##map", "The prediction at every place of the plane. Point at a place to see its value."},
    {"##surface", "Drag to turn, scroll to zoom. Height is the output."},
    {"data/*", "A set of points in the plane. The weights stay, and training goes on with the new points."},
    {"Draw*##draw", "Lets you draw points on the map; digits choose the class."},
    {"class/*", "The class of the points that you draw next. Its digit on the keyboard chooses it too."},
    {"Clear##own", "Removes all points that you drew."},
    {"Edit##own", "Copies these points, so that you can add and remove some."},
    {"New points##*", "Generates other points of the same kind."},
    {"-##layers", "Removes the last hidden layer."},
    {"+##layers", "Adds a hidden layer."},
    {"-##neurons *", "Removes neurons from this layer. The weights are drawn anew."},
    {"+##neurons *", "Adds neurons to this layer. The weights are drawn anew."},
    {"*##width *", "The layer's number of neurons. Click to set it with a slider."},
    {"##neurons *", "The layer's number of neurons."},
    {"feature/*", "An input that is computed from the point. Click to add or remove it."},
    {"neuron/*", "The neuron's output over the plane. Click to change its bias and weights."},
    {"layer/*", "All neurons of a wide layer, one cell each."},
    {"weight/*", "A weight: the colour shows its sign, the thickness its size. Click to change it."},
    {"Weights/*", "Histogram of this layer's weights."},
    {"Gradients*", "Histogram of the gradient of this layer's weights."},
    {"Previous##parameter", "The parameter before this one: a weight or the bias of the neuron."},
    {"Next##parameter", "The parameter after this one: a weight or the bias of the neuron."},
    {"##parameter", "The value of this weight or bias. Training continues from it."},
    {"Zero##parameter", "Sets the parameter to 0."},
    {"Other sign##parameter", "Multiplies the parameter by -1."},
};

} // namespace lockstep::demos
