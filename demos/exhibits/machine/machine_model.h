// Measures the machine's card beside the window.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "demos/card/card.h"
#include "demos/card/card_measure.h"
#include "demos/kit/roof.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

class MachineModel {
  public:
    ~MachineModel() { stop_ = true; }

    /// Measures the processor's arithmetic and copies, in about a second; nothing where something was
    /// measured.
    void preview();
    /// What that brought: Gop/s and GB/s of the processor; empty: nothing.
    const std::optional<Roof>& previewed() const { return preview_; }

    /// Begins, unless it measures already.
    void start(CardRequest request);
    /// After the line under way: what is missing then is not measured.
    void stop() { stop_ = true; }
    bool stopping() const { return stop_ && measuring(); }
    /// Once per frame. `wait`: until the card is there.
    void update(bool wait);

    bool measuring() const { return begun_ && worker_ && !worker_->idle(); }
    /// It measures, or has something to tell.
    bool busy() const { return worker_ && worker_->busy(); }
    /// As of now: a line takes up to half a minute, and the last news is of its beginning.
    CardProgress progress() const;

    /// The last one that was measured; empty: none.
    const std::optional<Card>& card() const { return card_; }
    void setCard(std::optional<Card> card) {
        card_ = std::move(card);
        failure_.clear();
    }
    /// Why there is no card; empty: it did not fail.
    const std::string& failure() const { return failure_; }

  private:
    /// What passes between the window's thread and the one that measures.
    struct News {
        std::optional<CardRequest> request;
        CardProgress progress;
        double progressAt = 0; ///< secondsNow()
        std::optional<Card> card;
        std::string failure;
        bool previewWanted = false;
        std::optional<Roof> preview;
        bool wanted() const { return request.has_value() || previewWanted; }
    };
    struct Wish {
        std::optional<CardRequest> request;
        bool preview = false;
        explicit operator bool() const { return request.has_value() || preview; }
    };
    void work(Worker<News>& worker);
    Worker<News>& worker();

    std::atomic<bool> stop_{false}; // before worker_: it is read until that has ended
    std::unique_ptr<Worker<News>> worker_;
    bool begun_ = false; // a card
    std::optional<Roof> preview_;
    std::optional<Card> card_;
    std::string failure_;
};

} // namespace lockstep::demos
