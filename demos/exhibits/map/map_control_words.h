// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords mapControls[] = {
    {"Map", "Trains one tiny network per pixel; the colour shows which hyperparameters work."},
    {"Where I was", "Returns to the region of the map that you visited before."},
    {"Where I went", "Goes forward again through the regions you visited."},
    {"*##map loss", "Shows or hides this line."},
    {"map loss", "The loss of the network at the marked pixel, step by step."},
    {"##map/preset*", "Places on the map worth visiting, with their settings."},
    {"##map/network*", "Widths of the network that every pixel trains: inputs, hidden neurons, outputs."},
    {"##map/axes*", "The two hyperparameters along the axes of the map."},
    {"##map/examples", "Random examples that every network trains on, all in one batch."},
    {"##map/picture*", "Size of the picture, in pixels; each pixel is a network. \"To fit\" fills the pane."},
    {"CPU##map", "Paints the same map on the CPU too."},
    {"Back##map", "Returns to the region before this one (Alt+Left)."},
    {"Forward##map", "Goes forward again through the regions you visited (Alt+Right)."},
    {"+##map", "Zooms in by a factor of 2."},
    {"−##map", "Zooms out by a factor of 2."},
    {"←##map", "Moves the view left by a quarter."},
    {"→##map", "Moves the view right by a quarter."},
    {"↑##map", "Moves the view up by a quarter."},
    {"↓##map", "Moves the view down by a quarter."},
    {"Whole##map", "Shows the whole map again."},
    {"Bookmarks##map", "Regions that you saved, and a field to save this one."},
    {"×##map/remove *", "Deletes this bookmark."},
    {"*##map/bookmark", "A saved region; Add saves the one on the screen."},
    {"##map/bookmark name", "Name of a new bookmark."},
    {"Save PNG##map", "Saves the map as a picture of any size."},
    {"Pixels##map/saved size", "Width and height of the saved picture, in pixels."},
    {"File##map/saved file", "Name of the PNG file."},
    {"Save##map", "Trains the picture's pixels and writes the file."},
    {"Cancel##map", "Stops saving; no file is written."},
    {"map/*", "One network per pixel. The wheel zooms, a drag pans, a double click zooms in by 2."},
};

} // namespace lockstep::demos
