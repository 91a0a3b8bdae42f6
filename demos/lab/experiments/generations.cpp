// One epoch of the usual race at the peak of two decades of graphics cards, and trained on this machine.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <deque>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "demos/kit/lane_measure.h"
#include "demos/kit/roof.h"
#include "demos/lab/experiment.h"
#include "demos/words/text.h"
#include "engine/cpu/kernels.h"
#include "engine/run/make_trainer.h"
#include "engine/run/race.h"

namespace lockstep::demos {

namespace {

/// A consumer card as its maker describes it.
struct Card {
    int year; ///< in which it went on sale
    const char* name;
    int cores;        ///< fp32 lanes: "CUDA cores", "stream processors"
    int flopPerCycle; ///< of each: a multiply-add is two
    int megahertz;    ///< that the cores run at: shader clock until 2010, later the boost clock

    constexpr double gflops() const { return 1e-3 * cores * flopPerCycle * megahertz; }
    /// Without its make: "GTX 580".
    constexpr std::string_view model() const {
        const std::string_view whole = name;
        return whole.substr(whole.find(' ') + 1);
    }
};

/// The makers' data sheets and architecture white papers. By year, and within a year by peak.
constexpr Card cards[] = {
    {2006, "GeForce 8800 GTX", 128, 2, 1350}, // the extra multiplication of G80 and GT200 is not counted
    {2008, "GeForce GTX 280", 240, 2, 1296},
    {2008, "Radeon HD 4870", 800, 2, 750},
    {2010, "GeForce GTX 580", 512, 2, 1544},
    {2013, "Radeon R9 290X", 2816, 2, 1000},
    {2016, "GeForce GTX 1080", 2560, 2, 1733},
    {2018, "GeForce RTX 2080 Ti", 4352, 2, 1545},
    {2020, "Radeon RX 6900 XT", 5120, 2, 2250},
    {2020, "GeForce RTX 3090", 10496, 2, 1695},
    {2022, "Radeon RX 7900 XTX", 6144, 4, 2500}, // two instructions at a time, where a compiler can pair them
    {2022, "GeForce RTX 4090", 16384, 2, 2520},
    {2023, "GeForce RTX 4060", 3072, 2, 2460}, // a mid-range card, for comparison
    {2025, "GeForce RTX 5090", 21760, 2, 2407},
};
constexpr const Card& alexNetCard = cards[3];
static_assert(alexNetCard.year == 2010);

/// What happened when. Before 2006, arithmetic was the business of units for vertices and for pixels, in
/// formats of their own: there is no peak to compute a time from.
struct Event {
    int year;
    const char* name;
};
constexpr Event events[] = {
    {1999, "1999 fixed function"},   {2001, "2001 shaders"}, {2004, "2004 Brook"},       {2007, "2007 CUDA"},
    {2009, "2009 deep belief nets"}, {2012, "2012 AlexNet"}, {2017, "2017 tensor cores"}};

constexpr double examples = 60000;
constexpr const char* trained = "trained";
constexpr const char* atPeak = "at its measured peak";

/// The race's usual network and settings.
TrainJob usualJob(const Dataset& data) {
    TrainJob job;
    job.data = &data;
    job.shape.widths = {784, 256, 128, 10};
    return job;
}

double epochFlop() { return examples * usualJob({}).shape.flopsPerExample(); }

/// Milliseconds of an epoch.
double epochAt(double gflops) { return 1e-6 * epochFlop() / gflops; }

/// The first card that is as fast, at its peak; null: none is.
const Card* firstAsFast(double milliseconds) {
    const auto found =
        std::ranges::find_if(cards, [&](const Card& card) { return epochAt(card.gflops()) <= milliseconds; });
    return found == std::end(cards) ? nullptr : found;
}

/// "geforce_gtx_580_seconds_at_peak"
std::string numberName(std::string card) {
    for (char& letter : card)
        letter = letter == ' '                    ? '_'
                 : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32)
                                                  : letter;
    return card + "_seconds_at_peak";
}

int yearNow() {
    const auto today = std::chrono::floor<std::chrono::days>(std::chrono::system_clock::now());
    return std::max(static_cast<int>(std::chrono::year_month_day(today).year()), std::end(cards)[-1].year);
}

/// The first losses: few, as the plain loops that they are compared with are slow.
std::vector<float> lossesOf(Trainer& trainer, std::uint64_t steps) {
    trainer.run(steps);
    trainer.finish();
    std::vector<LossPoint> points;
    trainer.takeLosses(points);
    std::vector<float> losses;
    losses.reserve(points.size());
    for (const LossPoint& point : points) losses.push_back(point.loss);
    return losses;
}

/// Trains on one machine. Made ready by the first sample, so that what fails is a note of its series.
class Training {
  public:
    Training(LabBench& bench, const TrainJob& job, const std::vector<float>& expected, bool gpu)
        : bench_(bench), job_(job), expected_(expected), gpu_(gpu) {}

