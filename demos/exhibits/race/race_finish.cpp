#include "demos/exhibits/race/race_finish.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "demos/options/parse.h"

namespace lockstep::demos {

namespace {

double numberFrom(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value) || value <= 0)
        throw std::invalid_argument("a finish line needs a number above 0, not '" + text + "'");
    return value;
}

std::uint64_t countFrom(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || value == 0)
        throw std::invalid_argument("a finish line needs a whole number of at least 1, not '" + text + "'");
    return value;
}

} // namespace

std::span<const std::string> finishKindNames() {
    static const std::vector<std::string> names = {"automatic", "epochs",   "steps",
                                                   "seconds",   "accuracy", "loss"};
    return names;
}

FinishKind finishKind(const FinishLine& line) {
    if (line.accuracy > 0) return FinishKind::accuracy;
    if (line.loss > 0) return FinishKind::loss;
    if (line.epochs > 0) return FinishKind::epochs;
    if (line.steps > 0) return FinishKind::steps;
    return line.seconds > 0 ? FinishKind::seconds : FinishKind::usual;
}

const char* finishUnit(FinishKind kind) {
    switch (kind) {
    case FinishKind::epochs: return "Epochs";
    case FinishKind::steps: return "Steps";
    case FinishKind::seconds: return "Seconds";
    case FinishKind::accuracy: return "At least";
    case FinishKind::loss: return "At most";
    case FinishKind::usual: break;
    }
    return "";
}

FinishLine usualFinish(FinishKind kind) {
    FinishLine line;
    if (kind == FinishKind::epochs) line.epochs = 1;
    if (kind == FinishKind::steps) line.steps = 1000;
    if (kind == FinishKind::seconds) line.seconds = 5;
    if (kind == FinishKind::accuracy) line.accuracy = 0.8;
    if (kind == FinishKind::loss) line.loss = 0.5;
    return line;
}

FinishLine finishFromText(FinishKind kind, const std::string& text) {
    FinishLine line;
    if (kind == FinishKind::epochs) line.epochs = countFrom(text);
    if (kind == FinishKind::steps) line.steps = countFrom(text);
    if (kind == FinishKind::seconds) line.seconds = numberFrom(text);
    if (kind == FinishKind::accuracy) line.accuracy = shareFromText(text);
    if (kind == FinishKind::loss) line.loss = numberFrom(text);
    if (kind == FinishKind::accuracy && line.accuracy == 0)
        throw std::invalid_argument("an accuracy of 0 is reached before the start; write 0.85 or 85%");
    return line;
}

std::string finishValueText(const FinishLine& line) {
    switch (finishKind(line)) {
    case FinishKind::epochs: return std::to_string(line.epochs);
    case FinishKind::steps: return std::to_string(line.steps);
    case FinishKind::seconds: return fmt::format("{:g}", line.seconds);
    case FinishKind::accuracy: return fmt::format("{:g}%", 100 * line.accuracy);
    case FinishKind::loss: return fmt::format("{:g}", line.loss);
    case FinishKind::usual: break;
    }
    return {};
}

std::string finishText(const FinishLine& line) {
    return finishKind(line) == FinishKind::usual ? "" : "until " + line.text();
}

} // namespace lockstep::demos
