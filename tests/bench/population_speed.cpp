// A population of small networks: network-steps per second of every lane, and of the same networks one after
// another on the fastest lane for a single one. Each lane is checked against cpu:scalar first; then all run
// in turn.
//
//   population_speed [--widths 2,8,8,1] [--activation tanh] [--batch 10] [--members 1024] [--seeds
//   same|different]
//                    [--lanes cpu:scalar,...] [--threads N] [--device DEVICE] [--steps N] [--rounds N]
//                    [--seconds S]
//                    [--json FILE] [--exchange FILE]
//
//   --seeds      same: one order of examples for all networks, which differ in rate and scale; different:
//   each its own
//   --steps      compared before anything is timed [50]
//   --seconds    of each timed run [0.5]; --rounds of them [5]
//   --exchange   writes data, initial weights and the losses of the first steps in file order, for
//   pytorch_population.py
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/data/data_source.h"
#include "engine/gpu/device.h"
#include "engine/grid/population.h"
#include "engine/net/param_layout.h"
#include "engine/run/make_trainer.h"

using namespace lockstep;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

namespace {

struct Options {
    std::map<std::string, std::string> values{
        {"--widths", "2,8,8,1"}, {"--activation", "tanh"}, {"--batch", "10"},    {"--members", "1024"},
        {"--seeds", "same"},     {"--lanes", ""},          {"--threads", "0"},   {"--device", ""},
        {"--steps", "50"},       {"--rounds", "5"},        {"--seconds", "0.5"}, {"--json", ""},
        {"--exchange", ""}};