    /// Milliseconds of an epoch, from as many of its steps as take a third of a second.
    double milliseconds() {
        if (trainer_ == nullptr) start();
        const double begin = trainer_->trainingSeconds();
        trainer_->run(steps_);
        trainer_->finish();
        const double seconds = trainer_->trainingSeconds() - begin;
        return 1e3 * seconds / static_cast<double>(steps_) * stepsOfEpoch();
    }

  private:
    double stepsOfEpoch() const { return examples / static_cast<double>(job_.settings.batch); }

    void start() {
        // To compare kernels takes seconds, which a rough measurement has no use for.
        const LaneSpec lane{gpu_, gpu_ && bench_.rough() ? Rung::naive : Rung::best, {}};
        auto trainer = makeTrainer(job_, lane, {bench_.threads(), 0}, bench_.device(), &bench_.stop());
        const std::vector<float> losses = lossesOf(*trainer, expected_.size());
        if (!compareLosses(expected_, losses, lossTolerance(lane)).same())
            throw std::runtime_error("wrong losses, so it is not timed");
        if (!bench_.rough()) {
            const Pace pace = trainer->rehearse(0.1, 2, [&] { return !bench_.stopped(); });
            steps_ = static_cast<std::uint64_t>(std::clamp(pace.stepsPerSecond() / 3, 2.0, stepsOfEpoch()));
        }
        trainer_ = std::move(trainer);
    }

