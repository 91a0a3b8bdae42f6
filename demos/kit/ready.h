// Looking after what was begun with std::async.
#pragma once

#include <chrono>
#include <future>

namespace lockstep::demos {

/// Whether the result is there, or what kept it from coming; `future` is valid.
template <class T> bool ready(const std::future<T>& future) {
    return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

} // namespace lockstep::demos
