#include "demos/shell/recording.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/draw/animation.h"
#include "demos/shell/files.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

Recording::Recording(const std::filesystem::path& file, double now, const Limits& limits)
    : file_(file), limits_(limits), begun_(now), next_(now),
      worker_([file, limits](Worker<Desk>& worker) { encode(worker, file, limits); }) {
    requireAnimationName(file);
    requireWritable(file);
}

Recording::~Recording() {
    if (!ended_ && !last_.rgba.empty()) end(next_);
    encodeAll();
}

void Recording::encodeAll() {
    worker_.with([](Desk& desk) { desk.held = false; });
    worker_.wait();
}

Message Recording::finish(double now) {
    end(now);
    encodeAll();
    const Message end = news().value();
    if (end.severity == Severity::error) throw std::runtime_error(end.text);
    return end;
}

bool Recording::due(double now) const {
    constexpr double slack = 1e-3; // the clock of a script counts frames
    if (ended_ || now < next_ - slack) return false;
    // The first half is for all frames; the second half lasts until the end.
    const double share = 0.5 + 0.5 * seconds(now) / limits_.seconds;
    const std::size_t waiting = worker_.read([](const Desk& desk) { return desk.bytes; });
    return static_cast<double>(waiting) <= share * static_cast<double>(limits_.waitingBytes);
}

void Recording::add(Pixels frame, double now) {
    if (!last_.rgba.empty() && (frame.width != last_.width || frame.height != last_.height)) {
        why_ = "It ended when the window changed its size.";
        return end(now);
    }
    if (last_.rgba.empty()) begun_ = now;
    next_ = begun_ + (std::floor(seconds(now) * framesPerSecond + 0.5) + 1) / framesPerSecond;
    if (Change change = changeTo(frame); !change.runs.empty()) post(std::move(change), now);
    last_ = std::move(frame);
}

Recording::Change Recording::changeTo(const Pixels& frame) const {
    Change change{frame.width, frame.height, {}, {}};
    constexpr std::size_t gap = 16; // pixels: shorter ones are not worth a run of their own
    const std::size_t pixels = frame.rgba.size() / 4;
    if (last_.rgba.empty()) change.runs.push_back({0, pixels});
    const std::size_t width = frame.width;
    for (std::size_t row = 0; row < pixels && !last_.rgba.empty(); row += width) {
        if (std::memcmp(&frame.rgba[row * 4], &last_.rgba[row * 4], width * 4) == 0) continue;
        for (std::size_t i = row; i < row + width; ++i) {
            if (std::memcmp(&frame.rgba[i * 4], &last_.rgba[i * 4], 4) == 0) continue;
            Run* run = change.runs.empty() ? nullptr : &change.runs.back();
            if (run != nullptr && i <= run->first + run->count + gap)
                run->count = i + 1 - run->first;
            else
                change.runs.push_back({i, 1});
        }
    }
    for (const Run& run : change.runs) {
        const auto first = frame.rgba.begin() + static_cast<std::ptrdiff_t>(run.first * 4);
        change.rgba.insert(change.rgba.end(), first, first + static_cast<std::ptrdiff_t>(run.count * 4));
    }
    return change;
}

void Recording::post(Change change, double now) {
    change.milliseconds = static_cast<int>(std::lround(seconds(now) * 1000));
    worker_.with([&](Desk& desk) {
        desk.bytes += change.rgba.size();
        desk.changes.push_back(std::move(change));
    });
}

void Recording::end(double now) {
    if (std::exchange(ended_, true)) return;
    length_ = seconds(now);
    Change end;
    end.last = true;
    post(std::move(end), now);
}

void Recording::tend(bool processorTimed, double now) {
    const bool full = worker_.with([&](Desk& desk) {
        desk.held = processorTimed;
        return desk.full;
    });
    if (!ended_ && full) why_ = "It ended because so much has moved that the file would become too large.";
    if (!ended_ && seconds(now) >= limits_.seconds) why_ = "That is the longest that was to be recorded.";
    if (*why_ != 0) end(now);
}

std::optional<Message> Recording::news() const {
    if (const std::string failure = worker_.failure(); !failure.empty())
        return Message{Severity::error, failure, {}};
    const auto written = worker_.read([](const Desk& desk) { return desk.written; });
    if (!written) return {};
    const std::string text = fmt::format("Recording saved to {} ({:.1f} s, {})", shownName(file_), length_,
                                         amountText(static_cast<double>(*written), "B"));
    return Message{Severity::info, text, why_};
}

std::optional<Recording::Change> Recording::takeChange(Desk& desk) {
    if (!desk.wanted()) return {};
    std::optional<Change> change = std::move(desk.changes.front());
    desk.changes.pop_front();
    desk.bytes -= change->rgba.size();
    return change;
}

void Recording::encode(Worker<Desk>& worker, const std::filesystem::path& file, const Limits& limits) {
    Animation animation(file);
    Pixels canvas;
    while (const std::optional<Change> change = worker.next(takeChange)) {
        if (change->last) {
            const std::size_t bytes = animation.save(change->milliseconds);
            worker.with([&](Desk& desk) { desk.written = bytes; });
            continue;
        }
        canvas.width = change->width;
        canvas.height = change->height;
        canvas.rgba.resize(std::size_t{4} * canvas.width * canvas.height);
        const std::uint8_t* from = change->rgba.data();
        for (const Run& run : change->runs) {
            std::memcpy(&canvas.rgba[run.first * 4], from, run.count * 4);
            from += run.count * 4;
        }
        animation.add(canvas, change->milliseconds);
        if (animation.changedPixels() > limits.changedPixels)
            worker.with([](Desk& desk) { desk.full = true; });
    }
}

} // namespace lockstep::demos
