#include "demos/exhibits/precision/precision_picture.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/plot_math.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t mostCells = 64; ///< of a side of the weights' picture

ImU32 fateColour(const Theme& theme, Fate fate) {
    switch (fate) {
    case Fate::kept: return seriesColour(theme, 2);
    case Fate::coarse: return theme.warning;
    case Fate::lost:
    case Fate::over: return theme.bad;
    }
    return theme.muted;
}

/// A share of numbers, or how many they are where that says more.
std::string shareText(const Magnitudes& numbers, Fate fate) {
    const double share = numbers.share(fate);
    return share > 0 && share < 0.0005 ? grouped(numbers.count(fate)) : percent(share);
}

/// What rounding does to a tensor, in a few words.
std::string fateText(const Magnitudes& numbers) {
    if (numbers.count(Fate::over) > 0) return translatedFormat("{} overflow", shareText(numbers, Fate::over));
    if (numbers.count(Fate::lost) > 0) return translatedFormat("{} become 0", shareText(numbers, Fate::lost));
    if (numbers.count(Fate::coarse) > 0)
        return translatedFormat("{} lose digits", shareText(numbers, Fate::coarse));
    return std::string(translated("all in range"));
}

struct Strip {
    const char* title;
    const char* words;
};
constexpr Strip strips[] = {
    {"Weights", "The layer's weights, by their size."},
    {"Inputs",
     "What the layer's products multiply the weights by: the outputs of the layer below, or the data."},
    {"Gradients", "The loss's gradient at the layer's preactivations: the smallest numbers of a step."},
};

/// Numbers by size: where they lie on the strips' common axis.
struct SizeAxis {
    int low = 0; ///< exponents of 2
    int high = 0;
    float left = 0;
    float width = 0;

    float at(double exponent) const {
        return left + width * static_cast<float>(std::clamp((exponent - low) / (high - low), 0.0, 1.0));
    }
};

/// From the smallest number of all tensors to the largest, and some of the format's range around them.
SizeAxis sizeAxis(const PrecisionModel& model, float left, float width) {
    SizeAxis axis{-26, 4, left, width};
    for (const Magnitudes& numbers : model.magnitudes()) {
        if (numbers.counts.empty()) continue;
        axis.low = std::min(axis.low, numbers.first - 2);
        axis.high = std::max(axis.high, numbers.first + static_cast<int>(numbers.counts.size()) + 2);
    }
    axis.low = std::max(axis.low, axis.high - 120);
    return axis;
}

