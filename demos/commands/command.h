// The program's commands. A command describes its options to the parser and hands back what to do once they
// are read.
#pragma once

#include <functional>

#include <CLI/CLI.hpp>

namespace lockstep::demos {

/// What a command does; returns the program's exit code (0 done, 1 failed, 130 interrupted).
using Action = std::function<int()>;

Action addRace(CLI::App& command);
Action addTrain(CLI::App& command);
Action addPopulation(CLI::App& command);
Action addPredict(CLI::App& command);
Action addDevices(CLI::App& command);
Action addMap(CLI::App& command);
Action addBench(CLI::App& command);
Action addShow(CLI::App& command);

/// What the program does without a command: the window, or a word on how to do without one.
int showWindow();

} // namespace lockstep::demos
