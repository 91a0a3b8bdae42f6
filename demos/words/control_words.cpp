#include "demos/words/control_words.h"

#include <algorithm>

namespace lockstep::demos {

namespace {

// "##* NAME", "##*/NAME" and "##NAME" are the same field in different exhibits: their names end alike.
constexpr ControlWords commonControls[] = {

    // The top bar and the menus.
    {"menu/File", "Opens and saves states, lists the presets, saves pictures and recordings, and quits."},
    {"menu/Open recent", "The last ten files that you opened."},
    {"menu/Presets", "Prepared states, each with a task to try."},
    {"Open", "Opens a state, or a file of data or weights."},
    {"Save as", "Saves the state under a name. Save state then uses that name."},
    {"menu/Edit", "Undoes and redoes changes."},
    {"Undo", "Takes back the last change of settings, points, layers, weights or hidden controls (Ctrl+Z)."},
    {"Redo", "Repeats the change that you undid (Ctrl+Y)."},
    {"menu/Run", "The commands of the top bar, and what else this exhibit can do."},
    {"menu/Exhibits", "Switches to another exhibit."},
    {"menu/View", "Theme, size of the text, presenter mode, animations, and hidden controls."},
    {"menu/Help", "The keys, the glossary, and what this machine can do."},
    {"Save state",
     "Saves the state to the file of the last Save as, or to lockstep-state.json in the current folder."},
    {"Save picture", "Saves this window as a PNG file in the current folder."},
    {"Record",
     "Records this window as an animated picture, a WebP file in the current folder, for at most two minutes "
     "(Shift+F12)."},
    {"Stop recording", "Ends the recording and saves it in the current folder (Shift+F12)."},
    {"Quit", "Closes Lockstep. The next start continues with this state."},
    {"Speed", "Limits training to so many steps per second."},
    {"Device", "Lists the Vulkan devices with their limits; choose the one that draws and trains."},
    {"Dark", "Light text on a dark background."},
    {"Light", "Dark text on a light background, for bright rooms."},
    {"Presenter mode",
     "Larger text and thicker lines. The list of exhibits goes; the menu and the number keys have it."},
    {"Details",
     "Opens or closes the panel on the right: what this exhibit shows, and numbers of what the mouse "
     "points at (D)."},
    {"Animations", "The selection mark slides to its new place instead of jumping."},
    {"menu/Language", "The language of the window and of the lessons that are translated."},
    {"Language/*", "Shows the window, and lessons where they are translated, in this language."},
    {"Full screen", "Fills the screen, or returns to a window."},
    {"Larger", "Enlarges everything by 10 %."},
    {"Smaller", "Shrinks everything by about 10 %."},
    {"Normal size", "Returns to the size that suits this screen."},
    {"Hide controls by clicking", "Each click then hides a control or an exhibit, or brings it back. A state "
                                  "remembers which are hidden."},
    {"Show all controls", "Brings all hidden controls and exhibits back."},
    {"Keys", "Lists the keyboard shortcuts."},
    {"Glossary", "Explains the terms that this window uses."},
    {"My machine", "Measures the processor and the graphics card, and puts the results on one page."},
    {"Measure##machine",
     "Measures both machines in turn, in about two and a half minutes. Running exhibits pause."},
    {"Measure again##machine", "Measures both machines once more."},
    {"Save card##machine",
     "Saves the page as lockstep-card.png and lockstep-card.json in the current folder."},
    {"Stop##machine", "Stops after the current line. Anything missing shows as not measured."},
    {"device/*", "Moves the window, and GPU lanes that name no device, to this Vulkan device."},
    {"device", "The Vulkan device that draws the window and runs GPU lanes that name no device. Click for "
               "its limits and to choose another."},
    {"Run", "Starts training, or continues it (Space)."},
    {"Pause", "Stops training between two steps; Run continues (Space)."},
    {"Kernel", "Kernel: runs the next operation of the step and then stops."},
    {"Step", "Step: trains on one batch and then stops (S)."},
    {"Epoch", "Epoch: trains once on every training example and then stops."},
    {"Reset", "Reset: returns to the first step with the same initial weights (R)."},
    {"New weights",
     "New weights: returns to the first step with the next seed, so all weights are drawn anew."},
    {"##speed*", "Training speed, in steps/s. \"Flat out\" trains as fast as the machine can."},
    {"Undo 100 steps", "Puts the weights back to where they were 100 steps ago."},
    {"* step*/s", "Limits training to this many steps per second."},
    {"flat out", "Trains as fast as the machine can."},
    {"more about *", "Shows or hides a longer explanation."},
    {"messages", "The latest message. Click to read all of it, and earlier ones."},
    {"×##help", "Closes this page (Esc)."},
    {"Lessons", "Lists the lessons: paths through the exhibits, with questions that this machine answers."},
    {"lesson/*", "Opens this lesson where you left it. Your own settings come back when you close it."},
    {"Start the lesson##offer", "Opens the first lesson."},
    {"No, thanks##offer", "Closes this offer for good. Lessons, at the left, has the lessons."},
    {"answer/*", "Your answer. It is judged once this machine has measured what it is about."},
    {"##lesson/number", "Your answer: type a number and press Enter."},
    {"Go on##offer", "Opens the lesson at the step where you left it."},
    {"##input/*", "A number of the lesson. Type your own and press Enter; leave it empty for the usual one."},
    {"link/*", "Opens a lesson. Of a page on the Internet, it copies the address."},
    {"Your name##lesson", "The name in the file of your answers. It stays on this machine."},
    {"Save answers##lesson", "Writes your answers to a file in the current folder, for your teacher."},
    {"Back##lesson", "The lesson's step before this one (Page Up)."},
    {"Next##lesson", "The lesson's next step (Page Down)."},
    {"Answer##lesson", "Shows or hides the answer."},
    {"×##lesson", "Closes the lesson, and brings the settings before it back. Of a state, closes the texts."},
    {"Back to the lesson", "Shows the exhibit that the step is about."},
    {"##help/*", "Switches between the keys, the glossary, and the page about this machine."},
    {"##glossary", "Shows only terms that contain these letters."},

    // Fields of a training job.
    {"##*output activation", "The function after the last layer's preactivation."},
    {"##*activation*", "The nonlinear function after each hidden layer's preactivation. Without one, all "
                       "layers together would be one linear layer."},
    {"##*data", "The data set: its examples and their labels."},
    {"##*data/*", "The data set: its examples and their labels."},
    {"Table##*",
     "How the table is read: its target, what is left out, missing cells, and the scale of its numbers."},
    {"##*table target",
     "The target's column: a name, a number from 1, first or last; several, separated by commas, "
     "for several values. Empty: inferred."},
    {"##*table task*",
     "Whether the target is a class or a value. Automatic: classes for words and small whole numbers."},
    {"##*table scale*",
     "What happens to the numbers: standard (mean 0, deviation 1), pixels (divided by 255), or none."},
    {"##*table missing*",
     "Rows with an empty cell: an error, left out, or filled in with the column's mean."},
    {"##*table ignore",
     "Columns to leave out, by name or number, separated by commas. none keeps even those that only "
     "number the rows."},
    {"##*table header*", "Whether the first row has the columns' names."},
    {"##*table separator*", "What stands between the table's fields."},
    {"##*table decimal*", "The decimal sign of the table's numbers."},
    {"##*samples", "How many points are generated, for training and test together."},
    {"##*noise", "Standard deviation of the random shift of every generated point, in units of the plane."},
    {"##*train share", "The share of the points to train on, in %. The rest measures the test loss."},
    {"##*layers",
     "Widths of the hidden layers, in neurons, such as 64, 32. An empty field leaves them to the data."},
    {"##*optimizer*",
     "The rule that turns a gradient into new weights. Choosing one also sets its usual learning rate."},
    {"##*loss*", "The function that training minimises: how far predictions are from the labels."},
    {"##*rate", "Learning rate: how far each step moves the weights against the gradient. Too large a rate "
                "diverges; too small a rate learns slowly."},
    {"##*l2", "L2: pulls every weight towards 0 in proportion to its size (weight decay). 0 turns it off."},
    {"##*l1",
     "L1: pulls every weight towards 0 by a constant amount, so many become almost 0. 0 turns it off."},
    {"##*momentum",
     "Momentum: the share of the past gradients' sum that each step keeps, from 0.01 to 0.999."},
    {"##*nesterov", "Nesterov momentum: looks one step ahead along the momentum."},
    {"##*beta1", "Beta 1: how slowly the running mean of the gradient forgets, from 0 to below 1."},
    {"##*beta2", "Beta 2: how slowly the running mean of the squared gradient forgets, from 0 to below 1."},
    {"##*alpha", "Alpha: how slowly the running mean of the squared gradient forgets, from 0 to below 1."},
    {"##*epsilon", "A small number added to the denominator of the update, so that it never divides by 0."},
    {"##*schedule", "How the learning rate changes with the step: constant, in steps, or down a cosine."},
    {"##*schedule/*", "How the learning rate changes with the step: constant, in steps, or down a cosine."},
    {"##*schedule steps", "Steps until the rate falls by the factor, or until the cosine reaches 0."},
    {"##*gamma", "The factor that multiplies the learning rate each time the schedule's steps have passed."},
    {"##*warm-up",
     "Warm-up: the number of first steps over which the learning rate rises linearly to its value."},
    {"##*init*",
     "Distribution of the initial weights. It decides whether signals keep their size from layer to layer."},
    {"##*batch",
     "Batch: examples per step. A larger batch gives a less noisy gradient and keeps a GPU busier."},
    {"##*seed", "Seed of the random numbers. Equal seeds give equal data, weights and order of the batches."},
    {"##*shuffle", "Draws a new order of the training examples for every epoch."},
    {"##*finish", "What ends the race: a number of steps or epochs, a time, a loss or an accuracy."},
    {"##*finish/*", "What ends the race: a number of steps or epochs, a time, a loss or an accuracy."},
    {"##*finish at", "The value at which the race ends, in the unit of the finish line."},
    {"##*mode*", "A time trial runs one lane after another, so they do not compete for the machine. Head to "
                 "head runs all at once."},
    {"##*lane*", "The machine and the rung that this lane trains on, such as gpu:tiled."},
    {"Remove lane *", "Removes this lane from the next race."},
    {"Add lane", "Adds another lane to the next race."},

    // Plots.
    {"log x##*", "Switches the x axis between linear and logarithmic."},
    {"log y##*", "Switches the y axis between linear and logarithmic."},
    {"more##*", "Smoothing, logarithmic axes, zoom, and saving of this plot."},
    {"smoothing##*", "Share of the running mean in each shown value, from 0 (none) to 0.999. Faint lines "
                     "show the raw values."},
    {"##*smoothing", "Share of the running mean in each shown value, from 0 (none) to 0.999."},
    {"Logarithmic x##*", "Switches the x axis between linear and logarithmic."},
    {"Logarithmic y##*", "Switches the y axis between linear and logarithmic."},
    {"Fit all##*", "Shows all samples of all lines again."},
    {"Zoom in##*", "Enlarges the middle of the plot by 1.5."},
    {"Zoom out##*", "Shows 1.5 times as much of both axes."},
    {"Copy as CSV##*", "Puts the numbers of all lines on the clipboard, as a table."},
    {"Save as PNG##*", "Saves a picture of this plot in the current folder."},

    // The parts of an exhibit.
    {"Settings*", "Shows or hides the settings of data, network and training."},
    {"##page*", "Which part is shown where the window has no room for all."},
    {"##*steps", "Training steps of every network."},
};

bool matchesPattern(std::string_view pattern, std::string_view text) {
    const std::size_t star = pattern.find('*');
    if (star == std::string_view::npos) return pattern == text;
    if (!text.starts_with(pattern.substr(0, star))) return false;
    const std::string_view rest = pattern.substr(star + 1);
    for (std::size_t from = star; from <= text.size(); ++from)
        if (matchesPattern(rest, text.substr(from))) return true;
    return false;
}

std::string_view wordsIn(std::span<const ControlWords> rows, std::string_view control) {
    const auto found = std::ranges::find_if(
        rows, [control](const ControlWords& row) { return matchesPattern(row.control, control); });
    return found == rows.end() ? std::string_view() : found->words;
}

} // namespace

std::string_view controlWords(std::string_view control, const ControlTables& exhibits) {
    std::vector<std::span<const ControlWords>> tables(exhibits);
    tables.insert(tables.begin() + std::min<std::ptrdiff_t>(1, std::ssize(tables)), commonControls);
    for (const auto& table : tables)
        if (const std::string_view words = wordsIn(table, control); !words.empty()) return words;
    // What a menu offers too does the same there.
    constexpr std::string_view menu = "menu/";
    return control.starts_with(menu) ? controlWords(control.substr(menu.size()), exhibits)
                                     : std::string_view();
}

} // namespace lockstep::demos