    LabBench& bench_;
    const TrainJob& job_;
    const std::vector<float>& expected_;
    bool gpu_;
    std::unique_ptr<Trainer> trainer_;
    std::uint64_t steps_ = 2;
};

void noteMachine(LabResult& result, bool gpu) {
    const std::string machine = gpu ? "gpu" : "cpu";
    const LabSeries* own = result.find(gpu, trained);
    const LabSeries* peak = result.find(gpu, atPeak);
    if (own == nullptr || own->points.empty() || peak == nullptr || peak->points.empty()) return;
    const double milliseconds = own->points.front().median;
    const double least = peak->points.front().median;
    result.numbers[machine + "_seconds"] = 1e-3 * milliseconds;
    result.numbers[machine + "_gflops"] = 1e-6 * epochFlop() / milliseconds;
    result.numbers[machine + "_peak_gflops"] = 1e-6 * epochFlop() / least;
    result.numbers[machine + "_seconds_at_peak"] = 1e-3 * least;
    result.numbers[machine + "_share_of_peak"] = least / milliseconds;
    const Card* card = firstAsFast(milliseconds);
    result.numbers[machine + "_like_card_of_year"] = card == nullptr ? yearNow() : card->year;
}

void measure(LabBench& bench, LabResult& result) {
    const Dataset data = randomPixels(784, 10, bench.rough() ? 256 : static_cast<std::size_t>(examples));
    const TrainJob job = usualJob(data);
    const auto expected = lossesOf(*makeCpuTrainer(job, Rung::scalar, 1), bench.rough() ? 1 : 5);
    const std::vector<double> now{1.0 * yearNow()};
    for (const bool gpu : {true, false}) {
        Training training(bench, job, expected, gpu);
        bench.sweep(result, {gpu, trained, now, [&](double) { return training.milliseconds(); }});
        bench.sweep(result, {gpu, atPeak, now, [&](double) {
                                 return epochAt(gpu ? registerRate(*bench.device(), bench.kernels().roof(),
                                                                   shared::roofOperations, sizeof(float),
                                                                   bench.rough())
                                                    : roofGflops(bench.team()));
                             }});
        if (bench.stopped()) return;
        noteMachine(result, gpu);
    }
    result.numbers["epoch_gigaflop"] = 1e-9 * epochFlop();
    for (const Card& card : cards) result.numbers[numberName(card.name)] = 1e-3 * epochAt(card.gflops());
    result.numbers["alexnet_cards_seconds_at_peak"] = 1e-3 * epochAt(2 * alexNetCard.gflops());
}

/// By the first card that is as fast on paper.
std::size_t choiceOf(double milliseconds) {
    const Card* card = firstAsFast(milliseconds);
    const int year = card == nullptr ? yearNow() : card->year;
    return year <= 2006 ? 0 : year < 2012 ? 1 : year < 2018 ? 2 : 3;
}

/// The rounds say which: null: they were not measured, or lie on both sides of a border.
std::optional<std::size_t> answer(const LabResult& result) {
    const LabSeries* own = result.find(true, trained);
    if (own == nullptr || own->points.empty()) return std::nullopt;
    const LabPoint& point = own->points.front();
    if (choiceOf(point.low) != choiceOf(point.high)) return std::nullopt;
    return choiceOf(point.median);
}

void conclude(const LabResult& result, MeasuredValues& values) {
    if (!result.has("gpu_seconds")) return;
    values["gpu_undecided"].number = answer(result) ? 0 : 1;
    const Card* card = firstAsFast(1e3 * result.number("gpu_seconds"));
    if (card == nullptr) return;
    values["gpu_like_card"].text = card->name;
    values["gpu_like_card_place"].number = static_cast<double>(card - cards);
    values["gpu_like_card_seconds_at_peak"].number = 1e-3 * epochAt(card->gflops());
}

/// Lines of a plot, and the numbers that they point into.
struct Lines {
    struct Numbers {
        std::vector<double> x, y;
    };
    std::deque<Numbers> numbers;
    std::vector<PlotLine> lines;

