#include "demos/exhibits/race/race_answers.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "demos/exhibits/race/race_pictures.h"
#include "demos/words/text.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

enum AnswersView : std::size_t { asImages, asMatrix, asOwn };

const std::vector<std::string> answersViewNames = {"images", "confusion matrix", "your own"};
constexpr std::size_t shownGuesses = 3;

/// Whether a row can be typed, or a picture dropped.
bool takesOwn(const Dataset& data) { return data.table.has_value() || data.imageWidth > 0; }

/// The views that there are for these data, as indices of answersViewNames.
std::vector<std::size_t> viewsOf(const Dataset& data) {
    std::vector<std::size_t> views;
    if (haveImages(data)) views.push_back(asImages);
    if (data.classes > 1) views.push_back(asMatrix);
    if (takesOwn(data)) views.push_back(asOwn);
    return views;
}

/// The lane's last evaluation, or the one that was asked for when that is newer.
std::pair<std::optional<Evaluation>, std::uint64_t> evaluationOf(const RaceRun& run, std::size_t lane) {
    const LaneResult& view = run.lanes[lane];
    const LaneProbe& probe = run.probes[lane];
    if (probe.evaluation && (!view.evaluation || probe.evaluatedStep > view.end.evaluatedStep))
        return {probe.evaluation, probe.evaluatedStep};
    return {view.evaluation, view.end.evaluatedStep};
}

/// One image with what the network says to it.
struct Tile {
    std::size_t example = 0; // of the test split
    std::size_t label = 0;
    std::optional<std::size_t> answer;
    std::vector<double> odds; // per class; empty when outputs are none

    bool right() const { return answer == label; }
};

Tile tileOf(const RaceRun& run, const std::optional<LaneAnswers>& answers, std::size_t example) {
    Tile tile{example, run.data->test.labels[example], {}, {}};
    if (!answers || example < answers->first || example >= answers->first + answers->rows) return tile;
    const float* outputs = answers->outputs.data() + (example - answers->first) * run.job.shape.outputs();
    const NetShape& shape = run.job.shape;
    tile.answer = plain::predictedClass(outputs, shape.outputs(), shape.outputActivation);
    tile.odds = plain::probabilities(shape, outputs);
    return tile;
}

void explainTile(Ui& ui, const RaceRun& run, const Tile& tile) {
    const std::vector<std::string>& names = run.data->classNames;
    Detail detail{.title = translatedFormat("Test image {}", grouped(tile.example)),
                  .values = {{"label", names[tile.label]}},
                  .text =
                      tile.answer ? "A test image: the network never trained on it." : "No prediction yet."};
    if (tile.answer) detail.values.emplace_back("prediction", names[*tile.answer]);
    std::vector<std::size_t> order(tile.odds.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, std::greater{}, [&](std::size_t i) { return tile.odds[i]; });
    for (std::size_t i = 0; i < std::min(shownGuesses, order.size()); ++i)
        detail.values.emplace_back(names[order[i]], percent(tile.odds[order[i]]));
    ui.detail(std::move(detail));
}

void drawTile(Ui& ui, const RaceRun& run, const Tile& tile, ImTextureID sheet, float v0, float v1,
              const Place& at) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const float side = at.max.x - at.min.x;
    draw.AddImageRounded(sheet, at.min, {at.max.x, at.min.y + side}, {0, v0}, {1, v1}, IM_COL32_WHITE,
                         ui.px(4));
    const bool right = tile.right();
    const ImU32 colour = !tile.answer ? ui.theme.muted : right ? ui.theme.good : ui.theme.bad;
    draw.AddRect(at.min, {at.max.x, at.min.y + side}, colour, ui.px(4), 0, ui.line(right ? 1.5f : 2.5f));
    const std::string answer = tile.answer ? (right ? "✓ " : "✗ ") + run.data->classNames[*tile.answer] : "-";
    draw.AddText({at.min.x, at.min.y + side + ui.px(2)}, colour, fittedText(answer, side + ui.px(6)).c_str());
}

