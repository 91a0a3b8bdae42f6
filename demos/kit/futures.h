// What works beside the window: answers on their way, objects that are being destroyed, and the life of what
// an exhibit has at work.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace lockstep::demos {

/// Whether the result is there, or what kept it from coming; `future` is valid.
template <class T> bool ready(const std::future<T>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

/// Takes the answer of Lane::ask(), once it is there. Empty also where the lane has failed or was stopped:
/// its snapshot says so.
template <class T> std::optional<T> takeAnswer(std::future<T>& asked) {
    if (!asked.valid() || !ready(asked)) return {};
    try {
        return asked.get();
    } catch (...) {
        return {};
    }
}

/// Destroys each object on a thread of its own: a lane may be in the middle of a step, and drivers take their
/// time to free memory. The window must not wait for either. The destructor waits for all of them.
class Retirement {
  public:
    template <class T> void add(std::unique_ptr<T> old) {
        if (!old) return;
        leaving_.push_back(std::async(std::launch::async, [object = old.release()] { delete object; }));
    }

    /// Whether everything has gone. With `wait`, waits until it has.
    bool clear(bool wait = false) {
        std::erase_if(leaving_, [wait](const std::future<void>& each) {
            if (wait) each.wait();
            return ready(each);
        });
        return leaving_.empty();
    }

    /// As of the last clear().
    bool empty() const { return leaving_.empty(); }

  private:
    std::vector<std::future<void>> leaving_;
};

/// What an exhibit has at work for its present settings (lanes, a queue), from its making to its end. It is
/// made when it is wanted, leaves beside the window when the settings change, and is given up with the
/// device. One that cannot be made is tried again when something is asked for, not in every frame.
template <class Session> class SessionSlot {
  public:
    ~SessionSlot() { release(); }

    /// Null: there is none.
    Session* get() const { return session_.get(); }
    Session* operator->() const { return session_.get(); }
    Session& operator*() const { return *session_; }
    explicit operator bool() const { return session_ != nullptr; }

    /// Once per frame, before anything else: those that were retired in the frame before go; what they drew
    /// may have been on the screen until then. Whether none is left of them. With `wait`, waits for that.
    bool clear(bool wait = false) {
        for (std::unique_ptr<Session>& old : ending_) leaving_.add(std::move(old));
        ending_.clear();
        return leaving_.clear(wait);
    }
    /// Whether there is one; made by `make()` where there is none, unless that failed and nothing is `asked`
    /// for since. `make` may return null: not yet. What it throws goes on to the caller.
    template <class Make> bool have(bool asked, Make make) {
        if (session_) return true;
        if (gaveUp_ && !asked) return false;
        gaveUp_ = true; // unless all goes well
        session_ = make();
        gaveUp_ = false;
        return session_ != nullptr;
    }
    /// Asks it to stop, and lets it go.
    void retire() {
        if (!session_) return;
        if constexpr (requires { session_->stop(); }) session_->stop();
        ending_.push_back(std::move(session_));
    }
    /// Lets it go, and waits until nothing is left of it or of those before.
    void release() {
        retire();
        clear(true);
    }

    /// None is made until something is asked for.
    void giveUp() { gaveUp_ = true; }
    /// One is made again: a new attempt.
    void allow() { gaveUp_ = false; }
    bool gaveUp() const { return gaveUp_; }
    /// Earlier ones are still on their way out.
    bool leaving() const { return !ending_.empty() || !leaving_.empty(); }

  private:
    std::unique_ptr<Session> session_;
    std::vector<std::unique_ptr<Session>> ending_; // until the next frame
    Retirement leaving_;
    bool gaveUp_ = false;
};

} // namespace lockstep::demos
