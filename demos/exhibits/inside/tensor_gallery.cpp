#include "demos/exhibits/inside/inside.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/inside/operation_words.h"
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

std::string valueText(float value) { return fmt::format("{:.4g}", value); }

std::string captionOf(const TracedTensor& tensor) {
    std::string text = name(tensor.id);
    if (tensor.id.updated) text += " updated";
    return text;
}

double differenceOf(const TracedTensor& a, const TracedTensor* b) {
    if (b == nullptr || b->values.size() != a.values.size()) return -1;
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

/// "32 × 8, ±1.7": its size, and the value that has the full colour.
std::string sizeText(const TracedTensor& tensor, float largest) {
    std::string text = tensor.rows == 1 ? fmt::format("{}", tensor.columns)
                                        : fmt::format("{} × {}", tensor.rows, tensor.columns);
    if (tensor.keptRows() < tensor.rows) text += fmt::format(", first {} rows", tensor.keptRows());
    if (largest > 0) text += fmt::format(", ±{:.2g}", largest);
    return text;
}

/// A tensor in the gallery.
struct Exhibited {
    const TracedTensor* tensor = nullptr;
    TensorPicture* shown = nullptr;
    float name = 0;  ///< width of what stands above the picture
    float below = 0; ///< and below it
    ImVec2 at{};     ///< of its words, from its group's corner
    ImVec2 size{};   ///< of the picture
};

/// What an operation writes, or what it reads.
struct TensorGroup {
    const char* title;
    std::vector<Exhibited> tensors{};
    float width = 0;
};

constexpr float groupGap = 32;
constexpr float tensorGap = 14;
constexpr float leastTensor = 20; // in height

/// Up to `highest`; a picture that is much wider than high is squeezed, the more where they are `crowded`.
ImVec2 shownSize(const Ui& ui, const TracedTensor& tensor, float widest, float highest, bool crowded) {
    const auto rows = static_cast<float>(tensor.keptRows());
    const auto columns = static_cast<float>(tensor.columns);
    const float height = std::min(highest, std::max(rows * ui.px(18), ui.px(leastTensor)));
    const float wide = rows == 1 ? columns * ui.px(6) : columns * height / rows;
    const float most = std::min(widest, std::max(1.4f * highest, ui.px(crowded ? 72 : 160)));
    return {std::round(std::clamp(wide, std::min(std::max(ui.px(56), 0.4f * height), most), most)),
            std::round(height)};
}

/// Places pictures up to `highest` in rows as wide as the group. Returns the height of all.
/// sized   their sizes stand below them
float layOut(const Ui& ui, TensorGroup& group, float highest, bool sized) {
    const float words = (sized ? 2 : 1) * (ImGui::GetTextLineHeight() + ui.px(3));
    ImVec2 at{0, 0};
    float row = 0;
    for (Exhibited& each : group.tensors) {
        each.size = shownSize(ui, *each.tensor, group.width, highest, !sized);
        const float wide = std::max({each.size.x, each.name, sized ? each.below : 0});
        if (at.x > 0 && at.x + wide > group.width) {
            at = {0, at.y + row + ui.px(8)};
            row = 0;
        }
        each.at = at;
        row = std::max(row, words + each.size.y);
        at.x += wide + ui.px(tensorGap);
    }
    return at.y + row;
}

/// Divides the width between both groups so that all pictures are as large as the room allows. Returns the
/// height of the higher one.
float layOut(const Ui& ui, std::span<TensorGroup, 2> groups, ImVec2 room, bool sized) {
    const float both = groups[0].tensors.empty() || groups[1].tensors.empty() ? 0 : ui.px(groupGap);
    const auto placed = [&](float share, float highest) {
        if (both > 0) groups[0].width = (room.x - both) * share;
        if (both > 0) groups[1].width = (room.x - both) * (1 - share);
        return std::max(layOut(ui, groups[0], highest, sized), layOut(ui, groups[1], highest, sized));
    };
    groups[0].width = groups[1].width = room.x;
    float best = ui.px(leastTensor);
    float bestShare = 0.5f;
    for (float share = 0.2f; share < 0.85f; share += 0.05f)
        for (float highest = room.y; highest > best; highest -= ui.px(4))
            if (placed(share, highest) <= room.y) {
                best = highest;
                bestShare = share;
            }
    return placed(bestShare, best);
}

// Up to `right`, where there is room behind `least`.
void drawScale(Ui& ui, ImVec2 right, float least) {
    constexpr int steps = 48;
    const float line = ImGui::GetTextLineHeight();
    const float bar = ui.px(120);
    const float gap = ui.px(6);
    const float below = ImGui::CalcTextSize("below 0").x;
    const float width = below + bar + ImGui::CalcTextSize("above 0").x + 2 * gap;
    const ImVec2 at{right.x - width, right.y};
    if (at.x < least) return;
    ImGui::SetCursorScreenPos(at);
    ImGui::Dummy({width, line});
    ui.explainItem({.title = "Colours of tensors",
                    .text = "Blue: negative. Orange: positive. Each tensor's largest magnitude (±, printed "
                            "below it) has full colour. Colour follows the square root of the magnitude, "
                            "so small values stay visible."});
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    draw.AddText(at, ui.theme.muted, "below 0");
    const float left = at.x + below + gap;
    for (int i = 0; i < steps; ++i) {
        const auto from = static_cast<float>(i) / steps;
        const auto to = static_cast<float>(i + 1) / steps;
        draw.AddRectFilled({left + bar * from, at.y + line * 0.1f}, {left + bar * to, at.y + line * 0.95f},
                           signedColour(ui.theme, from + to - 1));
    }
    const float zero = left + (bar - ImGui::CalcTextSize("0").x) / 2;
    draw.AddText({zero, at.y}, ui.theme.text, "0");
    draw.AddText({left + bar + gap, at.y}, ui.theme.muted, "above 0");
}

void refresh(Ui& ui, const TracedTensor& tensor, const TracedTensor* other, TensorPicture& shown) {
    const std::size_t rows = tensor.keptRows();
    const std::size_t width = std::min(tensor.columns, mostPixels);
    const std::size_t height = std::min(rows, mostPixels);
    shown.difference = differenceOf(tensor, other);
    // Few values are large: by the root of their size, the small ones can be seen, too.
    const float scale = shown.largest > 0 ? 1 / shown.largest : 0;
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

/// The element under the mouse; the picture goes from `min` to `max`.
ElementAt elementUnder(const TracedTensor& tensor, ImVec2 min, ImVec2 max) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    const auto index = [](float at, float low, float high, std::size_t count) {
        const float share = std::clamp((at - low) / (high - low), 0.0f, 0.99999f);
        return static_cast<std::size_t>(share * static_cast<float>(count));
    };
    return {tensor.id, index(mouse.y, min.y, max.y, tensor.keptRows()),
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
    detail.title = captionOf(tensor) + ", " + words.what;
    detail.values = {{words.row, fmt::format("{}", row)}, {words.column, fmt::format("{}", column)}};
    detail.values.emplace_back(gpu ? "value on the GPU" : "value on the CPU", value);
    if (other != nullptr && at < other->values.size())
        detail.values.emplace_back(gpu ? "on the CPU" : "on the GPU", valueText(other->values[at]));
    detail.values.emplace_back("largest |x|", valueText(shown.largest));
    if (shown.difference >= 0)
        detail.values.emplace_back("CPU and GPU differ", fmt::format("{:.1g} at most", shown.difference));
    detail.text = "Blue: negative. Orange: positive. Colour follows the root of the magnitude.";
    ui.detailAtOnce(
        fmt::format("{}  {} {}, {} {}:  {}", captionOf(tensor), words.row, row, words.column, column, value),
        std::move(detail));
}

/// What the mouse is at.
struct Pointed {
    std::optional<ElementAt> element;
    bool clicked = false;
};

Pointed drawTensor(Ui& ui, const TracedTensor& tensor, ImVec2 size, bool gpu, const TracedTensor* other,
                   bool sized, TensorPicture& shown) {
    ImGui::PushStyleVar(ImGuiStyleVar_ItemSpacing, {ImGui::GetStyle().ItemSpacing.x, ui.px(3)});
    ImGui::BeginGroup();
    ui.text(name(tensor.id), 0, ui.fonts.strong); // "updated" says the group
    const ImVec2 low = ImGui::GetCursorScreenPos();
    const ImVec2 high{low.x + size.x, low.y + size.y};
    ImGui::PushID(captionOf(tensor).c_str());
    const bool clicked = ImGui::InvisibleButton("tensor", size);
    ImGui::PopID();
    ui.noteControl(captionOf(tensor).c_str());
    const bool hovered = ImGui::IsItemHovered();
    shown.used = ImGui::IsItemVisible(); // pictures that are out of sight are given back
    if (shown.used) {
        if (shown.stale) tryRefresh(ui, tensor, other, shown);
        if (shown.picture) ImGui::GetWindowDrawList()->AddImage(shown.picture->id(), low, high);
    }
    if (shown.largest == 0) {
        const ImVec2 wide = ImGui::CalcTextSize(allZero);
        ImGui::GetWindowDrawList()->AddText({(low.x + high.x - wide.x) / 2, (low.y + high.y - wide.y) / 2},
                                            ui.theme.muted, allZero);
    }
    ImGui::GetWindowDrawList()->AddRect(low, high, hovered ? ui.theme.text : ui.theme.border, 0, 0,
                                        ui.line());
    if (sized) ui.muted(sizeText(tensor, shown.largest));
    ImGui::EndGroup();
    ImGui::PopStyleVar();
    if (!hovered) return {};
    const ElementAt element = elementUnder(tensor, low, high);
    explain(ui, tensor, gpu, other, element, shown);
    return {element, clicked && !ui.hidingControls};
}

/// Goes to the operation that makes the element a sum, if there is one.
void followPointed(Ui& ui, Inside& inside, const Pointed& pointed) {
    const StepTrace& trace = *inside.model.trace(inside.view.selected.machine);
    const NetShape& shape = *inside.model.shape();
    const std::size_t operation = operationOf(shape, trace, *pointed.element);
    if (operation == trace.operations.size()) return;
    if (ui.hovered) ui.hovered->text += " Click to see the products that add up to this value.";
    if (!pointed.clicked) return;
    inside.playing = false;
    inside.played = 0;
    inside.view.selected.index = operation;
    inside.picked = pointed.element;
    inside.timeline.reveal(trace.operations[operation]);
}

/// The picked element; none any more once the selected operation is another.
std::optional<ElementSum> pickedSum(Inside& inside) {
    if (!inside.picked) return std::nullopt;
    auto sum = elementSum(*inside.model.shape(), *inside.model.trace(inside.view.selected.machine),
                          *inside.selected(), *inside.picked);
    if (!sum) inside.picked.reset();
    return sum;
}

} // namespace

void drawTensors(Ui& ui, Inside& inside) {
    const StepTrace& trace = *inside.model.trace(inside.view.selected.machine);
    const StepTrace* other = inside.model.trace(1 - inside.view.selected.machine);
    const TracedOperation& operation = *inside.selected();
    if (const auto sum = pickedSum(inside)) {
        inside.tensors.clear();
        if (drawElement(ui, *sum)) inside.picked.reset();
        return;
    }
    for (auto& [id, shown] : inside.tensors) shown.used = false;
    const std::tuple origin{inside.model.revision(), trace.machine.gpu, ui.theme.dark};
    // As in its formula: the result first.
    std::array<TensorGroup, 2> groups{TensorGroup{"writes"}, TensorGroup{"reads"}};
    for (std::size_t i = 0; i < groups.size(); ++i)
        for (const TensorId& id : flatOnesLast(i == 0 ? operation.writes : operation.reads, trace)) {
            const TracedTensor* tensor = trace.find(id);
            if (tensor == nullptr || tensor->values.empty()) continue;
            TensorPicture& shown = inside.tensors[id];
            if (std::exchange(shown.origin, origin) != origin) {
                shown.largest = largestOf(tensor->values);
                shown.stale = true;
            }
            // Its values do not matter: pictures stay where they are while it trains.
            groups[i].tensors.push_back({.tensor = tensor,
                                         .shown = &shown,
                                         .name = textWidth(name(id)),
                                         .below = textWidth(sizeText(*tensor, 0) + ", ±0.000")});
        }
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 room = ImGui::GetContentRegionAvail();
    const float heading = ImGui::GetTextLineHeight() + ui.px(6);
    const ImVec2 below{room.x, room.y - heading};
    float height = layOut(ui, groups, below, true);
    const bool sized = height <= below.y; // else the mouse tells
    if (!sized) height = layOut(ui, groups, below, false);
    float left = start.x;
    float headingEnd = start.x;
    Pointed pointed;
    for (const TensorGroup& group : groups) {
        if (group.tensors.empty()) continue;
        ImGui::SetCursorScreenPos({left, start.y});
        ui.text(group.title, ui.theme.muted, ui.fonts.strong);
        headingEnd = ImGui::GetItemRectMax().x;
        for (const Exhibited& each : group.tensors) {
            ImGui::SetCursorScreenPos({left + each.at.x, start.y + heading + each.at.y});
            const TracedTensor* there = other == nullptr ? nullptr : other->find(each.tensor->id);
            const Pointed here =
                drawTensor(ui, *each.tensor, each.size, trace.machine.gpu, there, sized, *each.shown);
            if (here.element) pointed = here;
        }
        left += group.width + ui.px(groupGap);
        if (left >= start.x + room.x) continue;
        const float middle = left - ui.px(groupGap) / 2;
        ImGui::GetWindowDrawList()->AddLine({middle, start.y}, {middle, start.y + heading + height},
                                            ui.theme.border, ui.line());
    }
    drawScale(ui, {start.x + room.x, start.y}, headingEnd + ui.px(16));
    ImGui::SetCursorScreenPos(start);
    ImGui::Dummy({room.x, heading + height});
    if (operation.reads.empty() && operation.writes.empty()) ui.muted("Sums only: no tensors.");
    std::erase_if(inside.tensors, [](const auto& entry) { return !entry.second.used; });
    if (pointed.element) followPointed(ui, inside, pointed);
}

} // namespace lockstep::demos
