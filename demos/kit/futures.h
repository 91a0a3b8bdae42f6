// What std::async has begun: whether it is done, and objects that are being destroyed beside the window.
#pragma once

#include <chrono>
#include <future>
#include <memory>
#include <vector>

namespace lockstep::demos {

/// Whether the result is there, or what kept it from coming; `future` is valid.
template <class T> bool ready(const std::future<T>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
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

} // namespace lockstep::demos
