// Threads that work for an exhibit.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

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

    /// Calls action(shared) under the lock, and wakes both sides. Any thread; what the worker's own does is
    /// news.
    template <class Action> auto with(Action action) {
        const std::lock_guard lock(mutex_);
        changed_.notify_all(); // they get the lock after this
        news_ |= std::this_thread::get_id() == id_;
        return action(shared_);
    }
    /// The other side: with(), for taking all that is new.
    template <class Action> auto takeNews(Action action) {
        const std::lock_guard lock(mutex_);
        changed_.notify_all();
        news_ = false;
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
    /// Its thread has told something that was not taken.
    bool news() const {
        const std::lock_guard lock(mutex_);
        return news_;
    }
    /// It is not idle, or has told what nobody has taken: as long as that holds, a frame is due.
    bool busy() const {
        const std::lock_guard lock(mutex_);
        return !idleNow() || news_;
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
        {
            const std::lock_guard lock(mutex_);
            id_ = std::this_thread::get_id();
        }
        std::string failure;
        try {
            work(*this);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        const std::lock_guard lock(mutex_);
        failure_ = std::move(failure);
        ended_ = true;
        news_ |= !failure_.empty();
        changed_.notify_all();
    }

    mutable std::mutex mutex_; // guards all below but the thread
    mutable std::condition_variable changed_;
    Shared shared_;
    bool waiting_ = false; // in next()
    bool stop_ = false;
    bool ended_ = false;
    bool news_ = false;  // told by the thread, and not taken
    std::thread::id id_; // of the thread
    std::string failure_;
    std::thread thread_; // last: it uses all of the above
};

/// Work that would keep the window waiting: one thread does it, one piece after the other.
class WorkQueue {
  public:
    /// A piece of work looks at `cancelled` now and then, and ends soon once it is true.
    using Work = std::function<void(const std::atomic<bool>& cancelled)>;

    WorkQueue() : worker_(work) {}
    /// Drops what has not begun, cancels what has, and waits for it.
    ~WorkQueue() { cancel(); }

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
    /// From a piece of work: something for the thread that owns the queue, to be run when it takes the news.
    void tell(std::function<void()> news) {
        worker_.with([&](Desk& desk) { desk.news.push_back(std::move(news)); });
    }
    /// What has been told since the last call.
    std::vector<std::function<void()>> takeNews() {
        return worker_.takeNews([](Desk& desk) { return std::exchange(desk.news, {}); });
    }
    /// Nothing is left to do, and takeNews() would bring nothing.
    bool idle() const {
        return !worker_.news() && worker_.read([](const Desk& desk) { return desk.pieces.empty(); });
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
        std::vector<std::function<void()>> news;
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
