#include "demos/exhibits/ladder/work_queue.h"

#include <exception>
#include <utility>

namespace lockstep::demos {

WorkQueue::WorkQueue() : thread_([this] { run(); }) {}

WorkQueue::~WorkQueue() {
    cancel();
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

void WorkQueue::post(std::string name, Work work) {
    {
        const std::lock_guard lock(mutex_);
        pieces_.push_back({std::move(name), std::move(work), std::make_shared<std::atomic<bool>>(false)});
    }
    changed_.notify_all();
}

void WorkQueue::cancel() {
    const std::lock_guard lock(mutex_);
    if (pieces_.empty()) return;
    *pieces_.front().cancelled = true;
    pieces_.erase(pieces_.begin() + 1, pieces_.end());
}

bool WorkQueue::idle() const { return pending() == 0; }

std::size_t WorkQueue::pending() const {
    const std::lock_guard lock(mutex_);
    return pieces_.size();
}

std::string WorkQueue::doing() const {
    const std::lock_guard lock(mutex_);
    return pieces_.empty() ? std::string() : pieces_.front().name;
}

void WorkQueue::wait() const {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return pieces_.empty(); });
}

std::string WorkQueue::takeError() {
    const std::lock_guard lock(mutex_);
    return std::exchange(error_, {});
}

void WorkQueue::run() {
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stop_ || !pieces_.empty(); });
        if (pieces_.empty()) return;
        const Piece piece = pieces_.front();
        lock.unlock();
        std::string error;
        try {
            if (!*piece.cancelled) piece.work(*piece.cancelled);
        } catch (const std::exception& thrown) {
            error = thrown.what();
        }
        lock.lock();
        if (!error.empty()) error_ = error;
        pieces_.pop_front();
        changed_.notify_all();
    }
}

} // namespace lockstep::demos