constexpr std::size_t mostClasses = 64; // more cells than that are no picture

void explainCell(Ui& ui, const std::vector<std::string>& names, std::size_t row, std::size_t column,
                 std::uint64_t count, std::uint64_t rowSum) {
    const std::string title = row == column ? translatedFormat("{}, classified correctly", names[row])
                                            : translatedFormat("{} taken for {}", names[row], names[column]);
    ui.detailAtOnce(translatedFormat("{}\n{} of {}", title, grouped(count), grouped(rowSum)),
                    {title,
                     {},
                     {{"label", names[row]},
                      {"prediction", names[column]},
                      {"examples", grouped(count)},
                      {"of this class", percent(static_cast<double>(count) / static_cast<double>(rowSum))}},
                     {}});
}

/// at     the row's upper left corner
/// cell   its size
void drawRow(Ui& ui, std::span<const std::uint64_t> counts, std::size_t row,
             const std::vector<std::string>& names, ImVec2 at, ImVec2 cell) {
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    const std::uint64_t sum = std::accumulate(counts.begin(), counts.end(), std::uint64_t{0});
    const float gap = ui.line();
    for (std::size_t column = 0; column < counts.size(); ++column) {
        const float x = at.x + cell.x * static_cast<float>(column);
        const float share = sum > 0 ? static_cast<float>(counts[column]) / static_cast<float>(sum) : 0;
        const ImVec2 low{x + cell.x - gap, at.y + cell.y - gap};
        draw.AddRectFilled({x, at.y}, low, viridis(share));
        if (column == row) // what is right
            draw.AddRect({x, at.y}, low, ui.theme.text, 0, 0, 2 * ui.line());
        const std::string text = counts[column] == 0 ? "·" : grouped(counts[column]);
        const ImVec2 size = ImGui::CalcTextSize(text.c_str());
        if (size.x + ui.px(2) < cell.x && size.y <= cell.y)
            draw.AddText({x + (cell.x - size.x) / 2, at.y + (cell.y - size.y) / 2},
                         share > 0.6f ? IM_COL32(16, 20, 24, 255) : IM_COL32(240, 243, 247, 255),
                         text.c_str());
        if (ImGui::IsMouseHoveringRect({x, at.y}, low) && sum > 0)
            explainCell(ui, names, row, column, counts[column], sum);
    }
}

/// A heat map of that size at most, with counts on hover.
void drawConfusionMatrix(Ui& ui, const Evaluation& evaluation, const std::vector<std::string>& classNames,
                         ImVec2 size) {
    const std::size_t classes = classNames.size();
    if (classes > mostClasses || classes * classes != evaluation.confusion.size()) {
        ui.muted(translatedFormat(
            "{} classes are too many for a picture; the saved JSON has the whole matrix.", classes));
        return;
    }
    const float line = ImGui::GetTextLineHeight();
    constexpr const char* corner = "is \\ says";
    float longest = 0;
    for (const std::string& name : classNames) longest = std::max(longest, textWidth(name));
    const float names = std::max(textWidth(corner), std::min(longest, ui.px(110))) + ui.px(20);
    const float n = static_cast<float>(classes);
    const ImVec2 cell{std::min((size.x - names) / n, ui.px(72)),
                      std::clamp((size.y - line - ui.px(8)) / n, ui.px(5), ui.px(34))};
    const ImVec2 start = ImGui::GetCursorScreenPos();
    const ImVec2 low{start.x + names, start.y + line + ui.px(4)};
    ImDrawList& draw = *ImGui::GetWindowDrawList();
    drawText(draw, start, ui.theme.muted, corner);
    for (std::size_t i = 0; i < classes; ++i) {
        const float x = low.x + cell.x * static_cast<float>(i);
        const float y = low.y + cell.y * static_cast<float>(i);
        const std::string head = fittedText(classNames[i], cell.x - ui.px(4));
        const float centre = x + (cell.x - textWidth(head)) / 2;
        draw.AddText({centre, start.y}, ui.theme.muted, head.c_str());
        if (line <= cell.y + ui.px(2))
            draw.AddText({start.x, y + (cell.y - line) / 2}, ui.theme.muted,
                         fittedText(classNames[i], names - ui.px(20)).c_str());
        drawRow(ui, std::span(evaluation.confusion).subspan(i * classes, classes), i, classNames, {low.x, y},
                cell);
    }
    ImGui::Dummy({names + cell.x * n, line + ui.px(4) + cell.y * n});
    ui.noteControl("confusion matrix",
                   "Counts of test examples by label (row) and prediction (column). The diagonal is right.");
}

} // namespace

