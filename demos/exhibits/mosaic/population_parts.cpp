#include "demos/exhibits/mosaic/population_parts.h"

#include <algorithm>

namespace lockstep::demos {

namespace {

PopulationJob partOf(const PopulationJob& job, std::size_t first, std::size_t count) {
    PopulationJob part = job;
    const auto begin = job.members.begin() + static_cast<std::ptrdiff_t>(first);
    part.members.assign(begin, begin + static_cast<std::ptrdiff_t>(count));
    return part;
}

} // namespace

PopulationParts::PopulationParts(const PopulationJob& job, std::size_t rowLength, const Make& make)
    : job_(job) {
    const std::size_t all = job.members.size();
    const std::size_t length = rowLength == 0 ? all : rowLength;
    for (std::size_t first = 0; first < all; first += length) {
        const std::size_t count = std::min(length, all - first);
        parts_.push_back({count, 0, make(partOf(job, first, count))});
    }
}

bool PopulationParts::advance(double milliseconds) {
    const auto goesOn = [&](Part& part) { return part.population->advance(milliseconds); };
    return std::ranges::any_of(parts_, goesOn); // the first that is not at its end
}

void PopulationParts::bring(Part& part, std::uint64_t step) {
    if (step <= part.reached) return;
    part.population->trainTo(step);
    part.reached = step;
}

void PopulationParts::trainTo(std::uint64_t step) {
    for (Part& part : parts_) bring(part, std::min(step, job_.steps));
}

void PopulationParts::trainBy(std::uint64_t networkSteps) {
    asked_ += networkSteps;
    std::uint64_t left = asked_;
    for (Part& part : parts_) {
        const std::uint64_t share = std::min<std::uint64_t>(left, part.members * job_.steps);
        bring(part, share / part.members);
        left -= share;
    }
}

void PopulationParts::reset() {
    asked_ = 0;
    for (Part& part : parts_) {
        part.population->reset();
        part.reached = 0;
    }
}

std::vector<MemberResult> PopulationParts::results() {
    std::vector<MemberResult> all;
    for (Part& part : parts_) {
        const std::vector<MemberResult> some = part.population->results();
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

PopulationSummary PopulationParts::summary(const std::vector<MemberResult>& results) {
    return parts_.size() == 1 ? parts_.front().population->summary() : summarise(job_, results);
}

std::vector<float> PopulationParts::parameters(std::size_t member) {
    auto part = parts_.begin();
    for (; member >= part->members; ++part) member -= part->members;
    return part->population->parameters(member);
}

std::vector<std::uint32_t> PopulationParts::decisionMaps(const DecisionMapOptions& options) {
    std::vector<std::uint32_t> all;
    for (Part& part : parts_) {
        const std::vector<std::uint32_t> some = part.population->decisionMaps(options);
        all.insert(all.end(), some.begin(), some.end());
    }
    return all;
}

std::optional<DevicePicture> PopulationParts::decisionMapsOnDevice(const DecisionMapOptions& options) {
    if (parts_.size() > 1) return std::nullopt;
    return parts_.front().population->decisionMapsOnDevice(options);
}

double PopulationParts::trainingSeconds() const {
    double seconds = 0;
    for (const Part& part : parts_) seconds += part.population->trainingSeconds();
    return seconds;
}

} // namespace lockstep::demos
