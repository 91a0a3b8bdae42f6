#include "demos/shell/recording.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

#include "demos/shell/files.h"
#include "demos/words/text.h"
#include "engine/files/atomic_file.h"

namespace lockstep::demos {

Recording::Recording(const std::filesystem::path& file, double now, const Limits& limits)
    : file_(file), limits_(limits), begun_(now), next_(now), animation_(file) {
    requireWritable(file);
}

Recording::~Recording() {
    hold(false);
    try {
        if (failure_.empty() && written_ == 0 && !last_.rgba.empty()) finish(next_);
    } catch (const std::exception&) {
        // The window is gone, and with it the place to say so.
    }
}

bool Recording::due(double now) const {
    constexpr double slack = 1e-3; // a script's clock adds up frames
    // The first half is for all frames; the second half has to last until the end.
    const double share = 0.5 + 0.5 * seconds(now) / limits_.seconds;
    return !ended_ && now >= next_ - slack &&
           static_cast<double>(waitingBytes_) <= share * static_cast<double>(limits_.waitingBytes);
}

void Recording::add(Pixels frame, double now) {
    if (last_.rgba.empty()) {
        begun_ = now;
    } else if (frame.width != last_.width || frame.height != last_.height) {
        why_ = "It ended because the window changed its size.";
        return end(now);
    }
    next_ = begun_ + (std::round(seconds(now) * framesPerSecond) + 1) / framesPerSecond;
    Change change = changeTo(frame);
    last_ = std::move(frame);
    if (change.runs.empty()) return;
    waitingBytes_ += change.pixels.rgba.size();
    bytes_ += change.pixels.rgba.size();
    post(std::move(change), now);
}

Recording::Change Recording::changeTo(const Pixels& frame) const {
    Change change;
    change.pixels = {frame.width, frame.height, {}};
    constexpr std::size_t gap = 16; // pixels: a shorter one is not worth a new run
    std::vector<Run>& runs = change.runs;
    if (last_.rgba.empty()) runs.push_back({0, frame.rgba.size() / 4});
    for (std::size_t i = 0; i < last_.rgba.size() / 4; ++i) {
        if (std::memcmp(&frame.rgba[i * 4], &last_.rgba[i * 4], 4) == 0) continue;
        if (runs.empty() || i > runs.back().first + runs.back().count + gap) runs.push_back({i, 0});
        runs.back().count = i + 1 - runs.back().first;
    }
    for (const Run& run : runs) {
        const auto first = frame.rgba.begin() + static_cast<std::ptrdiff_t>(run.first * 4);
        change.pixels.rgba.insert(change.pixels.rgba.end(), first,
                                  first + static_cast<std::ptrdiff_t>(run.count * 4));
    }
    return change;
}

void Recording::end(double now) {
    if (std::exchange(ended_, true)) return;
    length_ = seconds(now);
    post({}, now);
}

void Recording::post(Change change, double now) {
    change.milliseconds = static_cast<int>(std::lround(seconds(now) * 1000));
    const auto shared = std::make_shared<const Change>(std::move(change)); // the queue copies its work
    queue_.post("recording", [this, shared](const auto&) { encode(*shared); });
}

void Recording::hold(bool held) {
    held_ = held;
    held_.notify_all();
}

std::optional<Message> Recording::tend(bool processorTimed, double now) {
    hold(processorTimed);
    if (!ended_ && bytes_ > limits_.bytes) why_ = "It ended because its file would become too large.";
    if (!ended_ && seconds(now) >= limits_.seconds) why_ = "It ended because its time was up.";
    if (*why_ != 0) end(now);
    if (failure_.empty()) failure_ = queue_.takeFailure();
    if (!failure_.empty()) return Message{Severity::error, failure_, {}};
    if (written_ == 0) return {};
    return Message{Severity::info,
                   translatedFormat("Recording saved to {} ({:.1f} s, {})", shownName(file_), length_,
                                    amountText(static_cast<double>(written_), "B")),
                   why_};
}

Message Recording::finish(double now) {
    end(now);
    hold(false);
    queue_.wait();
    const Message message = tend(false, now).value();
    if (message.severity == Severity::error) throw std::runtime_error(message.text);
    return message;
}

void Recording::encode(const Change& change) {
    held_.wait(true);
    if (change.runs.empty()) {
        written_ = animation_.save(change.milliseconds);
        return;
    }
    canvas_.width = change.pixels.width;
    canvas_.height = change.pixels.height;
    canvas_.rgba.resize(std::size_t{4} * canvas_.width * canvas_.height);
    const std::uint8_t* from = change.pixels.rgba.data();
    for (const Run& run : change.runs) {
        std::memcpy(&canvas_.rgba[run.first * 4], from, run.count * 4);
        from += run.count * 4;
    }
    waitingBytes_ -= change.pixels.rgba.size();
    animation_.add(canvas_, change.milliseconds);
}

} // namespace lockstep::demos
