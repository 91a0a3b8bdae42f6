#include "demos/exhibits/race/race_pictures.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <fmt/format.h>

#include "demos/words/language.h"
#include "demos/words/text.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t sheetColumns = 12;
constexpr std::size_t mostSheetImages = 120;
constexpr std::size_t mostSheetPixels = 4'000'000;
constexpr std::size_t mostScatterPoints = 400;
constexpr float dimmedImage = 0.4f;
constexpr float leastImageInRows = 42, mostImageInOneRow = 48; // units

float answerLine(const Ui& ui) { return ui.fonts.small->FontSize + ui.px(3); }

} // namespace

std::vector<std::uint32_t> greyImage(const Dataset& data, std::size_t index) {
    std::vector<std::uint32_t> pixels(data.inputs);
    for (std::size_t i = 0; i < data.inputs; ++i) {
        const std::size_t at = index * data.inputs + i;
        const float value = data.bytes() ? static_cast<float>(data.test.pixels[at])
                                         : 255 * std::clamp(data.test.values[at], 0.0f, 1.0f);
        const auto grey = static_cast<std::uint32_t>(value);
        pixels[i] = 0xFF000000u | grey << 16 | grey << 8 | grey;
    }
    return pixels;
}

void RacePictures::show(Ui& ui, std::shared_ptr<const Dataset> data) {
    data_ = std::move(data);
    if (!data_ || !haveImages(*data_) || (sheet_ && sheetData_ == data_)) return;
    const std::size_t width = data_->imageWidth, height = data_->imageHeight;
    sheetImages_ = std::min({mostSheetImages, data_->test.count, mostSheetPixels / (width * height)});
    sheetData_ = data_;
    sheet_.reset();
    if (sheetImages_ == 0) return;
    const std::size_t rows = (sheetImages_ + sheetColumns - 1) / sheetColumns;
    const std::size_t stride = sheetColumns * width;
    std::vector<std::uint32_t> pixels(stride * rows * height, 0);
    for (std::size_t i = 0; i < sheetImages_; ++i) {
        const std::vector<std::uint32_t> image = greyImage(*data_, i);
        const std::size_t corner = i / sheetColumns * height * stride + i % sheetColumns * width;
        for (std::size_t y = 0; y < height; ++y)
            std::copy_n(image.begin() + static_cast<std::ptrdiff_t>(y * width), width,
                        pixels.begin() + static_cast<std::ptrdiff_t>(corner + y * stride));
    }
    sheet_ = std::make_unique<Picture>(ui.graphics, static_cast<std::uint32_t>(stride),
                                       static_cast<std::uint32_t>(rows * height), false);
    sheet_->upload(pixels);
}

RacePictures::Kind RacePictures::kind() const {
    if (!data_) return Kind::none;
    if (haveImages(*data_)) return sheet_ ? Kind::images : Kind::none;
    if (data_->table) return data_->inputNames.empty() ? Kind::none : Kind::columns;
    const bool plane = data_->inputs == 2 && !data_->bytes() && data_->test.count > 0;
    return plane ? Kind::points : Kind::none;
}

void RacePictures::drawImage(ImDrawList& draw, std::size_t index, ImVec2 at, float side, ImU32 tint,
                             float rounding) const {
    const std::size_t rows = (sheetImages_ + sheetColumns - 1) / sheetColumns;
    const auto share = [](std::size_t part, std::size_t whole) {
        return static_cast<float>(part) / static_cast<float>(whole);
    };
    const std::size_t column = index % sheetColumns, row = index / sheetColumns;
    draw.AddImageRounded(sheet_->id(), at, {at.x + side, at.y + side},
                         {share(column, sheetColumns), share(row, rows)},
                         {share(column + 1, sheetColumns), share(row + 1, rows)}, tint, rounding);
}