ProbeWish RaceAnswers::wish(const RaceRun& run) {
    ProbeWish wish{.evaluation = std::exchange(evaluate_, false)};
    if (haveImages(*run.data)) {
        wish.first = first_;
        wish.rows = images;
    }
    wish.network = view_ == asOwn && own_.has_value();
    return wish;
}

bool RaceAnswers::draw(Ui& ui, const RaceRun* run, ImVec2 size) {
    const std::vector<std::size_t> views = run == nullptr ? std::vector<std::size_t>() : viewsOf(*run->data);
    if (views.empty()) {
        ui.muted(
            run == nullptr
                ? "Start the race to see what the networks predict."
                : "This network predicts values, not classes, so no prediction is simply right or wrong.");
        return false;
    }
    if (std::ranges::find(views, view_) == views.end()) view_ = views.front();
    first_ = first_ < run->data->test.count ? first_ : 0;
    const float top = ImGui::GetCursorPosY();
    std::vector<std::string> lanes;
    for (const LaneResult& lane : run->lanes) lanes.push_back(lane.spec.text());
    lane_ = std::min(lane_, lanes.size() - 1);
    if (view_ != asOwn) { // which shows all lanes
        ui.segments("##race answers of", "The lane whose predictions are shown.", lane_, lanes);
        ImGui::SameLine(0, ui.px(16));
        if (ImGui::GetContentRegionAvail().x < ui.px(420)) ImGui::NewLine();
    }
    if (views.size() > 1) {
        std::vector<std::string> names;
        names.reserve(views.size());
        for (const std::size_t view : views) names.push_back(answersViewNames[view]);
        auto chosen = static_cast<std::size_t>(std::ranges::find(views, view_) - views.begin());
        if (ui.segments("##race answers as",
                        "Single test images with their predictions, counts by label and prediction, or what "
                        "the networks predict for a row or picture of yours.",
                        chosen, names))
            view_ = views[chosen];
    }
    if (view_ == asOwn) return drawOwn(ui, *run);
    if (views.size() > 1) ImGui::SameLine(0, ui.px(16));
    bool asked = false;
    if (view_ == asImages) {
        asked = ui.button("Other images", "Shows other examples of the test split.");
        if (asked) first_ = first_ + 2 * images > run->data->test.count ? 0 : first_ + images;
    } else {
        asked = ui.button("Evaluate now", "Measures this lane's accuracy on all test examples.",
                          !run->lanes[lane_].end.over() && run->data->test.count > 0);
        evaluate_ |= asked;
    }
    size.y -= ImGui::GetCursorPosY() - top;
    if (view_ == asImages)
        drawImages(ui, *run, size);
    else
        drawConfusion(ui, *run, size);
    return asked;
}

void RaceAnswers::takePicture(const RaceRun& run, const Pixels& pixels) {
    if (run.data->imageWidth == 0)
        throw std::invalid_argument(translatedFormat(
            "{} has no images, so its networks cannot say what a picture shows", run.data->name));
    own_ = inputFromPicture(*run.data, pixels);
    ownData_ = run.data;
    ownPicture_.reset();
    view_ = asOwn;
}

