// A population on a processor: every thread takes the next unfinished block of networks and trains it to its
// end.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <stdexcept>
#include <string>

#include "engine/cpu/cpu_info.h"
#include "engine/cpu/thread_team.h"
#include "engine/grid/population_block.h"
#include "engine/net/param_layout.h"
#include "engine/plane/plane_colours.h"
#include "engine/step/work_sizer.h"

namespace lockstep {

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// The Euclidean norm of all weights, biases not counted.
float weightNorm(const ParamLayout& layout, std::span<const float> parameters) {
    double sum = 0;
    for (std::size_t l = 0; l < layout.layers(); ++l)
        for (const float weight :
             parameters.subspan(layout.layer(l).weightOffset, layout.layer(l).weightCount()))
            sum += static_cast<double>(weight) * static_cast<double>(weight);
    return static_cast<float>(std::sqrt(sum));
}

constexpr std::uint64_t never = std::numeric_limits<std::uint64_t>::max();

class CpuPopulation final : public Population {
  public:
    CpuPopulation(const PopulationJob& job, std::size_t threads, bool vectors)
        : Population(job), layout_(job.shape), team_(threads), results_(job.members.size()),
          evaluatedAt_(job.members.size(), never) {
        const Clock::time_point start = Clock::now();
        blocks_ = vectors ? vectorPopulationBlocks(job_, vectorLevel()) : plainPopulationBlocks(job_);
        machine_.device = cpuName();
        machine_.threads = team_.size();
        machine_.kernels = vectors ? std::string("built-in kernels, one network per vector element, ") +
                                         lockstep::name(vectorLevel())
                                   : "plain loops, one network after the other";
        warmUpSeconds_ = secondsSince(start);
    }

    /// Blocks are taken in their order, so those that a call has left unfinished are the first of the next
    /// one.
    bool advance(double milliseconds) override {
        const Clock::time_point start = Clock::now();
        const Clock::time_point end =
            start + std::chrono::duration_cast<Clock::duration>(Milliseconds(milliseconds));
        // Steps between two looks at the clock: about a millisecond of them.
        forBlocks([&, slice = WorkSizer({1, 1 << 20, 1, true}), now = start](PopulationBlock& block) mutable {
            while (!finished(block) && now < end) {
                const Clock::time_point before = now;
                const std::uint64_t steps = std::min(slice.units(), job_.steps - block.step());
                block.train(steps);
                now = Clock::now();
                const double took = Milliseconds(now - before).count();
                // Steps that ended early, because the networks diverged, cost nothing: they may seem quick.
                const bool whole = steps == slice.units() && !block.allDiverged();
                if (whole || took > 2 * slice.target()) slice.add(static_cast<double>(steps), took);
            }
        });
        trainingSeconds_ += secondsSince(start);
        return !std::ranges::all_of(blocks_, [this](const auto& block) { return finished(*block); });
    }

    void trainTo(std::uint64_t step) override {
        const Clock::time_point start = Clock::now();
        const std::uint64_t last = std::min(step, job_.steps);
        forBlocks([last](PopulationBlock& block) {
            if (block.step() < last) block.train(last - block.step());
        });
        trainingSeconds_ += secondsSince(start);
    }

    void reset() override {
        forBlocks([](PopulationBlock& block) { block.reset(); });
    }

    std::vector<MemberResult> results() override {
        forBlocks([this](PopulationBlock& block) { evaluate(block); });
        return results_;
    }

    std::vector<float> parameters(std::size_t member) override {
        for (const auto& block : blocks_) {
            const std::span<const std::uint32_t> members = block->members();
            const auto found = std::ranges::find(members, member);
            if (found != members.end())
                return block->parameters(static_cast<std::size_t>(found - members.begin()));
        }
        throw std::out_of_range("the population has no network " + std::to_string(member));
    }

    std::vector<std::uint32_t> decisionMaps(const DecisionMapOptions& options) override {
        options.validate(job_);
        const std::vector<float> points = options.points();
        std::vector<std::uint32_t> picture(std::size_t{options.width()} * options.height(job_.members.size()),
                                           options.colours.background);
        forBlocks([&](PopulationBlock& block) { paint(block, options, points, picture); });
        return picture;
    }

  private:
    /// Every thread takes the next block that is left, until there is none, with a copy of `work` of its own.
    /// Throws what that throws.
    template <class Work> void forBlocks(const Work& work) {
        std::atomic<std::size_t> next{0};
        std::atomic<bool> failed{false};
        std::exception_ptr failure; // the first one: no exception may leave a team's thread
        team_.run([&](std::size_t) {
            try {
                Work own = work;
                for (std::size_t block = next++; block < blocks_.size(); block = next++) own(*blocks_[block]);
            } catch (...) {
                if (!failed.exchange(true)) failure = std::current_exception();
            }
        });
        if (failure) std::rethrow_exception(failure);
    }

    bool finished(const PopulationBlock& block) const {
        return block.step() >= job_.steps || block.allDiverged();
    }
    void evaluate(PopulationBlock& block) {
        const std::span<const std::uint32_t> members = block.members();
        std::uint64_t& evaluatedAt = evaluatedAt_[members.front()];
        if (evaluatedAt == block.step()) return;
        const Dataset& data = *job_.data.front();
        const std::size_t count = data.of(evaluatedSplit(data)).count;
        const std::size_t terms = lossTerms(job_.shape.loss, count, job_.shape.outputs());
        const std::vector<ScoreSum> scores = block.score();
        for (std::size_t element = 0; element < members.size(); ++element) {
            MemberResult& result = results_[members[element]];
            result = block.state(element);
            result.weightNorm = weightNorm(layout_, block.parameters(element));
            if (!result.begun()) continue;
            result.loss = static_cast<float>(scores[element].loss / static_cast<double>(terms));
            if (data.classes > 0)
                result.accuracy = static_cast<float>(static_cast<double>(scores[element].correct) /
                                                     static_cast<double>(count));
        }
        evaluatedAt = block.step();
    }

    /// The tiles of a block's members.
    void paint(PopulationBlock& block, const DecisionMapOptions& options, std::span<const float> points,
               std::vector<std::uint32_t>& picture) {
        const std::size_t rows = std::size_t{options.cells} * options.cells;
        const std::size_t outputs = job_.shape.outputs();
        const std::vector<float> answers = block.answers(points, rows);
        for (std::size_t element = 0; element < block.members().size(); ++element) {
            const std::size_t member = block.members()[element];
            const std::size_t corner = member / options.columns * options.cells * options.width() +
                                       member % options.columns * options.cells;
            for (std::size_t row = 0; row < rows; ++row)
                picture[corner + row / options.cells * options.width() + row % options.cells] =
                    answerColour(job_.shape, {answers.data() + (element * rows + row) * outputs, outputs},
                                 options.colours);
        }
    }

    const ParamLayout layout_;
    PopulationBlocks blocks_;
    ThreadTeam team_;
    std::vector<MemberResult> results_;      // of each block's last evaluation
    std::vector<std::uint64_t> evaluatedAt_; // that block's step then, by its first member
};

} // namespace

std::unique_ptr<Population> makeCpuPopulation(const PopulationJob& job, std::size_t threads, bool vectors) {
    job.validate();
    return std::make_unique<CpuPopulation>(job, threads == 0 ? usableCores() : threads, vectors);
}

} // namespace lockstep
