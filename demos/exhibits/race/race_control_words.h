// What the controls of this exhibit are for.
#pragma once

#include "demos/words/control_words.h"

namespace lockstep::demos {

inline constexpr ControlWords raceControls[] = {
    {"Race",
     "Trains one network on several lanes and compares their speed. All compute the same mathematics."},
    {"*##race curves", "Shows or hides this line."},
    {"race curves",
     "Loss or accuracy of every lane. The wheel zooms, a drag pans, a double click shows everything."},
    {"##race curve by*",
     "The x axis: steps show that lanes compute the same; seconds show how fast they are."},
    {"##race curve of*",
     "The y axis: the loss on each training batch, or the share of test examples that are right."},
    {"##race answers of*", "The lane whose predictions are shown."},
    {"##race answers as*",
     "Single test images with their predictions, counts by label and prediction, or what the "
     "networks predict for a row or picture of yours."},
    {"##race own row",
     "A row with a value for each feature, in the order above. The networks predict its class or "
     "value as soon as you press Enter."},
    {"##race time scale*", "Compares how lanes divide their time, or how long a step takes on each."},
    {"##race view*",
     "What the race shows: curves, where the time goes, predictions, the result, or earlier races."},
    {"##*repeat",
     "Runs of the race, one after the other. The result shows each lane's median and the range of all runs."},
    {"##*threads", "CPU lanes that use all cores take at most so many threads."},
    {"##*workgroups",
     "At most so many workgroups of a GPU lane run at once. Every dispatch of a step is cut into pieces of "
     "that size; each piece waits for the one before. On llvmpipe, no more run at once than it has threads."},
    {"Why?", "Opens the lesson on why a GPU can be slower than a CPU."},
    {"History", "Shows earlier races in place of the lanes."},
    {"Front##run *", "Shows the curves of this race in front."},
    {"Behind##run *", "Draws the curves of this race faintly behind the others. Press again for none."},
    {"##note of run *", "Your note on this race, up to 200 characters."},
    {"Keep in the state", "Saves the settings, results and curves of these races in state files, and keeps "
                          "them for the next start."},
    {"Other images", "Shows other examples of the test split."},
    {"Evaluate now", "Measures this lane's accuracy on all test examples."},
    {"confusion matrix",
     "Counts of test examples by label (row) and prediction (column). The diagonal is right."},
    {"same mathematics", "The largest relative difference between the lanes' losses of equal steps."},
    {"time of lane *", "How this lane's time divides into parts."},
    {"lane *", "A contestant in the race: its machine, its progress and its rates."},
    {"Start with these settings", "Starts a new race with the settings above."},
    {"Start the race", "Trains every lane with these settings, from the same weights."},
    {"Replay", "Plays the race again from its recorded times; nothing is trained."},
    {"Stop replay", "Ends the replay and returns to the finished race."},
    {"legend/*", "A part of the time that a training step takes."},
    {"Save JSON", "Writes the results with all settings to a JSON file in the current folder."},
    {"Save CSV", "Writes one row of results per lane to a CSV file in the current folder."},
    {"Save PNG", "Saves a picture of the window in the current folder."},
};

} // namespace lockstep::demos