void drawStrip(Ui& ui, const Magnitudes& numbers, const Strip& strip, const SizeAxis& axis, float top,
               float base) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const Theme& theme = ui.theme;
    const FloatKindRow& row = rowOf(numbers.rounding.kind);
    // The format's range, where rounding keeps all digits, some, none.
    const double smallest = std::log2(static_cast<double>(row.smallest())) - 1 - numbers.scale;
    const double normal = std::log2(static_cast<double>(row.smallestNormal())) - numbers.scale;
    const double largest = std::log2(static_cast<double>(row.largest())) - numbers.scale;
    const auto zone = [&](double from, double to, ImU32 colour) {
        if (axis.at(to) > axis.at(from))
            draw.AddRectFilled({axis.at(from), top}, {axis.at(to), base}, colour);
    };
    zone(axis.low, smallest, faded(theme.bad, 0.16f));
    zone(smallest, normal, faded(theme.warning, 0.14f));
    zone(normal, largest, faded(seriesColour(theme, 2), 0.10f));
    zone(largest, axis.high, faded(theme.bad, 0.16f));
    std::size_t most = 1;
    for (const auto& counts : numbers.counts) {
        std::size_t sum = 0;
        for (const std::size_t count : counts) sum += count;
        most = std::max(most, sum);
    }
    const float height = base - top - ui.px(2);
    for (std::size_t at = 0; at < numbers.counts.size(); ++at) {
        const int exponent = numbers.first + static_cast<int>(at);
        if (exponent < axis.low) continue;
        const float left = axis.at(exponent) + ui.px(0.5f);
        const float right = axis.at(exponent + 1) - ui.px(0.5f);
        float y = base;
        for (const Fate fate : {Fate::kept, Fate::coarse, Fate::lost, Fate::over}) {
            const std::size_t count = numbers.counts[at][static_cast<std::size_t>(fate)];
            if (count == 0) continue;
            const float part = std::max(1.0f, height * static_cast<float>(count) / static_cast<float>(most));
            draw.AddRectFilled({left, y - part}, {right, y}, fateColour(theme, fate));
            y -= part;
        }
    }
    draw.AddLine({axis.left, base}, {axis.left + axis.width, base}, theme.border, ui.line());
    if (!ImGui::IsMouseHoveringRect({axis.left, top}, {axis.left + axis.width, base}) ||
        !ImGui::IsWindowHovered())
        return;
    const double mouse = axis.low + static_cast<double>((ImGui::GetMousePos().x - axis.left) / axis.width) *
                                        (axis.high - axis.low);
    const int exponent = static_cast<int>(std::floor(mouse));
    std::size_t here = 0;
    if (const int at = exponent - numbers.first; at >= 0 && at < static_cast<int>(numbers.counts.size()))
        for (const std::size_t count : numbers.counts[static_cast<std::size_t>(at)]) here += count;
    const double scale = std::ldexp(1.0, -numbers.scale);
    Detail detail{.title = std::string(translated(strip.title)),
                  .values = {{translatedFormat("{} to {}", scientific(std::ldexp(1.0, exponent), 2),
                                               scientific(std::ldexp(1.0, exponent + 1), 2)),
                              grouped(here)},
                             {"become 0", shareText(numbers, Fate::lost)},
                             {"lose digits", shareText(numbers, Fate::coarse)},
                             {"overflow", shareText(numbers, Fate::over)},
                             {"are 0", grouped(numbers.zeros)},
                             {"format", std::string(row.name)},
                             {"largest number", numberText(static_cast<double>(row.largest()) * scale)},
                             {"smallest number", numberText(static_cast<double>(row.smallest()) * scale)}},
                  .text = strip.words};
    if (numbers.scale != 0) detail.values.emplace_back("scale", fmt::format("2^{}", numbers.scale));
    ui.detail(std::move(detail));
}

/// The number line of one format: a line for each of its numbers, an area where they are denser than pixels.
void drawNumbers(const Ui& ui, FloatKind kind, int scale, double low, double high, ImVec2 min, ImVec2 max,
                 ImU32 colour) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto columns = static_cast<int>(max.x - min.x);
    const double perColumn = (high - low) / columns;
    const float middle = (min.y + max.y) / 2;
    draw.AddLine({min.x, middle}, {max.x, middle}, ui.theme.border, ui.line());
    const float half = (max.y - min.y) * 0.32f;
    std::int64_t before = placeOnLine(low, kind, scale);
    for (int column = 0; column < columns; ++column) {
        const std::int64_t after = placeOnLine(low + perColumn * (column + 1), kind, scale);
        const float x = min.x + static_cast<float>(column);
        if (after != before) draw.AddRectFilled({x, middle - half}, {x + ui.line(), middle + half}, colour);
        before = after;
    }
}

struct Columns {
    float name = 0; ///< left edges
    float bits = 0;
    float box = 0; ///< width of a bit
    float value = 0;
    float line = 0;
    float lineEnd = 0; ///< = line: no room for one
    float accuracy = 0;
    float end = 0;
};

Columns columnsFor(const Ui& ui, float left, float width) {
    Columns columns;
    const float value = ui.px(104);
    const bool narrow = width < ui.px(600); // no room for the result
    columns.name = left;
    columns.bits = left + ui.px(70);
    columns.end = left + width;
    columns.accuracy = narrow ? columns.end : columns.end - ui.px(70);
    const float room = columns.accuracy - columns.bits - value;
    columns.box = std::clamp(std::floor(room * (narrow ? 0.6f : 0.5f) / 33), 3.0f, ui.px(12));
    columns.value = columns.bits + 33 * columns.box + ui.px(8);
    columns.line = columns.value + value;
    columns.lineEnd = std::max(columns.line, columns.accuracy - ui.px(narrow ? 0 : 12));
    return columns;
}

bool hasLine(const Ui& ui, const Columns& columns) { return columns.lineEnd - columns.line > ui.px(60); }

