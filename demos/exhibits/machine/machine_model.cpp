#include "demos/exhibits/machine/machine_model.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "demos/kit/pacer.h"
#include "engine/cpu/cpu_info.h"

namespace lockstep::demos {

void MachineModel::work(Worker<News>& worker) {
    const auto take = [](News& news) {
        return Wish{std::exchange(news.request, std::nullopt), std::exchange(news.previewWanted, false)};
    };
    while (const Wish wish = worker.next(take)) {
        if (wish.preview && !wish.request) {
            const Roof roof = measureCpuRoof(usablePhysicalCores().physical);
            worker.with([&](News& news) { news.preview = roof; });
            continue;
        }
        const auto& request = wish.request;
        std::optional<Card> card;
        std::string failure;
        try {
            card = measureCard(
                *request,
                [&](const CardProgress& progress) {
                    worker.with(
                        [&](News& news) { news.progress = progress, news.progressAt = secondsNow(); });
                },
                stop_);
        } catch (const std::exception& error) {
            failure = error.what();
        }
        worker.with([&](News& news) {
            news.card = std::move(card);
            news.failure = failure;
        });
    }
}

Worker<MachineModel::News>& MachineModel::worker() {
    if (!worker_) worker_ = std::make_unique<Worker<News>>([this](Worker<News>& worker) { work(worker); });
    return *worker_;
}

void MachineModel::preview() {
    if (begun_ || card_ || preview_) return;
    worker().with([](News& news) { news.previewWanted = true; });
}

void MachineModel::start(CardRequest request) {
    if (measuring()) return;
    begun_ = true;
    stop_ = false;
    failure_.clear();
    worker().with([&](News& news) { news.request = std::move(request), news.progress = {}; });
}

void MachineModel::update(bool wait) {
    if (!worker_) return;
    if (wait) worker_->wait();
    worker_->takeNews([this](News& news) {
        if (news.preview) preview_ = std::exchange(news.preview, std::nullopt);
        if (news.card) card_ = std::exchange(news.card, std::nullopt);
        if (!news.failure.empty()) failure_ = std::exchange(news.failure, {});
    });
}

CardProgress MachineModel::progress() const {
    if (!worker_) return {};
    return worker_->read([](const News& news) {
        CardProgress now = news.progress;
        const double seconds = std::min(secondsNow() - news.progressAt, now.secondsLeft);
        if (seconds <= 0) return now;
        now.done += (1 - now.done) * seconds / now.secondsLeft;
        now.secondsLeft -= seconds;
        return now;
    });
}

} // namespace lockstep::demos