    explicit Options(const std::vector<std::string>& arguments) {
        for (std::size_t i = 0; i < arguments.size(); i += 2) {
            const auto option = values.find(arguments[i]);
            if (option == values.end())
                throw std::invalid_argument("unknown option '" + arguments[i] +
                                            "' (see the top of this program's source)");
            if (i + 1 == arguments.size())
                throw std::invalid_argument("'" + arguments[i] + "' needs a value");
            option->second = arguments[i + 1];
        }
    }
    const std::string& text(const std::string& name) const { return values.at(name); }
    std::size_t number(const std::string& name) const { return std::stoul(values.at(name)); }
    std::vector<std::string> list(const std::string& name) const {
        std::vector<std::string> parts;
        std::stringstream stream(values.at(name));
        for (std::string part; std::getline(stream, part, ',');) parts.push_back(part);
        return parts;
    }
};

/// Plain SGD on the spiral; rates and scales on a logarithmic grid in which nothing diverges.
PopulationJob jobFrom(const Options& options, const Dataset& data) {
    PopulationJob job;
    job.data = {&data};
    for (const std::string& width : options.list("--widths")) job.shape.widths.push_back(std::stoul(width));
    job.shape.loss = Loss::meanSquared;
    job.settings.optimizer.kind = Optimizer::sgd;
    job.settings.batch = options.number("--batch");
    job.steps = 10'000'000;
    const std::size_t count = options.number("--members");
    for (std::size_t k = 0; k < count; ++k) {
        PopulationMember member;
        member.seed = options.text("--seeds") == "different" ? k + 1 : 1;
        member.learningRate = 0.001 * std::pow(50.0, static_cast<double>(k) / static_cast<double>(count));
        member.initialScale = 0.5 + 0.1 * static_cast<double>(k % 8);
        member.activation = activationFromName(options.text("--activation"));
        job.members.push_back(member);
    }
    return job;
}

/// The losses of the first steps of one member, trained alone by the plain loops.
std::vector<float> lossesAlone(const PopulationJob& job, std::size_t member, std::uint64_t steps) {
    PopulationJob one = job;
    one.members = {job.members[member]};
    const auto population = makeCpuPopulation(one, 1, false);
    std::vector<float> losses;
    for (std::uint64_t step = 1; step <= steps; ++step) {
        population->trainTo(step);
        losses.push_back(population->results()[0].batchLoss);
    }
    return losses;
}

/// The largest relative difference of some members' batch losses in the first steps; infinite when one is no
/// number.
double largestDifference(const PopulationJob& job, Population& population, std::uint64_t steps) {
    const std::size_t last = job.members.size() - 1;
    std::map<std::size_t, std::vector<float>> expected;
    for (const std::size_t member : {std::size_t{0}, last / 3, last / 2, last})
        expected[member] = lossesAlone(job, member, steps);
    double largest = 0;
    for (std::uint64_t step = 0; step < steps; ++step) {
        population.trainTo(step + 1);
        const std::vector<MemberResult> results = population.results();
        for (const auto& [member, losses] : expected) {
            const auto wanted = static_cast<double>(losses[step]);
            // Below 1e-3 a loss is the difference of numbers that are large beside it.
            const double difference =
                std::abs(static_cast<double>(results[member].batchLoss) - wanted) / std::fmax(wanted, 1e-3);
            largest = std::isnan(difference) ? INFINITY : std::fmax(largest, difference);
        }
    }
    return largest;
}

struct Spread {
    double median, lowest, highest;
    Json json() const { return {{"median", median}, {"lowest", lowest}, {"highest", highest}}; }
};

Spread spreadOf(std::vector<double> values) {
    std::ranges::sort(values);
    return {values[values.size() / 2], values.front(), values.back()};
}

/// Steps per second of what `train(steps)` trains, over `seconds` at least.
template <class Train> double stepsPerSecond(const Train& train, double seconds) {
    std::uint64_t steps = 0;
    double passed = 0;
    const Clock::time_point start = Clock::now();
    for (std::uint64_t chunk = 16; passed < seconds;) {
        train(chunk);
        steps += chunk;
        passed = std::chrono::duration<double>(Clock::now() - start).count();
        // As many as are missing, so that there is one long chunk, at whose end threads wait for each other.
        const double missing = (seconds - passed) / passed * static_cast<double>(steps);
        chunk = std::clamp<std::uint64_t>(static_cast<std::uint64_t>(std::fmax(missing, 1.0)), 16, 8 * steps);
    }
    return static_cast<double>(steps) / passed;
}

/// One row of the results.
struct Side {
    std::string name;
    std::unique_ptr<Population> population; ///< null for what is not measured, and for single networks
    double difference = 0;
    std::string reason; ///< why it is not measured
    std::vector<double> speeds;
};

constexpr double tolerance = 1e-4;

Side sideFor(const std::string& lane, const PopulationJob& job, const Options& options, gpu::Device* device,
             const std::string& noDevice) {
    Side side{lane, nullptr, 0, "", {}};
    try {
        const LaneSpec spec = laneSpecFromText(lane, knownPopulationLanes());
        if (spec.gpu && device == nullptr) throw std::runtime_error(noDevice);
        side.population = makePopulation(job, spec, options.number("--threads"), device);
        side.difference = largestDifference(job, *side.population, options.number("--steps"));
        if (!(side.difference < tolerance))
            side.reason = fmt::format("DIFFERS from cpu:scalar by {:.1e}", side.difference);
    } catch (const std::exception& error) {
        side.reason = error.what();
    }
    return side;
}

double speedOf(Side& side, const PopulationJob& job, double seconds) {
    Population& population = *side.population;
    population.reset();
    std::uint64_t step = 0;
    return static_cast<double>(job.members.size()) *
           stepsPerSecond([&](std::uint64_t steps) { population.trainTo(step += steps); }, seconds);
}

/// Some of the networks, each by a trainer of its own, one after the other.
double speedAlone(std::vector<std::unique_ptr<Trainer>>& trainers, double seconds) {
    const auto train = [&](std::uint64_t steps) {
        for (const auto& trainer : trainers) trainer->run(steps);
    };
    return static_cast<double>(trainers.size()) * stepsPerSecond(train, seconds);
}

std::vector<std::unique_ptr<Trainer>> trainersAlone(const PopulationJob& job, std::size_t threads) {
    constexpr std::size_t sample = 8;
    std::vector<std::unique_ptr<Trainer>> trainers;
    for (std::size_t k = 0; k < sample; ++k)
        trainers.push_back(makeTrainer(job.alone(k * job.members.size() / sample),
                                       laneSpecFromText("cpu:best"), {.threads = threads}, nullptr));
    return trainers;
}

Json describe(const Side& side) {
    Json row{{"lane", side.name}};
    if (side.population != nullptr) {
        const MachineInfo& machine = side.population->machine();
        row["device"] = machine.device + (machine.software ? ", software, not a GPU" : "");
        row["threads"] = machine.threads;
        row["kernels"] = machine.kernels;
        row["largest_difference"] = side.difference;
    }
    row["verified"] = side.reason.empty();
    if (!side.reason.empty()) row["not_measured"] = side.reason;
    if (!side.speeds.empty()) row["network_steps_per_second"] = spreadOf(side.speeds).json();
    return row;
}

void print(const Side& side) {
    if (side.speeds.empty()) {
        fmt::print("| {:<22} | not measured: {}\n", side.name, side.reason);
        return;
    }
    const Spread speed = spreadOf(side.speeds);
    fmt::print("| {:<22} | {:>8.3f} ({:.3f}-{:.3f}) | {:>7.0e} | {}\n", side.name, speed.median * 1e-6,
               speed.lowest * 1e-6, speed.highest * 1e-6, side.difference,
               side.population == nullptr ? side.reason : side.population->machine().kernels);
}

void write(const std::string& name, const Json& document) {
    if (name.empty()) return;
    std::ofstream file(name);
    file << document.dump(1) << "\n";
    if (!file.flush()) throw std::runtime_error("cannot write " + name);
}

/// Weights without the arena's padding, layer by layer: W, then b.
std::vector<float> dense(const NetShape& shape, const std::vector<float>& arena) {
    const ParamLayout layout(shape);
    std::vector<float> numbers;
    for (std::size_t l = 0; l < layout.layers(); ++l) {
        const LayerLayout& place = layout.layer(l);
        for (std::size_t o = 0; o < place.outputs; ++o)
            for (std::size_t i = 0; i < place.inputs; ++i)
                numbers.push_back(arena[place.weightOffset + o * place.rowStride + i]);
        for (std::size_t o = 0; o < place.outputs; ++o) numbers.push_back(arena[place.biasOffset + o]);
    }
    return numbers;
}

/// What another program needs to train the same networks, and the losses that it should find.
void writeExchange(const std::string& name, PopulationJob job, std::size_t threads) {
    if (name.empty()) return;
    job.settings.shuffle = false;
    const auto population = makeCpuPopulation(job, threads);
    Json members = Json::array(), losses = Json::array();
    for (std::size_t k = 0; k < job.members.size(); ++k)
        members.push_back({{"rate", job.members[k].learningRate.value()},
                           {"weights", dense(job.shape, job.initialParameters(k))}});
    for (std::uint64_t step = 1; step <= 20; ++step) {
        population->trainTo(step);
        Json ofStep = Json::array();
        for (const MemberResult& result : population->results()) ofStep.push_back(result.batchLoss);
        losses.push_back(ofStep);
    }
    const Examples& train = job.data.front()->train;
    write(name, {{"widths", job.shape.widths},
                 {"activation", lockstep::name(job.members.front().activation)},
                 {"batch", job.settings.batch},
                 {"values", train.values},
                 {"labels", train.labels},
                 {"members", members},
                 {"losses", losses}});
}

bool measure(const Options& options) {
    const Dataset data = loadDataset("spiral");
    const PopulationJob job = jobFrom(options, data);
    job.validate();
    writeExchange(options.text("--exchange"), job, options.number("--threads"));

    std::vector<std::string> lanes = options.list("--lanes");
    if (lanes.empty()) lanes.assign(knownPopulationLanes().begin(), knownPopulationLanes().end());
    std::unique_ptr<gpu::Device> device;
    std::string noDevice;
    if (std::ranges::any_of(lanes, [](const std::string& lane) { return lane.starts_with("gpu"); })) try {
            gpu::DeviceOptions wanted;
            wanted.select = options.text("--device");
            device = std::make_unique<gpu::Device>(wanted);
        } catch (const std::exception& error) {
            noDevice = error.what();
        }

    std::vector<Side> sides;
    for (const std::string& lane : lanes)
        sides.push_back(sideFor(lane, job, options, device.get(), noDevice));
    auto trainers = trainersAlone(job, options.number("--threads"));
    Side alone{
        "one after another", nullptr, 0, "cpu:best, 8 of them; " + trainers.front()->machine().kernels, {}};
    const double seconds = std::stod(options.text("--seconds"));
    for (std::size_t round = 0; round < options.number("--rounds"); ++round) {
        for (Side& side : sides)
            if (side.reason.empty()) side.speeds.push_back(speedOf(side, job, seconds));
        alone.speeds.push_back(speedAlone(trainers, seconds));
    }

    fmt::print("{} networks {}, batch {}: millions of network-steps per second\n", job.members.size(),
               job.shape.describeWidths(), job.settings.batch);
    fmt::print("| lane                   | median (lowest-highest) | differs | kernels\n|-|-|-|-|\n");
    Json rows = Json::array();
    for (const Side& side : sides) {
        print(side);
        rows.push_back(describe(side));
    }
    print(alone);
    write(options.text("--json"), {{"widths", job.shape.widths},
                                   {"members", job.members.size()},
                                   {"batch", job.settings.batch},
                                   {"seeds", options.text("--seeds")},
                                   {"lanes", rows},
                                   {"one_after_another", spreadOf(alone.speeds).json()}});
    return std::ranges::all_of(sides, [](const Side& side) { return side.difference < tolerance; });
}

} // namespace

int main(int count, char** arguments) {
    try {
        return measure(Options({arguments + 1, arguments + count})) ? 0 : 1;
    } catch (const std::exception& error) {
        fmt::print(stderr, "population_speed: {}\n", error.what());
        return 1;
    }
}