bool isRegression(const PrecisionModel& model) { return model.job()->data->classes == 0; }

/// What a run came to.
std::string resultText(const PrecisionRun& run) {
    if (!run.failure.empty()) return std::string(translated("diverged"));
    return std::isnan(run.accuracy) ? lossText(run.loss) : percent(run.accuracy);
}

} // namespace

std::string numberText(double value) {
    if (!std::isfinite(value)) return std::isnan(value) ? "NaN" : value < 0 ? "-∞" : "∞";
    if (value != 0 && (std::abs(value) < 1e-5 || std::abs(value) >= 1e7)) return scientific(value, 7);
    return translatedFormat("{:.8g}", value);
}

ImU32 formatColour(const Theme& theme, FloatKind kind) {
    return seriesColour(theme, static_cast<std::size_t>(formatOf(kind)));
}

std::string kindName(FloatKind kind) {
    const std::string_view own = rowOf(kind).name;
    const std::string_view format = name(formatOf(kind));
    return own == format ? std::string(own) : fmt::format("{} {}", format, own);
}

void drawFormatLosses(Ui& ui, const PrecisionModel& model, Plot& plot) {
    std::vector<PlotLine> lines;
    const auto add = [&](const PrecisionRun& run, bool earlier) {
        const auto at = static_cast<std::size_t>(run.precision.format);
        lines.push_back({.name = std::string(name(run.precision.format)),
                         .colour = seriesColour(ui.theme, at),
                         .dashed = at % 2 == 1,
                         .faint = earlier,
                         .x = run.steps,
                         .y = run.losses});
    };
    for (const PrecisionRun* run : model.others()) add(*run, true);
    for (const OperandFormat format : formatsOf(model.options().run.lanes.front()))
        if (const PrecisionRun* run = model.run(format); run != nullptr && !run->steps.empty())
            add(*run, false);
    plot.draw(ui, "precision loss",
              "The loss of every format's training, step by step: same data, same first weights, same "
              "batches.",
              lines,
              {.x = {.title = "step", .unit = "", .whole = true},
               .y = {.title = "loss", .unit = "", .log = true},
               .size = ImGui::GetContentRegionAvail(),
               .empty = "Press Run to train the network in every format.",
               .overlay = "with other switches",
               .smoothing = 0.9f});
}

void drawMagnitudes(Ui& ui, const PrecisionModel& model) {
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ui.offer("precision/numbers");
    ImGui::InvisibleButton("precision/numbers", room);
    ui.done("precision/numbers",
            "How large the numbers are that the layer's products read. Red: the format cannot hold them.",
            false);
    if (ui.hidden("precision/numbers") || model.numbers() == nullptr) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float line = ImGui::GetTextLineHeight();
    const SizeAxis axis = sizeAxis(model, start.x, room.x);
    const float bottom = start.y + room.y - line - ui.px(4);
    // Where there is no room for all, the last ones: gradients suffer first.
    const auto fitting = static_cast<std::size_t>(std::max(1.0f, (bottom - start.y) / (line + ui.px(20))));
    const std::size_t first = std::size(strips) - std::min(fitting, std::size(strips));
    const float each = (bottom - start.y) / static_cast<float>(std::size(strips) - first);
    for (std::size_t at = first; at < std::size(strips); ++at) {
        const Magnitudes& numbers = model.magnitudes()[at];
        const float top = start.y + each * static_cast<float>(at - first);
        const std::string title =
            fmt::format("{}, {}", translated(strips[at].title), rowOf(numbers.rounding.kind).name);
        draw.AddText({start.x, top}, ui.theme.text, title.c_str());
        const std::string fate = fateText(numbers);
        const bool all = numbers.share(Fate::lost) + numbers.share(Fate::over) == 0;
        draw.AddText({start.x + room.x - lettersWidth(fate), top},
                     all ? ui.theme.muted : legible(ui.theme, ui.theme.bad), fate.c_str());
        drawStrip(ui, numbers, strips[at], axis, top + line + ui.px(2), top + each - ui.px(5));
    }
    const double decades = std::log10(2.0);
    for (const PlotTick& tick : plotTicks({axis.low * decades, axis.high * decades}, true, 6)) {
        const float x = axis.at(tick.position / decades);
        if (tick.label.empty()) continue;
        const float width = lettersWidth(tick.label);
        draw.AddText({std::clamp(x - width / 2, start.x, start.x + room.x - width), bottom + ui.px(2)},
                     ui.theme.muted, tick.label.c_str());
    }
}

