#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
#include "demos/exhibits/inside/tensor_layout.h"
#include "demos/words/language.h"
#include "engine/gpu/error.h"

namespace lockstep::demos {

namespace {

constexpr const char* allZero = "all 0";
constexpr std::size_t mostPixels = 512; // along each side; beyond, a pixel stands for several values

struct Words {
    const char* what;
    const char* row;
    const char* column;
};

/// By TensorKind.
constexpr Words tensorWords[] = {{"activations", "example", "neuron"},
                                 {"targets", "example", "target"},
                                 {"preactivations", "example", "neuron"},
                                 {"dLoss/dZ", "example", "neuron"},
                                 {"weights", "to neuron", "from input"},
                                 {"biases", "row", "neuron"},
                                 {"gradient of the weights", "to neuron", "from input"},
                                 {"gradient of the biases", "row", "neuron"},
                                 {"optimizer state", "to neuron", "from input"},
                                 {"optimizer state", "row", "neuron"},
                                 {"optimizer state", "to neuron", "from input"},
                                 {"optimizer state", "row", "neuron"}};

std::string valueText(float value) { return translatedFormat("{:.4g}", value); }

std::string captionOf(const TracedTensor& tensor) {
    std::string text = name(tensor.id);
    if (tensor.id.updated) text += " updated";
    return text;
}

std::string fullTensorName(const TracedTensor& tensor) {
    return tensor.id.updated ? translatedFormat("{} updated", name(tensor.id)) : name(tensor.id);
}

std::optional<double> differenceOf(const TracedTensor& a, const TracedTensor* b) {
    if (b == nullptr || b->values.size() != a.values.size()) return {};
    double largest = 0;
    for (std::size_t i = 0; i < a.values.size(); ++i)
        largest =
            std::max(largest, std::abs(static_cast<double>(a.values[i]) - static_cast<double>(b->values[i])));
    return largest;
}

/// The value of a block that is farthest from 0, so that none is overlooked.
float strongest(const TracedTensor& tensor, std::size_t rowBegin, std::size_t rowEnd, std::size_t columnBegin,
                std::size_t columnEnd) {
    float found = 0;
    for (std::size_t row = rowBegin; row < rowEnd; ++row)
        for (std::size_t column = columnBegin; column < columnEnd; ++column) {
            const float value = tensor.values[row * tensor.columns + column];
            if (!std::isfinite(value)) return value;
            if (std::abs(value) > std::abs(found)) found = value;
        }
    return found;
}

/// Matrices before biases and the like: beside a matrix, a single row would leave a hole.
std::vector<TensorId> flatOnesLast(std::vector<TensorId> ids, const StepTrace& trace) {
    std::stable_partition(ids.begin(), ids.end(), [&](const TensorId& id) {
        const TracedTensor* tensor = trace.find(id);
        return tensor == nullptr || tensor->rows > 1;
    });
    return ids;
}

/// "32 × 8, ±1.7": its size, and the value that has the full colour. Of images: how many are shown.
std::string sizeText(const TracedTensor& tensor, float largest, const TileGrid& tiles) {
    if (tiles.count() > 0)
        return translatedFormat("{} × {}: {} images of {} × {} pixels", tensor.rows, tensor.columns,
                                std::min(tiles.count(), tensor.keptRows()), tiles.width, tiles.height);
    std::string text = tensor.rows == 1 ? fmt::format("{}", tensor.columns)
                                        : fmt::format("{} × {}", tensor.rows, tensor.columns);
    if (tensor.keptRows() < tensor.rows) text += translatedFormat(", first {} rows", tensor.keptRows());
    if (largest > 0) text += translatedFormat(", ±{:.2g}", largest);
    return text;
}

/// A tensor in the gallery.
struct Exhibited {
    const TracedTensor* tensor = nullptr;
    TensorPicture* shown = nullptr;
    std::string group = {}; ///< "writes", before the first of its group
    float words = 0;        ///< width of group and name
    bool sized = false;     ///< its size stands beside its name
    bool images = false;    ///< its rows are images
};

constexpr float leastImage = 30; // height
constexpr float wordGap = 6;
constexpr float captionGap = 3;

float strongWidth(const Ui& ui, const std::string& text) {
    return ui.fonts.strong->CalcTextSizeA(ImGui::GetFontSize(), FLT_MAX, 0, text.c_str()).x;
}

/// A cell per number, or per block of numbers.
std::vector<std::uint32_t> cellPixels(const Ui& ui, const TracedTensor& tensor, float largest,
                                      std::size_t width, std::size_t height) {
    const std::size_t rows = tensor.keptRows();
    // Few values are large: by the root of their size, the small ones can be seen, too.
    const float scale = largest > 0 ? 1 / largest : 0;
    std::vector<std::uint32_t> pixels(width * height);
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x) {
            const float value = strongest(tensor, y * rows / height, (y + 1) * rows / height,
                                          x * tensor.columns / width, (x + 1) * tensor.columns / width);
            pixels[y * width + x] =
                std::isfinite(value)
                    ? signedColour(ui.theme, std::copysign(std::sqrt(std::abs(value) * scale), value))
                    : ui.theme.bad;
        }
    return pixels;
}

/// The first images, as one would see them.
std::vector<std::uint32_t> imageSheet(const Ui& ui, const TracedTensor& tensor, float largest,
                                      const TileGrid& tiles) {
    std::vector<std::uint32_t> pixels(tiles.pixelsWide() * tiles.pixelsHigh(), ui.theme.panel);
    const std::size_t images = std::min(tiles.count(), tensor.keptRows());
    for (std::size_t i = 0; i < images * tiles.width * tiles.height; ++i) {
        const std::size_t image = i / (tiles.width * tiles.height), at = i % (tiles.width * tiles.height);
        const std::size_t x = image % tiles.columns * (tiles.width + 1) + at % tiles.width;
        const std::size_t y = image / tiles.columns * (tiles.height + 1) + at / tiles.width;
        const float value = tensor.values[image * tensor.columns + at];
        pixels[y * tiles.pixelsWide() + x] =
            std::isfinite(value) ? mixed(ui.theme.background, ui.theme.text,
                                         largest > 0 ? std::clamp(value / largest, 0.0f, 1.0f) : 0)
                                 : ui.theme.bad;
    }
    return pixels;
}

void refresh(Ui& ui, const TracedTensor& tensor, const TracedTensor* other, TensorPicture& shown) {
    const bool images = shown.tiles.count() > 0;
    const std::size_t rows = tensor.keptRows();
    const std::size_t width = images ? shown.tiles.pixelsWide() : std::min(tensor.columns, mostPixels);
    const std::size_t height = images ? shown.tiles.pixelsHigh() : std::min(rows, mostPixels);
    shown.difference = differenceOf(tensor, other);
    const std::vector<std::uint32_t> pixels = images ? imageSheet(ui, tensor, shown.largest, shown.tiles)
                                                     : cellPixels(ui, tensor, shown.largest, width, height);
    const auto pixelsWide = static_cast<std::uint32_t>(width);
    const auto pixelsHigh = static_cast<std::uint32_t>(height);
    if (!shown.picture || shown.picture->width() != pixelsWide || shown.picture->height() != pixelsHigh)
        shown.picture = std::make_unique<Picture>(ui.graphics, pixelsWide, pixelsHigh, false);
    shown.picture->upload(pixels);
    shown.stale = false; // last: without memory for a picture, the next frame tries again
}

// Nothing may leave a group that is half drawn. Without memory, the frame around the picture stays empty.
void tryRefresh(Ui& ui, const TracedTensor& tensor, const TracedTensor* other, TensorPicture& shown) {
    try {
        refresh(ui, tensor, other, shown);
    } catch (const gpu::DeviceLostError&) {
        throw;
    } catch (const gpu::GpuError& error) {
        shown.picture.reset();
        ui.say(Severity::error, error.what());
    }
}

/// The element under the mouse; the picture goes from `min` to `max`. None between images.
std::optional<ElementAt> elementUnder(const TracedTensor& tensor, const TileGrid& tiles, ImVec2 min,
                                      ImVec2 max) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (tiles.count() > 0) {
        if (mouse.x >= max.x || mouse.y >= max.y) return std::nullopt;
        return tiledElement(tensor, tiles, (mouse.x - min.x) / (max.x - min.x),
                            (mouse.y - min.y) / (max.y - min.y));
    }
    const auto index = [](float at, float low, float high, std::size_t count) {
        const float share = std::clamp((at - low) / (high - low), 0.0f, 0.99999f);
        return static_cast<std::size_t>(share * static_cast<float>(count));
    };
    return ElementAt{tensor.id, index(mouse.y, min.y, max.y, tensor.keptRows()),
                     index(mouse.x, min.x, max.x, tensor.columns)};
}

