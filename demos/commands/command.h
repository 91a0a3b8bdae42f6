// The program's commands. Each describes its options to the parser and returns the function that runs it.
#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace lockstep::demos {

/// Runs a command and returns the program's exit code: 0 done, 1 failed, 130 interrupted.
using Action = std::function<int()>;

Action addRace(CLI::App& command);
Action addTrain(CLI::App& command);
Action addPopulation(CLI::App& command);
Action addPredict(CLI::App& command);
Action addData(CLI::App& command);
Action addDevices(CLI::App& command);
Action addMap(CLI::App& command);
Action addBench(CLI::App& command);
Action addTune(CLI::App& command);
Action addCard(CLI::App& command);
Action addLab(CLI::App& command);
Action addLesson(CLI::App& command);
Action addShow(CLI::App& command);

/// Runs the program without a command: opens the window, or explains how to do without one.
int showWindow(const std::string& language);

} // namespace lockstep::demos