WeightPointed drawWeights(Ui& ui, const PrecisionModel& model, ImVec2 size) {
    WeightPointed pointed;
    const LayerLayout& layer = model.layer();
    const std::size_t rows = std::min(layer.outputs, mostCells);
    const std::size_t columns = std::min(layer.inputs, mostCells);
    const auto fitting = [](float room, std::size_t count, float most) {
        return std::clamp(std::floor(room / static_cast<float>(count)), 1.0f, most);
    };
    const float high = fitting(size.y, rows, ui.px(28));
    const ImVec2 cell{fitting(size.x, columns, 4 * high), high};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const bool pressed =
        ui.tile("precision/weights", "The layer's weights: a row for each neuron. A click chooses one.",
                {cell.x * static_cast<float>(columns), cell.y * static_cast<float>(rows)});
    if (ui.hidden("precision/weights")) return pointed;
    const float* const weights = model.parameters().data() + layer.weightOffset;
    const auto weight = [&](std::size_t row, std::size_t column) {
        return static_cast<double>(weights[row * layer.rowStride + column]);
    };
    double squares = 0; // one large weight must not make all others pale
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            squares += weight(row, column) * weight(row, column);
    const double most = 2.5 * std::sqrt(squares / static_cast<double>(rows * columns));
    if (ImGui::IsItemHovered()) {
        const ImVec2 mouse = ImGui::GetMousePos();
        const auto at = [](float cells, std::size_t count) {
            return static_cast<std::size_t>(std::clamp(cells, 0.0f, static_cast<float>(count - 1)));
        };
        pointed.hovered = WeightPlace{model.place().layer, at((mouse.y - start.y) / cell.y, rows),
                                      at((mouse.x - start.x) / cell.x, columns)};
        if (pressed) pointed.pressed = pointed.hovered;
    }
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const auto corner = [&](std::size_t row, std::size_t column) {
        return ImVec2{start.x + cell.x * static_cast<float>(column),
                      start.y + cell.y * static_cast<float>(row)};
    };
    for (std::size_t row = 0; row < rows; ++row)
        for (std::size_t column = 0; column < columns; ++column)
            draw.AddRectFilled(
                corner(row, column), corner(row + 1, column + 1),
                signedColour(ui.theme, most == 0 ? 0.0f : static_cast<float>(weight(row, column) / most)));
    const auto frame = [&](WeightPlace place, ImU32 colour) {
        if (place.neuron < rows && place.input < columns)
            draw.AddRect(corner(place.neuron, place.input), corner(place.neuron + 1, place.input + 1), colour,
                         0, 0, ui.line(2));
    };
    frame(model.place(), ui.theme.text);
    if (pointed.hovered) frame(*pointed.hovered, ui.theme.muted);
    return pointed;
}

float formatsHeight(const Ui& ui, const PrecisionModel& model) {
    const std::size_t rows =
        std::size(floatKinds) +
        (formatsOf(model.options().run.lanes.front()).size() > std::size(allOperandFormats) ? 1 : 0);
    return static_cast<float>(rows) * (ui.fonts.small->FontSize + ui.px(13)) + 2 * ui.fonts.small->FontSize +
           ui.px(6);
}

bool showsNumberLines(const Ui& ui, float width) { return hasLine(ui, columnsFor(ui, 0, width)); }