    PlotLine& add(std::string name, ImU32 colour, std::vector<double> x, std::vector<double> y) {
        const Numbers& kept = numbers.emplace_back(Numbers{std::move(x), std::move(y)});
        return lines.emplace_back(
            PlotLine{.name = std::move(name), .colour = colour, .x = kept.x, .y = kept.y});
    }
};

/// The fastest card of a year that is faster than all before.
bool leads(const Card& card) {
    return std::ranges::none_of(
        cards, [&](const Card& other) { return other.gflops() > card.gflops() && other.year <= card.year; });
}

/// Every card at its peak, a line through those that led, and AlexNet's two.
///   height   of the picture: a low one has room for the names of those that led, or of the first and the
///   last
void addCards(const Ui& ui, Lines& lines, float height) {
    std::vector<double> years, milliseconds;
    const ImU32 colour = mixed(ui.theme.text, ui.theme.muted, 0.5f);
    for (const Card& card : cards) {
        const double epoch = epochAt(card.gflops());
        const bool end = &card == cards || &card == std::end(cards) - 1;
        const bool named = end || height >= ui.px(400) || (leads(card) && height >= ui.px(220));
        if (leads(card)) {
            years.push_back(card.year);
            milliseconds.push_back(epoch);
        }
        lines.add(named ? std::string(card.model()) : "", colour, {1.0 * card.year}, {epoch}).points = true;
    }
    lines.add({}, ui.theme.muted, years, milliseconds).dotted = true;
    lines.add("AlexNet's two GTX 580", ui.theme.accent, {2012}, {epochAt(2 * alexNetCard.gflops())});
}

/// Marks that stand on the axis; their names take turns, one above the other.
void addEvents(const Ui& ui, Lines& lines, double lowest) {
    std::size_t at = 0;
    for (const Event& event : events) {
        const double year = event.year;
        const double top = lowest * std::pow(0.62, 1 + static_cast<double>(at++ % 3));
        lines.add(event.name, ui.theme.muted, {year, year}, {lowest * std::pow(0.62, 4), top});
    }
}

void draw(Ui& ui, const Experiment& experiment, const LabResult& result, LabView& view) {
    const ImVec2 room = ImGui::GetContentRegionAvail();
    Lines lines;
    addCards(ui, lines, room.y);
    double lowest = epochAt(std::end(cards)[-1].gflops());
    for (const LabSeries& series : result.series) {
        if (series.points.empty() || !draws(view, experiment, result, series)) continue;
        const LabPoint& point = series.points.front();
        lowest = std::min(lowest, point.median);
        styleLabLine(ui.theme,
                     lines.add(fmt::format("{}: {}", view.nameOf(series), duration(1e-3 * point.median)), 0,
                               {1.0 * cards[0].year, point.x}, {point.median, point.median}),
                     series.gpu, series.name == trained ? 0 : 1);
    }
    if (room.y >= ui.px(300)) addEvents(ui, lines, lowest);
    view.plot.draw(ui, "lab", labPlotWords, lines.lines,
                   {.x = {.title = std::string(experiment.x.title), .unit = {}, .whole = true},
                    .y = {.title = std::string(experiment.y.title),
                          .unit = std::string(experiment.y.unit),
                          .log = true,
                          .measured = true},
                    .size = {room.x, std::max(room.y, ui.px(120))},
                    .legend = false,
                    .overlay = builtInLegend});
}

/// A column per card: its peak by year, in powers of ten.
LabScene scene() {
    LabScene scene{.beats = 20, .lines = {{0, 5.9f, 16, 5.9f}}, .labels = {{0, 1.2f, "GPUs, year by year"}}};
    const Card* last = nullptr;
    for (const Card& card : cards) {
        if (last != nullptr && card.gflops() <= last->gflops()) continue;
        last = &card;
        const float height = 2 * static_cast<float>(std::log10(card.gflops()) - 2.2);
        const double year = card.year - cards[0].year;
        scene.blocks.push_back(
            {0.78f * static_cast<float>(year), 5.8f - height, 0.7f, height, 0.8 * year, 0.8 * year});
    }
    return scene;
}

LabVerdict verdict(const LabResult& result) {
    const Card* card = firstAsFast(1e3 * result.number("gpu_seconds"));
    if (card == nullptr)
        return {duration(result.number("gpu_seconds")),
                std::string(translated("an epoch: none of these cards is as fast"))};
    return {fmt::format("{}", card->year),
            translatedFormat("{}: {} at its peak; this GPU took {}", card->name,
                             duration(1e-3 * epochAt(card->gflops())),
                             duration(result.number("gpu_seconds")))};
}

} // namespace

extern const Experiment generations{
    .place = 130,
    .name = "generations",
    .title = "Twenty years of graphics cards",
    .idea =
        "The cards' times are computed: the FLOP of an epoch (784-256-128-10, 60,000 examples) divided by a "
        "card's peak, which is cores × FLOP per cycle × clock. No training reaches it. Your own machine is "
        "measured. Before 2006, cards had no cores for general arithmetic, so they have no time.",
    .group = LabGroup::work,
    .scene = scene,
    .question = "Your GPU trains the epoch for real. Which year's card is the first that matches it on "
                "paper, at its peak?",
    .choices = {"2006 or earlier", "2007 to 2011", "2012 to 2017", "2018 or later"},
    .x = {.title = "year", .log = false, .calendar = true},
    .y = {.title = "one epoch", .unit = "ms"},
    .lines = {"GPU trained", "CPU trained"},
    .sources = {"generations.cpp", "step.cpp"},
    .link = {"Run this race", "race",
             R"({"data": "fashion-mnist", "hidden": [256, 128], "finish": {"epochs": 1},
                 "lanes": ["cpu:best", "gpu:best"]})"},
    .measure = measure,
    .answer = answer,
    .verdict = verdict,
    .conclude = conclude,
    .draw = draw};

} // namespace lockstep::demos
