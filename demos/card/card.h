// The card of a machine: one page of what its processor and its GPU were measured to do. Written as JSON
// (docs/json.md), read again, and laid beside other machines' cards.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "demos/draw/read_png.h"
#include "engine/step/train_job.h"

namespace lockstep::demos {

/// One line: the same work on both machines. 0: not measured.
struct CardRow {
    std::string name; ///< "fp16 vec4", "gpu:tiled", "width 256"
    double cpu = 0;
    double gpu = 0;
    std::string note = {};  ///< why something is not measured
    bool unchecked = false; ///< its one number is of training whose losses were compared with nothing
};

/// A titled list of lines with one unit; more is better in all of them.
struct CardPart {
    std::string id; ///< "roofs", "copies", "races", "ladder", "population", "widths", "batches"
    std::string title;
    std::string unit; ///< "Gop/s", "examples/s", ...
    std::vector<CardRow> rows = {};
    std::string remark = {}; ///< a sentence on what was found, such as the crossover
};

struct Card {
    std::string program;    ///< "lockstep 0.9.0"
    std::string date;       ///< "2026-03-01"
    std::string owner = {}; ///< who has the machine, or how it is called; may be empty
    std::string file = {};  ///< the name of the file that it was read from, without folder and ending
    MachineInfo cpu;
    MachineInfo gpu;   ///< no device: none was found, or none could be used
    std::string noGpu; ///< why
    std::vector<std::pair<std::string, std::string>> facts; ///< of the GPU: name and value
    std::vector<CardPart> parts;
    double seconds = 0; ///< that measuring took
    bool quick = false; ///< numbers come out too low

    /// The machines in a line each, with what their numbers must not be shown without.
    std::string cpuName() const;
    std::string gpuName() const;
};

nlohmann::ordered_json cardJson(const Card& card);
/// Reads what cardJson() wrote. Throws std::runtime_error with the file's `name`, the field and the reason.
Card cardFromJson(const nlohmann::ordered_json& json, std::string_view name);
/// The same from a file of at most 1 MiB.
Card readCard(const std::filesystem::path& file);

/// The page as text, at most 110 columns wide.
std::string cardText(const Card& card);
/// The page as a picture, 1920 pixels wide.
Pixels cardPicture(const Card& card);

/// What each machine is called in a comparison: its owner, or else its file, with a number where another one
/// is called the same: "Ana", "Ana 2".
std::vector<std::string> cardLabels(const std::vector<Card>& cards);

/// Several cards side by side, with everything that any of them has measured, in lines of at most 80
/// characters: a line for each thing measured or, where that would be too wide, a line for each machine.
std::string comparisonText(const std::vector<Card>& cards);
/// The same as a page for a browser, with a row for each machine and the best number of a column in bold.
std::string comparisonHtml(const std::vector<Card>& cards);
/// The same for a spreadsheet: a row for each machine and thing measured; what is not measured is empty.
std::string comparisonCsv(const std::vector<Card>& cards);
Pixels comparisonPicture(const std::vector<Card>& cards);

/// A measured number with its unit's scale: "1.25k", "142"; "-" where it is 0.
std::string cardNumber(double value);

} // namespace lockstep::demos
