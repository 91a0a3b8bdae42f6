// Records the window as an animated picture, without disturbing what it shows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/png.h"
#include "demos/draw/ui.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

/// Frames go to a thread that encodes them. On their way they are kept as what has changed.
class Recording {
  public:
    struct Limits {
        double seconds = 120;
        std::size_t waitingBytes = std::size_t{256} << 20; ///< of frames that wait to be encoded
        std::uint64_t changedPixels = 250'000'000;         ///< Animation::changedPixels()
    };
    static constexpr double framesPerSecond = 15;

    /// Begins now, in seconds of the caller's clock. Throws std::invalid_argument for another ending than
    /// .webp and .png, std::runtime_error when the file cannot be written.
    Recording(const std::filesystem::path& file, double now, const Limits& limits);
    /// Ends it, and waits until the file is written.
    ~Recording();

    double seconds(double now) const { return now - begun_; }
    /// Whether the next frame is to be recorded. While the encoder is behind, frames become fewer.
    bool due(double now) const;
    /// What the window shows from now on. Another size than the first ends the recording.
    void add(Pixels frame, double now);
    /// The picture as it is stays until now, and the file is written.
    void end(double now);
    bool ended() const { return ended_; }

    /// While a lane on the processor is timed, encoding waits. Also ends the recording once it is full.
    void tend(bool processorTimed, double now);
    /// Waits until all that was added is encoded.
    void wait() const { worker_.wait(); }
    /// That the file is written, or why it is not; empty until then.
    std::optional<Message> news() const;
    /// Ends it and waits for the file. Throws std::runtime_error when that cannot be written.
    Message finish(double now);

  private:
    /// Pixels from `first` on, row by row.
    struct Run {
        std::size_t first;
        std::size_t count;
    };
    struct Change {
        std::uint32_t width = 0;
        std::uint32_t height = 0;
        std::vector<Run> runs;
        std::vector<std::uint8_t> rgba; // of the runs, one after the other
        int milliseconds = 0;
        bool last = false; // no change: the end
    };
    struct Desk {
        std::deque<Change> changes;
        std::size_t bytes = 0; // of the changes
        bool held = false;
        bool full = false;
        std::optional<std::size_t> written; // bytes of the file

        bool wanted() const { return !changes.empty() && !held; }
    };

    static void encode(Worker<Desk>& worker, const std::filesystem::path& file, const Limits& limits);
    static std::optional<Change> takeChange(Desk& desk);
    Change changeTo(const Pixels& frame) const;
    void post(Change change, double now);
    void encodeAll();

    std::filesystem::path file_;
    Limits limits_;
    double begun_;
    double next_;
    double length_ = 0; // once it is ended
    bool ended_ = false;
    const char* why_ = ""; // it ended by itself
    Pixels last_;
    Worker<Desk> worker_; // last: its thread ends first
};

} // namespace lockstep::demos