void RaceAnswers::showOwnPicture(Ui& ui, const Dataset& data) {
    const auto width = static_cast<std::uint32_t>(data.imageWidth);
    const auto height = static_cast<std::uint32_t>(data.imageHeight);
    if (!ownPicture_) {
        ownPicture_ = std::make_unique<Picture>(ui.graphics, width, height, false);
        std::vector<std::uint32_t> pixels;
        for (const float value : own_->inputs) {
            const auto grey = static_cast<std::uint32_t>(std::lround(255 * std::clamp(value, 0.0f, 1.0f)));
            pixels.push_back(0xFF000000u | grey << 16 | grey << 8 | grey);
        }
        ownPicture_->upload(pixels);
    }
    ImGui::Image(ownPicture_->id(),
                 {ui.px(112), ui.px(112) * static_cast<float>(height) / static_cast<float>(width)});
}

// A row to type into, or the picture that was dropped; below, what each lane's network says.
bool RaceAnswers::drawOwn(Ui& ui, const RaceRun& run) {
    const Dataset& data = *run.data;
    bool asked = false;
    if (ownData_ != run.data) own_.reset(); // of other data
    if (data.table) {
        ui.muted(translatedFormat("A row with a value for each of: {}", rowHint(data)));
        ImGui::SetNextItemWidth(std::min(ui.px(520), ImGui::GetContentRegionAvail().x));
        if (const std::optional<std::string> typed =
                ui.typedText("##race own row",
                             "A row with a value for each feature, in the order above. The networks predict "
                             "its class or value as soon as you press Enter.",
                             typed_)) {
            typed_ = *typed;
            own_.reset();
            try {
                if (!typed->empty()) own_ = inputFromRow(data, *typed);
                ownData_ = run.data;
                asked = own_.has_value();
            } catch (const std::exception& error) {
                ui.say(Severity::error, error.what());
            }
        }
    }
    if (data.imageWidth > 0) ui.muted("Drop a PNG picture onto the window.");
    if (!own_) return asked;
    if (own_->picture) showOwnPicture(ui, data);
    for (const std::string& note : own_->notes)
        ui.paragraph(translatedFormat("note: {}", translated(note)), ui.theme.muted);
    constexpr std::size_t most = 5; // answers that a lane shows
    for (std::size_t lane = 0; lane < run.lanes.size(); ++lane) {
        const std::shared_ptr<Inference>& network = run.probes[lane].network;
        const std::uint64_t step = run.probes[lane].networkStep;
        const LaneSpec& spec = run.lanes[lane].spec;
        ui.text(network ? translatedFormat("{} at step {}", spec.text(), grouped(step)) : spec.text(),
                spec.gpu ? ui.theme.gpu : ui.theme.cpu, ui.fonts.strong);
        if (!network) {
            ui.muted("no prediction yet");
            continue;
        }
        std::vector<OwnAnswer> answers = answersTo(data, *network, *own_);
        answers.resize(std::min(answers.size(), most));
        for (const OwnAnswer& answer : answers) {
            const ImVec2 at = ImGui::GetCursorScreenPos();
            const float bar = ui.px(160);
            if (!std::isnan(answer.share)) {
                const ImU32 colour = faded(spec.gpu ? ui.theme.gpu : ui.theme.cpu, 0.6f);
                const float high = ImGui::GetTextLineHeight();
                ImGui::GetWindowDrawList()->AddRectFilled(
                    at, {at.x + bar * static_cast<float>(answer.share), at.y + high}, colour, ui.px(2));
                ImGui::SetCursorScreenPos({at.x + bar + ui.px(8), at.y});
            }
            ui.text(std::isnan(answer.share) ? answer.name
                                             : fmt::format("{}  {}", percent(answer.share), answer.name));
        }
    }
    return asked;
}

