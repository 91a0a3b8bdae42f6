// Records the window as an animated picture, without disturbing what it shows.
#pragma once

#include <atomic>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demos/draw/animation.h"
#include "demos/draw/ui.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

/// Frames go to a thread that encodes them. On their way they are kept as what has changed.
class Recording {
  public:
    struct Limits {
        double seconds = 120;
        std::size_t waitingBytes = std::size_t{256} << 20; ///< of changes that are to be encoded
        std::size_t bytes = std::size_t{2} << 30;          ///< of all changes
    };
    static constexpr double framesPerSecond = 15;

    /// Begins now, in seconds of the caller's clock. Throws std::invalid_argument unless the file's name ends
    /// in .webp or .png, std::runtime_error when the file cannot be written.
    Recording(const std::filesystem::path& file, double now, const Limits& limits);
    /// Saves it, unless that fails.
    ~Recording();

    double seconds(double now) const { return now - begun_; }
    /// Whether the next frame is to be recorded. While many wait to be encoded, frames become fewer.
    bool due(double now) const;
    /// What the window shows from now on. Another size than the first ends the recording.
    void add(Pixels frame, double now);
    /// The picture stays as it is until now, and the file is written.
    void end(double now);
    bool ended() const { return ended_; }
    /// Once per frame: ends the recording at its limits. While a lane on the processor is timed, nothing is
    /// encoded after the frame under way. Returns that the file is written, or why it is not, once that is
    /// known.
    std::optional<Message> tend(bool processorTimed, double now);
    /// Waits until all that was added is encoded, while nothing is timed.
    void wait() const { queue_.wait(); }
    /// Ends it and waits for the file. Throws std::runtime_error when that cannot be written.
    Message finish(double now);

  private:
    struct Run {
        std::size_t first; // of the pixels, row by row
        std::size_t count;
    };
    struct Change {
        std::vector<Run> runs; // none: the end
        Pixels pixels;         // of the runs, one after the other, in a frame of this size
        int milliseconds = 0;
    };
    Change changeTo(const Pixels& frame) const;
    void post(Change change, double now);
    void encode(const Change& change); // on the thread
    void hold(bool held);

    std::filesystem::path file_;
    Limits limits_;
    double begun_;
    double next_; // a frame is due
    double length_ = 0;
    bool ended_ = false;
    std::string failure_;
    const char* why_ = ""; // it ended by itself
    std::size_t bytes_ = 0;
    Pixels last_;
    std::atomic<bool> held_ = false; // the thread waits
    std::atomic<std::size_t> waitingBytes_ = 0;
    std::atomic<std::size_t> written_ = 0;
    // What only the thread touches.
    Animation animation_;
    Pixels canvas_;
    WorkQueue queue_;
};

} // namespace lockstep::demos
