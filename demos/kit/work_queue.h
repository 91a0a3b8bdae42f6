// Work that would keep the window waiting: one thread does it, one piece after the other.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "demos/kit/worker.h"

namespace lockstep::demos {

class WorkQueue {
  public:
    /// A piece of work looks at `cancelled` now and then, and ends soon once it is true.
    using Work = std::function<void(const std::atomic<bool>& cancelled)>;

    WorkQueue();
    /// Drops what has not begun, cancels what has, and waits for it.
    ~WorkQueue() { cancel(); }
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// `name` says in words what is being done.
    void post(std::string name, Work work);
    /// Drops what has not begun, and asks what has to end early. Returns at once.
    void cancel();
    bool idle() const {
        return worker_.read([](const Desk& desk) { return desk.pieces.empty(); });
    }
    /// Name of the piece under way; empty: none.
    std::string doing() const;
    void wait() const {
        worker_.wait([](const Desk& desk) { return desk.pieces.empty(); });
    }
    /// What a piece has thrown since the last call; empty: nothing.
    std::string takeFailure();

  private:
    struct Piece {
        std::string name;
        Work work;
        std::shared_ptr<std::atomic<bool>> cancelled;
    };
    struct Desk {
        std::deque<Piece> pieces; // the first one is under way
        std::string failure;

        bool wanted() const { return !pieces.empty(); }
    };

    static void work(Worker<Desk>& worker);

    Worker<Desk> worker_;
};

} // namespace lockstep::demos