void explain(Ui& ui, const TracedTensor& tensor, bool gpu, const TracedTensor* other,
             const ElementAt& element, const TensorPicture& shown) {
    const std::size_t row = element.row;
    const std::size_t column = element.column;
    const std::size_t at = row * tensor.columns + column;
    const Words& words = tensorWords[static_cast<std::size_t>(tensor.id.kind)];
    const std::string value = valueText(tensor.values[at]);
    Detail detail;
    detail.title = fullTensorName(tensor).append(", ").append(translated(words.what));
    detail.values = {{words.row, fmt::format("{}", row)}, {words.column, fmt::format("{}", column)}};
    detail.values.emplace_back(gpu ? "value on the GPU" : "value on the CPU", value);
    if (other != nullptr && at < other->values.size())
        detail.values.emplace_back(gpu ? "on the CPU" : "on the GPU", valueText(other->values[at]));
    detail.values.emplace_back("largest |x|", valueText(shown.largest));
    if (shown.difference)
        detail.values.emplace_back("CPU and GPU differ",
                                   translatedFormat("{:.1g} at most", *shown.difference));
    if (const TileGrid& tiles = shown.tiles; tiles.count() > 0) {
        detail.values.insert(detail.values.begin() + 2,
                             {"pixel", fmt::format("{}, {}", column % tiles.width, column / tiles.width)});
        detail.text = "Each row of this matrix is an image, drawn here in its own form. The brightest pixel "
                      "has the largest value.";
    } else {
        detail.text = "Blue: negative. Orange: positive. Colour follows the root of the magnitude.";
    }
    ui.detailAtOnce(fmt::format("{}  {} {}, {} {}:  {}", fullTensorName(tensor), translated(words.row), row,
                                translated(words.column), column, value),
                    std::move(detail));
}

