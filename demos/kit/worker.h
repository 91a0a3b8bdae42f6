// A thread that works for an exhibit, and what the two share.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace lockstep::demos {

/// One thread beside the window's. `Shared` holds requests on their way to it and news on their way back; it
/// is only touched under a lock, for as long as copying takes, so neither side ever waits for the other's
/// work. Shared::wanted() says whether a request is open.
template <class Shared> class Worker {
  public:
    /// `work` runs on the thread: it calls next() until that returns nothing. An exception ends it and is
    /// kept as failure().
    explicit Worker(std::function<void(Worker&)> work, Shared first = {})
        : shared_(std::move(first)), thread_([this, body = std::move(work)] { run(body); }) {}
    /// Waits for the piece of work under way.
    ~Worker() {
        stop();
        thread_.join();
    }
    Worker(const Worker&) = delete;
    Worker& operator=(const Worker&) = delete;

    /// Calls action(shared) under the lock, and wakes both sides. Any thread.
    template <class Action> auto with(Action action) {
        const std::lock_guard lock(mutex_);
        changed_.notify_all(); // they get the lock after this
        return action(shared_);
    }
    template <class Action> auto read(Action action) const {
        const std::lock_guard lock(mutex_);
        return action(std::as_const(shared_));
    }

    /// The thread's side: waits until take(shared), called under the lock, returns something; nothing once
    /// the thread has to end.
    template <class Take> auto next(Take take) {
        std::unique_lock lock(mutex_);
        decltype(take(shared_)) taken{};
        waiting_ = true;
        changed_.notify_all();
        changed_.wait(lock, [&] { return stop_ || (taken = take(shared_)); });
        waiting_ = false;
        if (stop_) taken = {};
        return taken;
    }

    /// Asks the thread to end after the piece of work under way. Returns at once.
    void stop() {
        with([this](Shared&) { stop_ = true; });
    }
    /// Nothing is under way or asked for, or the thread has ended.
    bool idle() const {
        const std::lock_guard lock(mutex_);
        return idleNow();
    }
    /// Waits until it is idle, or `enough(shared)`.
    template <class Enough> void wait(Enough enough) const {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [&] { return idleNow() || enough(std::as_const(shared_)); });
    }
    void wait() const {
        wait([](const Shared&) { return false; });
    }
    /// What has ended the thread; empty: nothing.
    std::string failure() const {
        const std::lock_guard lock(mutex_);
        return failure_;
    }

  private:
    bool idleNow() const { return ended_ || (waiting_ && !shared_.wanted()); }

    void run(const std::function<void(Worker&)>& work) {
        std::string failure;
        try {
            work(*this);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        const std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
        ended_ = true;
        changed_.notify_all();
    }

    mutable std::mutex mutex_; // guards all below but the thread
    mutable std::condition_variable changed_;
    Shared shared_;
    bool waiting_ = false; // in next()
    bool stop_ = false;
    bool ended_ = false;
    std::string failure_;
    std::thread thread_; // last: it uses all of the above
};

} // namespace lockstep::demos
