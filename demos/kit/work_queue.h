// Work that would keep the window waiting: one thread does it, one piece after the other.
#pragma once

#include <atomic>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "demos/kit/worker.h"

namespace lockstep::demos {

class WorkQueue {
  public:
    /// A piece of work looks at `cancelled` now and then, and ends soon once it is true.
    using Work = std::function<void(const std::atomic<bool>& cancelled)>;

    WorkQueue() : worker_(work) {}
    /// Drops what has not begun, cancels what has, and waits for it.
    ~WorkQueue() { cancel(); }
    WorkQueue(const WorkQueue&) = delete;
    WorkQueue& operator=(const WorkQueue&) = delete;

    /// `name` says in words what is being done.
    void post(std::string name, Work work) {
        worker_.with([&](Desk& desk) { desk.pieces.push_back({std::move(name), std::move(work)}); });
    }
    /// Drops what has not begun, and asks what has to end early. Returns at once.
    void cancel() {
        worker_.with([](Desk& desk) {
            if (desk.pieces.empty()) return;
            *desk.pieces.front().cancelled = true;
            desk.pieces.erase(desk.pieces.begin() + 1, desk.pieces.end());
        });
    }
    bool idle() const {
        return worker_.read([](const Desk& desk) { return desk.pieces.empty(); });
    }
    /// Name of the piece under way; empty: none.
    std::string doing() const {
        return worker_.read(
            [](const Desk& desk) { return desk.pieces.empty() ? std::string() : desk.pieces.front().name; });
    }
    void wait() const {
        worker_.wait([](const Desk& desk) { return desk.pieces.empty(); });
    }
    /// What a piece has thrown since the last call; empty: nothing.
    std::string takeFailure() {
        return worker_.with([](Desk& desk) { return std::exchange(desk.failure, {}); });
    }

  private:
    struct Piece {
        std::string name;
        Work work;
        std::shared_ptr<std::atomic<bool>> cancelled = std::make_shared<std::atomic<bool>>(false);
    };
    struct Desk {
        std::deque<Piece> pieces; // the first one is under way
        std::string failure;

        bool wanted() const { return !pieces.empty(); }
    };

    static void work(Worker<Desk>& worker) {
        const auto first = [](Desk& desk) {
            return desk.pieces.empty() ? std::nullopt : std::optional(desk.pieces.front());
        };
        while (const std::optional<Piece> piece = worker.next(first)) {
            std::string failure;
            try {
                if (!*piece->cancelled) piece->work(*piece->cancelled);
            } catch (const std::exception& error) {
                failure = error.what();
            }
            worker.with([&](Desk& desk) {
                if (!failure.empty()) desk.failure = std::move(failure);
                desk.pieces.pop_front();
            });
        }
    }

    Worker<Desk> worker_;
};

} // namespace lockstep::demos
