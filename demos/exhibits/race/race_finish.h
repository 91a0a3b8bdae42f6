// A finish line as a kind and a number, as it is set in the window.
#pragma once

#include <span>
#include <string>

#include "engine/run/finish_line.h"

namespace lockstep::demos {

enum class FinishKind { usual, epochs, steps, seconds, accuracy, loss };

/// "as usual", "epochs", ...: in the order of FinishKind.
std::span<const std::string> finishKindNames();
FinishKind finishKind(const FinishLine& line);
/// What stands above its number: "Epochs", "At least".
const char* finishUnit(FinishKind kind);
/// A line of that kind to begin with.
FinishLine usualFinish(FinishKind kind);
/// Throws std::invalid_argument for what is no such number.
FinishLine finishFromText(FinishKind kind, const std::string& text);
/// Its number: "10", "85%".
std::string finishValueText(const FinishLine& line);
/// "until 10 epochs"; empty where it is left to the data.
std::string finishText(const FinishLine& line);

} // namespace lockstep::demos