void RacePictures::drawRows(const Ui& ui, const Place& place) const {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float width = place.max.x - place.min.x, height = place.max.y - place.min.y;
    if (kind() == Kind::columns) {
        std::string names;
        for (const std::string& name : data_->inputNames) names += (names.empty() ? "" : "  ·  ") + name;
        if (height >= ImGui::GetTextLineHeight())
            draw.AddText(place.min, faded(ui.theme.muted, 0.8f), fittedText(names, width).c_str());
        return;
    }
    const float gap = ui.px(4);
    if (kind() != Kind::images || height < ui.px(20)) return;
    // Large enough for the images that there are, in whole rows.
    const float area = (width + gap) * (height + gap) / static_cast<float>(sheetImages_);
    const float wanted = std::max(ui.px(leastImageInRows), std::sqrt(area));
    const float rows = std::max(1.0f, std::floor((height + gap) / wanted));
    const float step = (height + gap) / rows;
    const auto columns = static_cast<std::size_t>(std::max(1.0f, std::floor((width + gap) / step)));
    const std::size_t count = std::min(sheetImages_, columns * static_cast<std::size_t>(rows));
    const float apart = (width + gap) / static_cast<float>(columns);
    const auto tint = static_cast<int>(255 * dimmedImage);
    for (std::size_t i = 0; i < count; ++i)
        drawImage(draw, i,
                  {place.min.x + apart * static_cast<float>(i % columns),
                   place.min.y + step * static_cast<float>(i / columns)},
                  step - gap, IM_COL32(255, 255, 255, tint), ui.px(3));
}

void RacePictures::drawPoints(const Ui& ui, const Place& place) const {
    if (kind() != Kind::points) return;
    const std::vector<float>& values = data_->test.values;
    const std::size_t count = std::min(data_->test.count, mostScatterPoints);
    ImVec2 low{std::numeric_limits<float>::max(), std::numeric_limits<float>::max()};
    ImVec2 high{-low.x, -low.y};
    for (std::size_t i = 0; i < count; ++i) {
        low = {std::min(low.x, values[2 * i]), std::min(low.y, values[2 * i + 1])};
        high = {std::max(high.x, values[2 * i]), std::max(high.y, values[2 * i + 1])};
    }
    const float span = std::max({high.x - low.x, high.y - low.y, 1e-6f});
    const float dot = ui.px(2.5f);
    const float side = std::min(place.max.x - place.min.x, place.max.y - place.min.y) - 2 * dot;
    if (side < ui.px(24)) return;
    const ImVec2 centre{(place.min.x + place.max.x) / 2, (place.min.y + place.max.y) / 2};
    const ImVec2 middle{(low.x + high.x) / 2, (low.y + high.y) / 2};
    for (std::size_t i = 0; i < count; ++i) {
        const ImVec2 at{centre.x + side * (values[2 * i] - middle.x) / span,
                        centre.y - side * (values[2 * i + 1] - middle.y) / span};
        const ImU32 colour =
            data_->classes > 0 ? classColour(ui.theme, data_->test.labels[i]) : ui.theme.muted;
        ImGui::GetWindowDrawList()->AddCircleFilled(at, dot, faded(colour, 0.75f));
    }
}

float RacePictures::rowHeight(const Ui& ui, std::size_t lanes, float card, float room) const {
    constexpr float mostOfRoom = 0.62f;
    constexpr float leastImage = 20;
    if (kind() != Kind::images || lanes == 0) return 0;
    const float text = answerLine(ui) + ui.px(8);
    const float image = mostOfRoom * room / static_cast<float>(lanes) - card - text;
    return image < ui.px(leastImage) ? 0 : std::min(image, ui.px(mostImageInOneRow)) + text;
}