/// Where a picture ends that begins at `low` and has `size` to fill: images keep their form.
ImVec2 cornerOf(const TileGrid& tiles, ImVec2 low, ImVec2 size) {
    if (tiles.count() == 0) return {low.x + size.x, low.y + size.y};
    const auto wide = static_cast<float>(tiles.pixelsWide()), high = static_cast<float>(tiles.pixelsHigh());
    const float pixel = std::min(size.x / wide, size.y / high);
    return {low.x + wide * pixel, low.y + high * pixel};
}

/// What the mouse is at.
struct Pointed {
    std::optional<ElementAt> element;
    bool clicked = false;
};

Pointed drawTensor(Ui& ui, const Exhibited& each, ImVec2 size, bool gpu, const TracedTensor* other) {
    const TracedTensor& tensor = *each.tensor;
    TensorPicture& shown = *each.shown;
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, ui.px(captionGap)});
    ImGui::BeginGroup();
    if (!each.group.empty()) {
        ui.text(each.group, ui.theme.muted, ui.fonts.strong);
        ImGui::SameLine(0, ui.px(wordGap));
    }
    ui.text(name(tensor.id), 0, ui.fonts.strong); // "updated" says the group
    if (each.sized) {
        ImGui::SameLine(0, ui.px(wordGap));
        ui.muted(sizeText(tensor, shown.largest, shown.tiles));
    }
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high = cornerOf(shown.tiles, low, size);
    ImGui::PushID(captionOf(tensor).c_str());
    const bool clicked = ImGui::InvisibleButton("tensor", size);
    ImGui::PopID();
    ui.noteControl(captionOf(tensor).c_str(),
                   tensor.id.kind == TensorKind::targets ? "The labels of this batch, one row per example."
                   : shown.tiles.count() > 0
                       ? "A tensor whose rows are images, drawn as images. Point at a pixel to read it."
                       : "A tensor, one cell per number. Point at a cell to read it.");
    const bool hovered = ImGui::IsItemHovered();
    shown.used = ImGui::IsItemVisible(); // pictures that are out of sight are given back
    if (shown.used) {
        if (shown.stale) tryRefresh(ui, tensor, other, shown);
        if (shown.picture) ImGui::GetWindowDrawList()->AddImage(shown.picture->id(), low, high);
    }
    if (shown.largest == 0) {
        const std::string zero(translated(allZero));
        const ImVec2 wide = ImGui::CalcTextSize(zero.c_str());
        ImGui::GetWindowDrawList()->AddText({(low.x + high.x - wide.x) / 2, (low.y + high.y - wide.y) / 2},
                                            ui.theme.muted, zero.c_str());
    }
    if (shown.tiles.count() == 0)
        ImGui::GetWindowDrawList()->AddRect(low, high, hovered ? ui.theme.text : ui.theme.border, 0, 0,
                                            ui.line());
    ImGui::EndGroup();
    ImGui::PopStyleVar();
    if (!hovered) return {};
    const std::optional<ElementAt> element = elementUnder(tensor, shown.tiles, low, high);
    if (!element) return {};
    explain(ui, tensor, gpu, other, *element, shown);
    return {element, clicked && !ui.hidingControls};
}

