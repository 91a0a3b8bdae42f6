// Help, My machine: measures the machine's card in the background, shows it, and saves it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "demos/card/card.h"
#include "demos/card/card_measure.h"
#include "demos/draw/ui.h"
#include "demos/kit/worker.h"

namespace lockstep::demos {

class MachinePage {
  public:
    ~MachinePage() { stop_ = true; }

    /// device   to measure, as in gpu::DeviceOptions
    /// Returns whether a person has started a measurement: nothing else should run meanwhile.
    bool draw(Ui& ui, const std::string& device);
    /// There is a card to look at.
    bool shown() const { return card_.has_value() && !measuring(); }
    bool measuring() const { return worker_ && worker_->busy(); }

  private:
    /// What passes between the window's thread and the one that measures.
    struct News {
        std::optional<CardRequest> request;
        CardProgress progress;
        std::optional<Card> card;
        std::string failure;
        bool wanted() const { return request.has_value(); }
    };

    void start(const Ui& ui, const std::string& device);
    void drawProgress(Ui& ui);
    void drawCard(Ui& ui) const;
    void save(Ui& ui) const;

    std::atomic<bool> stop_{false}; // before worker_: it is read until that has ended
    std::unique_ptr<Worker<News>> worker_;
    std::optional<Card> card_;
    std::string failure_;
};

} // namespace lockstep::demos