void RacePictures::drawAnswers(const Ui& ui, const RaceRun& run, std::size_t lane, const Place& place,
                               std::optional<std::uint64_t> until) const {
    if (kind() != Kind::images) return;
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    std::optional<LaneAnswers> answers = run.probes[lane].pictures;
    if (answers && until && answers->step > *until) answers.reset();
    const NetShape& shape = run.job.shape;
    const float height = place.max.y - place.min.y;
    const bool high = height > 1.5f * (ui.px(mostImageInOneRow) + answerLine(ui));
    // While times are taken, answers come only now and then: more images are worth more than room for words.
    const bool named = !high || run.over || !run.timed;
    const float below = named ? answerLine(ui) : ui.px(4);
    const float area = (place.max.x - place.min.x) * height / static_cast<float>(sheetImages_);
    const float least = std::max(ui.px(leastImageInRows) + below, std::sqrt(area));
    const float rows = high ? std::max(1.0f, std::floor((height + (named ? 0 : below)) / least)) : 1;
    const float rowStep = (height + (named ? 0 : below)) / rows;
    const float side = rowStep - below;
    const SmallLetters small(ui);
    const float words = // beside the pictures, in any language
        std::max(ui.px(92), textWidth(translatedFormat("{} of {} right", "88", "88")) + ui.px(8));
    const float first = place.min.x + words;
    const float step = std::max(side + ui.px(6), ui.px(46));
    const auto fit = static_cast<std::size_t>(std::max(0.0f, (place.max.x - first + ui.px(6)) / step));
    const std::size_t count =
        std::min({fit * static_cast<std::size_t>(rows), sheetImages_, pictureRows(*run.data)});
    const auto answerTo = [&](std::size_t i) -> std::optional<std::size_t> {
        if (!answers || i >= answers->rows) return {};
        return plain::predictedClass(answers->outputs.data() + i * shape.outputs(), shape.outputs(),
                                     shape.outputActivation);
    };
    const auto wrong = [&](std::size_t i) {
        const std::optional<std::size_t> answer = answerTo(i);
        return answer && answer != run.data->test.labels[i];
    };
    std::size_t right = 0;
    for (std::size_t i = 0; i < count; ++i) {
        const bool correct = answerTo(i) == run.data->test.labels[i];
        right += correct ? 1 : 0;
        const ImVec2 at{first + step * static_cast<float>(i % fit),
                        place.min.y + rowStep * static_cast<float>(i / fit)};
        // What is right lights up as a network learns; in the end, what is wrong is looked at, too.
        const int alpha = correct || (run.over && wrong(i)) ? 255 : static_cast<int>(255 * dimmedImage);
        drawImage(draw, i, at, side, IM_COL32(255, 255, 255, alpha), ui.px(3));
        if (!correct && !wrong(i)) continue;
        const ImU32 colour = correct ? ui.theme.good : ui.theme.bad;
        const ImVec2 end{at.x + side, at.y + side};
        if (correct) draw.AddRectFilled(at, end, faded(colour, 0.3f), ui.px(3));
        draw.AddRect(at, end, colour, ui.px(3), 0, ui.line(2));
        if (correct || !named) continue;
        // Below the next image, too, unless that has an answer of its own.
        const float room = (i + 1 < count && wrong(i + 1) ? 1 : 2) * step - ui.px(4);
        draw.AddText({at.x, end.y + ui.px(2)}, legible(ui.theme, colour),
                     fittedText("✗ " + run.data->classNames[*answerTo(i)], room).c_str());
    }
    if (!answers || count == 0) return;
    const float line = ImGui::GetTextLineHeight();
    const float top = place.min.y + std::max(0.0f, (rowStep * rows - below - 2 * line) / 2);
    drawText(draw, {place.min.x, top}, ui.theme.text,
             fittedText(translatedFormat("{} of {} right", right, count), words - ui.px(8)));
    if (side >= 2 * line)
        drawText(draw, {place.min.x, top + line}, ui.theme.muted,
                 fittedText(translatedFormat("at step {}", grouped(answers->step)), words - ui.px(8)));
}

} // namespace lockstep::demos