/// Goes to the operation that makes the element a sum, if there is one.
void followPointed(Ui& ui, Inside& inside, const Pointed& pointed) {
    const std::size_t machine = inside.at().machine;
    const StepTrace& trace = *inside.model.trace(machine);
    const NetShape& shape = inside.model.shown()->shape;
    const std::size_t operation = operationOf(shape, trace, *pointed.element);
    if (operation == trace.operations.size()) return;
    if (ui.hovered)
        ui.hovered->text = std::string(translated(ui.hovered->text))
                               .append(translated(" Click to see the products that add up to this value."));
    if (!pointed.clicked) return;
    inside.select({machine, operation});
    inside.picked = pointed.element;
    inside.timeline.reveal(trace.operations[operation]);
}

/// The picked element; none any more once the selected operation is another.
std::optional<ElementSum> pickedSum(Inside& inside) {
    if (!inside.picked) return std::nullopt;
    auto sum = elementSum(inside.model.shown()->shape, *inside.model.trace(inside.at().machine),
                          *inside.selected(), *inside.picked);
    if (!sum) inside.picked.reset();
    return sum;
}

} // namespace

float scaleWidth(const Ui& ui) { return ui.px(120); }

void drawScale(Ui& ui) {
    constexpr int steps = 48;
    const float line = ImGui::GetTextLineHeight();
    const float width = scaleWidth(ui);
    const ImVec2 at = ImGui::GetCursorScreenPos();
    ImGui::Dummy({width, line});
    ui.explainItem({.title = "Colours of tensors",
                    .text = "Blue: negative. Orange: positive. Each tensor's largest magnitude (±, printed "
                            "above it) has full colour. Colour follows the square root of the magnitude, "
                            "so small values stay visible."});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    for (int i = 0; i < steps; ++i) {
        const auto from = static_cast<float>(i) / steps;
        const auto to = static_cast<float>(i + 1) / steps;
        draw.AddRectFilled({at.x + width * from, at.y + line * 0.1f},
                           {at.x + width * to, at.y + line * 0.95f}, signedColour(ui.theme, from + to - 1));
    }
    const auto letter = [&](const char* text, float share) {
        const float wide = ImGui::CalcTextSize(text).x;
        const float x =
            std::clamp(at.x + share * width - wide / 2, at.x + ui.px(4), at.x + width - wide - ui.px(4));
        draw.AddText({x, at.y}, ui.theme.text, text);
    };
    letter("-", 0);
    letter("0", 0.5f);
    letter("+", 1);
}

