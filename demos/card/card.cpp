#include "demos/card/card.h"

#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demos/words/text.h"
#include "engine/files/json_text.h"

namespace lockstep::demos {

namespace {

using nlohmann::ordered_json;

constexpr int version = 1;
constexpr std::uint64_t largestFile = 1 << 20;
constexpr std::size_t mostParts = 32;
constexpr std::size_t mostRows = 256;
constexpr std::size_t longestText = 400;

/// As Fields::text() reads it: what drivers and systems say may have line breaks, and be long.
std::string oneLine(std::string_view text) {
    std::string line;
    for (const char letter : withoutControls(text)) {
        const bool blank = static_cast<unsigned char>(letter) <= ' ';
        if (!blank)
            line += letter;
        else if (!line.empty() && line.back() != ' ')
            line += ' ';
    }
    if (line.size() <= longestText) return line;
    std::size_t end = longestText;
    while ((static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) --end; // within a character of UTF-8
    return line.substr(0, end);
}

ordered_json machineJson(const MachineInfo& machine) {
    if (machine.device.empty()) return nullptr;
    return {{"device", oneLine(machine.device)},
            {"driver", oneLine(machine.driver)},
            {"software", machine.software},
            {"threads", machine.threads}};
}

ordered_json numberOrNull(double value) { return value > 0 ? ordered_json(value) : ordered_json(); }

// Reads fields of one object, and names the one that is wrong: "parts[2].rows[1].name".
class Fields {
  public:
    Fields(const ordered_json& json, std::string_view file, std::string where)
        : json_(json), file_(file), where_(std::move(where)) {
        if (!json.is_object()) refuse("is not an object");
    }

    std::string text(const char* key) const {
        const ordered_json& value = at(key);
        if (!value.is_string()) refuse(key, "must be a string");
        const auto& read = value.get_ref<const std::string&>();
        if (read.size() > longestText) refuse(key, fmt::format("is longer than {} bytes", longestText));
        if (withoutControls(read) != read || read.find_first_of("\n\t") != std::string::npos)
            refuse(key, "contains control characters");
        return read;
    }
    double number(const char* key) const {
        const ordered_json& value = at(key);
        if (value.is_null()) return 0;
        if (!value.is_number()) refuse(key, "must be a number");
        const double read = value.get<double>();
        if (!(read >= 0 && read < 1e30)) refuse(key, "is out of range");
        return read;
    }
    bool flag(const char* key) const {
        const ordered_json& value = at(key);
        if (!value.is_boolean()) refuse(key, "must be true or false");
        return value.get<bool>();
    }
    const ordered_json& list(const char* key, std::size_t most) const {
        const ordered_json& value = at(key);
        if (!value.is_array()) refuse(key, "must be a list");
        if (value.size() > most) refuse(key, fmt::format("has more than {} entries", most));
        return value;
    }
    const ordered_json& at(const char* key) const {
        const auto found = json_.find(key);
        if (found == json_.end()) refuse(key, "is missing");
        return *found;
    }
    Fields in(const char* key, const ordered_json& json, std::size_t index) const {
        return {json, file_, fmt::format("{}{}{}[{}]", where_, where_.empty() ? "" : ".", key, index)};
    }
    MachineInfo machine(const char* key) const {
        MachineInfo machine;
        const ordered_json& json = at(key);
        if (json.is_null()) return machine;
        const Fields fields(json, file_, key);
        machine.device = fields.text("device");
        machine.driver = fields.text("driver");
        machine.software = fields.flag("software");
        machine.threads = static_cast<std::size_t>(std::min(fields.number("threads"), 1e6));
        return machine;
    }

  private:
    [[noreturn]] void refuse(const char* key, const std::string& why) const {
        throw std::runtime_error(fmt::format(
            "{} is not a Lockstep card: field '{}{}{}' {}; `lockstep card --json FILE` writes one", file_,
            where_, where_.empty() ? "" : ".", key, why));
    }
    [[noreturn]] void refuse(const std::string& why) const {
        throw std::runtime_error(
            fmt::format("{} is not a Lockstep card: {} {}; `lockstep card --json FILE` writes one", file_,
                        where_.empty() ? "the file" : where_, why));
    }

    const ordered_json& json_;
    std::string file_;
    std::string where_;
};

CardPart partFrom(const Fields& fields) {
    CardPart part{fields.text("id"), fields.text("title"), fields.text("unit")};
    part.remark = fields.text("remark");
    const ordered_json& rows = fields.list("rows", mostRows);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const Fields row = fields.in("rows", rows[i], i);
        part.rows.push_back({row.text("name"), row.number("cpu"), row.number("gpu"), row.text("note"),
                             row.flag("unchecked")});
    }
    return part;
}

} // namespace

std::string Card::cpuName() const { return honestDevice(cpu, 70); }

std::string Card::gpuName() const {
    return gpu.device.empty() ? "none: " + cut(oneLine(noGpu), 60) : honestDevice(gpu, 70);
}

ordered_json cardJson(const Card& card) {
    ordered_json facts = ordered_json::array();
    for (const auto& [name, value] : card.facts)
        facts.push_back({{"name", oneLine(name)}, {"value", oneLine(value)}});
    ordered_json parts = ordered_json::array();
    for (const CardPart& part : card.parts) {
        ordered_json rows = ordered_json::array();
        for (const CardRow& row : part.rows)
            rows.push_back({{"name", row.name},
                            {"cpu", numberOrNull(row.cpu)},
                            {"gpu", numberOrNull(row.gpu)},
                            {"note", oneLine(row.note)},
                            {"unchecked", row.unchecked}});
        parts.push_back({{"id", part.id},
                         {"title", part.title},
                         {"unit", part.unit},
                         {"rows", rows},
                         {"remark", part.remark}});
    }
    return {{"card", version},
            {"program", card.program},
            {"date", card.date},
            {"owner", oneLine(card.owner)},
            {"cpu", machineJson(card.cpu)},
            {"gpu", machineJson(card.gpu)},
            {"no_gpu", oneLine(card.noGpu)},
            {"facts", facts},
            {"parts", parts},
            {"seconds", card.seconds},
            {"quick", card.quick}};
}

Card cardFromJson(const ordered_json& json, std::string_view name) {
    const Fields fields(json, name, "");
    if (const double found = fields.number("card"); found != version)
        throw std::runtime_error(
            fmt::format("{} has card format {}; this program reads format {}", name, found, version));
    Card card;
    card.program = fields.text("program");
    card.date = fields.text("date");
    if (json.contains("owner")) card.owner = fields.text("owner"); // cards of older versions have none
    card.cpu = fields.machine("cpu");
    card.gpu = fields.machine("gpu");
    card.gpu.gpu = true;
    card.noGpu = fields.text("no_gpu");
    card.seconds = fields.number("seconds");
    card.quick = fields.flag("quick");
    const ordered_json& facts = fields.list("facts", mostRows);
    for (std::size_t i = 0; i < facts.size(); ++i) {
        const Fields fact = fields.in("facts", facts[i], i);
        card.facts.emplace_back(fact.text("name"), fact.text("value"));
    }
    const ordered_json& parts = fields.list("parts", mostParts);
    for (std::size_t i = 0; i < parts.size(); ++i)
        card.parts.push_back(partFrom(fields.in("parts", parts[i], i)));
    return card;
}

Card readCard(const std::filesystem::path& file) {
    Card card = cardFromJson(readJsonFile(file, largestFile), file.string());
    card.file = oneLine(withoutControls(file.stem().string()));
    return card;
}

std::string cardNumber(double value) {
    if (!(value > 0)) return "-";
    return value < 1000 ? threeDigits(value) : shortRate(value);
}

} // namespace lockstep::demos