void RaceAnswers::showSheet(Ui& ui, const RaceRun& run) {
    if (sheet_ && sheetData_ == run.data && sheetFirst_ == first_) return;
    const Dataset& data = *run.data;
    const auto width = static_cast<std::uint32_t>(data.imageWidth);
    const auto height = static_cast<std::uint32_t>(data.imageHeight);
    if (!sheet_ || sheet_->width() != width || sheet_->height() != height * images)
        sheet_ =
            std::make_unique<Picture>(ui.graphics, width, height * static_cast<std::uint32_t>(images), false);
    std::vector<std::uint32_t> pixels;
    for (std::size_t i = 0; i < images; ++i) {
        const std::vector<std::uint32_t> image = greyImage(data, std::min(first_ + i, data.test.count - 1));
        pixels.insert(pixels.end(), image.begin(), image.end());
    }
    sheet_->upload(pixels);
    sheetData_ = run.data;
    sheetFirst_ = first_;
}

void RaceAnswers::drawImages(Ui& ui, const RaceRun& run, ImVec2 size) {
    showSheet(ui, run);
    const std::optional<LaneAnswers>& answers = run.probes[lane_].answers;
    const float line = ImGui::GetTextLineHeight();
    const float gap = ui.px(10);
    const auto columns = std::clamp<std::size_t>(static_cast<std::size_t>(size.x / ui.px(92)), 1, 12);
    // In a low room as many rows as it has, of the smallest images.
    size.y -= ImGui::GetTextLineHeightWithSpacing();
    const float lowest = ui.px(44) + line + gap;
    const auto mostRows = static_cast<std::size_t>(std::max(size.y / lowest, 1.0f));
    const std::size_t count = std::min({images, run.data->test.count - first_, columns * mostRows});
    std::vector<Tile> tiles;
    for (std::size_t i = 0; i < count; ++i) tiles.push_back(tileOf(run, answers, first_ + i));
    const auto right = std::ranges::count_if(tiles, &Tile::right);
    ui.muted(answers ? translatedFormat("{} of {} correct at step {}", right, count, grouped(answers->step))
                     : "no predictions yet");
    const std::size_t rows = (count + columns - 1) / columns;
    const float wide = (size.x + gap) / static_cast<float>(columns) - gap;
    const float high = size.y / static_cast<float>(rows) - line - gap;
    const float side = std::clamp(high, ui.px(44), wide);
    const ImVec2 start = ImGui::GetCursorScreenPos();
    for (std::size_t i = 0; i < count; ++i) {
        const float x = start.x + (wide + gap) * static_cast<float>(i % columns);
        const float y = start.y + (side + line + gap) * static_cast<float>(i / columns);
        const Place at{{x, y}, {x + side, y + side + line}};
        const Tile& tile = tiles[i];
        const auto v = [](std::size_t row) { return static_cast<float>(row) / static_cast<float>(images); };
        drawTile(ui, run, tile, sheet_->id(), v(i), v(i + 1), at);
        if (ImGui::IsMouseHoveringRect(at.min, at.max)) explainTile(ui, run, tile);
    }
    ImGui::Dummy({size.x, (side + line + gap) * static_cast<float>(rows) - gap});
}

void RaceAnswers::drawConfusion(Ui& ui, const RaceRun& run, ImVec2 size) const {
    const auto [evaluation, step] = evaluationOf(run, lane_);
    if (!evaluation || evaluation->confusion.empty()) {
        ui.muted("No evaluation on the test examples yet.");
        return;
    }
    ui.muted(translatedFormat("{} of {} test examples classified correctly at step {}",
                              percent(evaluation->accuracy), grouped(evaluation->count), grouped(step)));
    size.y -= ImGui::GetTextLineHeightWithSpacing();
    drawConfusionMatrix(ui, *evaluation, run.data->classNames, size);
}

} // namespace lockstep::demos
