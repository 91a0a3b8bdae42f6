#include "demos/kit/work_queue.h"

#include <exception>
#include <optional>
#include <utility>

namespace lockstep::demos {

WorkQueue::WorkQueue() : worker_(work) {}

void WorkQueue::post(std::string name, Work work) {
    worker_.with([&](Desk& desk) {
        desk.pieces.push_back({std::move(name), std::move(work), std::make_shared<std::atomic<bool>>(false)});
    });
}

void WorkQueue::cancel() {
    worker_.with([](Desk& desk) {
        if (desk.pieces.empty()) return;
        *desk.pieces.front().cancelled = true;
        desk.pieces.erase(desk.pieces.begin() + 1, desk.pieces.end());
    });
}

std::string WorkQueue::doing() const {
    return worker_.read(
        [](const Desk& desk) { return desk.pieces.empty() ? std::string() : desk.pieces.front().name; });
}

std::string WorkQueue::takeFailure() {
    return worker_.with([](Desk& desk) { return std::exchange(desk.failure, {}); });
}

void WorkQueue::work(Worker<Desk>& worker) {
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

} // namespace lockstep::demos