void drawTensors(Ui& ui, Inside& inside) {
    const StepTrace& trace = *inside.model.trace(inside.at().machine);
    const StepTrace* other = inside.model.trace(1 - inside.at().machine);
    const Dataset* data = inside.model.shown()->data.get();
    const TracedOperation& operation = *inside.selected();
    if (const auto sum = pickedSum(inside)) {
        inside.tensors.clear();
        if (drawElement(ui, *sum)) inside.picked.reset();
        return;
    }
    for (auto& [id, shown] : inside.tensors) shown.used = false;
    const std::tuple origin{inside.model.revision(), trace.machine.gpu, ui.theme.dark};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    // As in its formula: the result first.
    std::array<std::vector<Exhibited>, 2> groups;
    TensorPlaces places;
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (const TensorId& id : flatOnesLast(i == 0 ? operation.writes : operation.reads, trace)) {
            const TracedTensor* tensor = trace.find(id);
            if (tensor == nullptr || tensor->values.empty()) continue;
            TensorPicture& shown = inside.tensors[id];
            if (std::exchange(shown.origin, origin) != origin) {
                shown.largest = largestOf(tensor->values);
                shown.stale = true;
            }
            Exhibited each{.tensor = tensor, .shown = &shown};
            if (groups[i].empty()) each.group = i == 0 ? "writes" : "reads";
            each.words = strongWidth(ui, name(id));
            if (!each.group.empty()) each.words += strongWidth(ui, each.group) + ui.px(wordGap);
            each.images = data != nullptr && holdsImages(*tensor, *data);
            places[i].push_back({.rows = static_cast<float>(tensor->keptRows()),
                                 .columns = static_cast<float>(tensor->columns),
                                 .caption = std::max(each.words, ui.px(40))});
            groups[i].push_back(each);
        }
    const float line = ImGui::GetTextLineHeight() + ui.px(captionGap);
    const float height = layOutTensors(
        places, room,
        {.caption = line, .gap = ui.px(10), .between = ui.px(24), .least = ui.px(20), .cell = ui.px(44)});
    Pointed pointed;
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (std::size_t k = 0; k < groups[i].size(); ++k) {
            Exhibited& each = groups[i][k];
            const TensorPlace& place = places[i][k];
            const TileGrid tiles =
                each.images ? tilesFor(*data, each.tensor->keptRows(), place.size, ui.px(leastImage))
                            : TileGrid{};
            if (std::exchange(each.shown->tiles, tiles) != tiles) each.shown->stale = true;
            // Its values do not matter: words stay as they are while it trains.
            const std::string largest = each.images ? "" : ", ±0.000";
            const float size = textWidth(sizeText(*each.tensor, 0, tiles) + largest) + ui.px(wordGap);
            each.sized = each.words + size <= place.size.x; // else the mouse tells
            ImGui::SetCursorScreenPos({start.x + place.at.x, start.y + place.at.y});
            const TracedTensor* twin = other == nullptr ? nullptr : other->find(each.tensor->id);
            const Pointed here = drawTensor(ui, each, place.size, trace.machine.gpu, twin);
            if (here.element) pointed = here;
        }
    if (!places[0].empty() && !places[1].empty()) {
        const float middle = start.x + places[1].front().at.x - ui.px(12);
        ImGui::GetWindowDrawList()->AddLine({middle, start.y}, {middle, start.y + height}, ui.theme.border,
                                            ui.line());
    }
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({room.x, height});
    if (operation.reads.empty() && operation.writes.empty()) ui.muted("Sums only: no tensors.");
    std::erase_if(inside.tensors, [](const auto& entry) { return !entry.second.used; });
    if (pointed.element) followPointed(ui, inside, pointed);
}

} // namespace lockstep::demos
