#include "demos/exhibits/machine/machine_model.h"

#include <exception>
#include <utility>

namespace lockstep::demos {

void MachineModel::work(Worker<News>& worker) {
    while (const auto request =
               worker.next([](News& news) { return std::exchange(news.request, std::nullopt); })) {
        std::optional<Card> card;
        std::string failure;
        try {
            card = measureCard(
                *request,
                [&](const CardProgress& progress) {
                    worker.with([&](News& news) { news.progress = progress; });
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

void MachineModel::start(CardRequest request) {
    if (measuring()) return;
    if (!worker_) worker_ = std::make_unique<Worker<News>>([this](Worker<News>& worker) { work(worker); });
    stop_ = false;
    failure_.clear();
    worker_->with([&](News& news) { news.request = std::move(request), news.progress = {}; });
}

void MachineModel::update(bool wait) {
    if (!worker_) return;
    if (wait) worker_->wait();
    worker_->takeNews([this](News& news) {
        if (news.card) card_ = std::exchange(news.card, std::nullopt);
        if (!news.failure.empty()) failure_ = std::exchange(news.failure, {});
    });
}

CardProgress MachineModel::progress() const {
    if (!worker_) return {};
    return worker_->read([](const News& news) { return news.progress; });
}

} // namespace lockstep::demos