FormatPointed drawFormats(Ui& ui, const PrecisionModel& model, WeightPlace place, std::size_t zoom) {
    FormatPointed pointed;
    const PrecisionOptions& options = model.options();
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const SmallLetters small(ui);
    const float text = ImGui::GetTextLineHeight();
    const Columns columns = columnsFor(ui, start.x, room.x);
    const float header = text + ui.px(4);
    const PrecisionRun* const wide = model.run(OperandFormat::fp64);
    const std::size_t rows = std::size(floatKinds) + (wide != nullptr ? 1 : 0);
    const float height =
        std::clamp((room.y - 2 * header) / static_cast<float>(rows), text + ui.px(3), ui.px(34));
    const bool own = place == model.place();
    const double weight = model.weight(place);
    const double half = std::ldexp(2.0, -static_cast<int>(zoom));
    const double middle = zoom == 0 ? 0 : weight;
    const auto x = [&](double value) {
        return columns.line +
               static_cast<float>((value - middle + half) / (2 * half)) * (columns.lineEnd - columns.line);
    };
    const bool lines = hasLine(ui, columns);
    const bool results = columns.accuracy < columns.end;
    const auto title = [&](float from, float to, std::string_view name) {
        draw.AddText({from, start.y}, ui.theme.muted, fittedText(name, to - from - ui.px(4)).c_str());
    };
    title(columns.bits, columns.value, columns.box > ui.px(6) ? "sign, exponent, fraction" : "bits");
    title(columns.value, columns.line, "value");
    if (lines) title(columns.line, columns.accuracy, "numbers nearby");
    if (results)
        title(columns.accuracy, columns.end + ui.px(8), isRegression(model) ? "test loss" : "accuracy");
    const float top = start.y + header;
    for (std::size_t at = 0; at < std::size(floatKinds); ++at) {
        const FloatKindRow& row = floatKinds[at];
        const std::string shown = kindName(row.kind);
        const float y = top + height * static_cast<float>(at);
        const float letters = y + (height - text) / 2;
        const bool chosen = row.kind == options.kind;
        const int scale = model.weightScale(row.kind);
        WeightCode code = codeOf(weight, row.kind, scale);
        const std::uint32_t flipped = chosen && own ? model.flipped() : 0;
        code = flippedCode(code, flipped, row.kind, scale);
        ImGui::SetCursorScreenPos({start.x, y});
        const std::string tile = fmt::format("precision/{}", row.name);
        if (ui.tile(tile.c_str(),
                    "Chooses this format: for the numbers above, and for the range around them.",
                    {columns.bits - start.x, height}))
            pointed.chosen = row.kind;
        const bool gone = ui.hidden(tile.c_str());
        bool hovered = ImGui::IsItemHovered();
        ImGui::SetCursorScreenPos({columns.bits, y});
        const std::string bits = tile + " bits";
        const auto count = static_cast<float>(row.bits());
        const float gap = columns.box / 3;            // between sign, exponent and fraction
        const auto bitLeft = [&](std::uint32_t bit) { // 0: the sign
            return columns.bits + columns.box * static_cast<float>(bit) + (bit > 0 ? gap : 0) +
                   (bit > row.format().exponentBits ? gap : 0);
        };
        const bool pressed =
            ui.tile(bits.c_str(), "A click on a bit flips it.", {columns.box * count + 2 * gap, height});
        if (gone) continue;
        std::optional<std::uint32_t> under;
        if (ImGui::IsItemHovered())
            for (std::uint32_t bit = 0; bit < row.bits(); ++bit)
                if (ImGui::GetMousePos().x >= bitLeft(bit)) under = bit;
        hovered = hovered || ImGui::IsItemHovered();
        if (pressed && under) {
            pointed.chosen = row.kind;
            pointed.flipped = std::uint32_t{1} << (row.bits() - 1 - *under);
        }
        if (chosen)
            draw.AddRectFilled({start.x - ui.px(6), y}, {columns.end + ui.px(6), y + height}, ui.theme.raised,
                               ui.px(4));
        const ImU32 colour = formatColour(ui.theme, row.kind);
        draw.AddText({start.x, letters}, legible(ui.theme, colour),
                     fittedText(shown, columns.bits - start.x - ui.px(4)).c_str());
        for (std::uint32_t bit = 0; bit < row.bits(); ++bit) {
            const bool on = (code.code >> (row.bits() - 1 - bit) & 1) != 0;
            const bool turned = (flipped >> (row.bits() - 1 - bit) & 1) != 0;
            const ImU32 part = bit == 0                           ? ui.theme.text
                               : bit <= row.format().exponentBits ? seriesColour(ui.theme, 1)
                                                                  : seriesColour(ui.theme, 2);
            const ImVec2 min{bitLeft(bit), y + height * 0.18f};
            const ImVec2 max{min.x + columns.box - std::max(1.0f, ui.px(1)), y + height * 0.82f};
            if (on)
                draw.AddRectFilled(min, max, part);
            else
                draw.AddRect(min, max, faded(part, 0.6f), 0, 0, ui.line());
            if (turned || under == bit)
                draw.AddRect({min.x - ui.px(1), min.y - ui.px(2)}, {max.x + ui.px(1), max.y + ui.px(2)},
                             turned ? ui.theme.warning : ui.theme.muted, 0, 0, ui.line(2));
        }
        draw.AddText({columns.value, letters},
                     flipped != 0 ? legible(ui.theme, ui.theme.warning) : ui.theme.text,
                     fittedText(numberText(code.value), columns.line - columns.value - ui.px(4)).c_str());
        if (lines) {
            drawNumbers(ui, row.kind, scale, middle - half, middle + half, {columns.line, y},
                        {columns.lineEnd, y + height}, faded(colour, 0.75f));
            if (const float nearest = x(code.value);
                std::isfinite(code.value) && nearest >= columns.line && nearest <= columns.lineEnd)
                draw.AddCircleFilled({nearest, y + height / 2}, ui.px(3.5f), ui.theme.text);
        }
        if (const PrecisionRun* run = model.run(formatOf(row.kind)); results && run != nullptr && run->done)
            draw.AddText({columns.accuracy, letters}, ui.theme.text, resultText(*run).c_str());
        if (hovered) {
            const double scaled = std::ldexp(1.0, -scale);
            Detail detail{
                .title = shown,
                .values = {{"bits", fmt::format("{} = 1 + {} + {}", row.bits(), row.format().exponentBits,
                                                row.format().fractionBits)},
                           {"code", fmt::format("{:#0{}x}", code.code, 2 + (row.bits() + 3) / 4)},
                           {"value", numberText(code.value)},
                           {"off by", threeDigits(code.value - weight)},
                           {"next number", translatedFormat("{} away", threeDigits(code.gap))},
                           {"largest number", numberText(static_cast<double>(row.largest()) * scaled)},
                           {"smallest number", numberText(static_cast<double>(row.smallest()) * scaled)}}};
            if (scale != 0) detail.values.emplace_back("scale", fmt::format("2^{}", scale));
            if (const PrecisionRun* run = model.run(formatOf(row.kind)); run != nullptr && run->done) {
                if (!run->failure.empty()) detail.text = translatedParts(run->failure);
                detail.values.emplace_back("test loss", lossText(run->loss));
                if (row.kind == FloatKind::fp32)
                    detail.values.emplace_back("one step", ui.timing(duration(run->secondsPerStep)));
            }
            ui.detail(std::move(detail));
        }
    }
    const float bottom = top + height * static_cast<float>(std::size(floatKinds));
    if (wide != nullptr && wide->done) { // what is inspected is fp32, so there is no more to say of it
        const float y = bottom + (height - text) / 2;
        const auto at = static_cast<std::size_t>(OperandFormat::fp64);
        draw.AddText({start.x, y}, legible(ui.theme, seriesColour(ui.theme, at)), "fp64");
        draw.AddText({results ? columns.accuracy : columns.value, y}, ui.theme.text,
                     resultText(*wide).c_str());
    }
    if (lines) {
        const float below = top + height * static_cast<float>(rows) + ui.px(2);
        const float at = std::clamp(x(weight), columns.line, columns.lineEnd);
        draw.AddLine({at, top}, {at, bottom}, faded(ui.theme.text, 0.5f), ui.line());
        const auto label = [&](float from, const std::string& number) {
            draw.AddText({from, below}, ui.theme.muted, number.c_str());
        };
        const std::string reach = threeDigits(half);
        label(columns.line, "-" + reach);
        label(columns.lineEnd - lettersWidth("+" + reach), "+" + reach);
        const std::string centre = zoom == 0 ? "0" : numberText(weight);
        const float width = lettersWidth(centre);
        if (width + 2 * lettersWidth("+" + reach) + ui.px(24) < columns.lineEnd - columns.line)
            label((columns.line + columns.lineEnd - width) / 2, centre);
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy(room);
    return pointed;
}

} // namespace lockstep::demos
