// Work that the window's thread does not do itself: one thread, one piece after the other.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace lockstep::demos {

class WorkQueue {
  public:
    /// A piece of work looks at `cancelled` now and then, and ends soon once it is true.
    using Work = std::function<void(const std::atomic<bool>& cancelled)>;

    WorkQueue();
    /// Drops what has not begun, cancels what has, and waits for it.
    ~WorkQueue();
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// `name` says what is being done, in words.
    void post(std::string name, Work work);
    /// Drops what has not begun, and asks what has to end early. Returns at once.
    void cancel();
    bool idle() const;
    /// Pieces that have not ended.
    std::size_t pending() const;
    /// Name of the piece under way; empty: none.
    std::string doing() const;
    void wait() const;
    /// What a piece has thrown since the last call; empty: nothing.
    std::string takeError();

  private:
    struct Piece {
        std::string name;
        Work work;
        std::shared_ptr<std::atomic<bool>> cancelled;
    };

    void run();

    mutable std::mutex mutex_; // guards all below
    mutable std::condition_variable changed_;
    std::deque<Piece> pieces_; // the first one is under way
    std::string error_;
    bool stop_ = false;
    std::thread thread_; // last: it uses all of the above
};

} // namespace lockstep::demos
