// A kernel's accesses as an animation: which invocation of one workgroup reads and writes which element.
#pragma once

#include <cstddef>
#include <string>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/ladder_model.h"

namespace lockstep::demos {

class AccessView {
  public:
    void draw(Ui& ui, LadderModel& model);
    /// Moves on while it is played.
    void update(double seconds);
    bool playing() const { return playing_; }
    void stop() { playing_ = false; }

    std::size_t moment() const { return moment_; }
    Product product() const { return product_; }
    void set(Product product, std::size_t moment) {
        product_ = product;
        moment_ = moment;
        kept_ = true;
    }

  private:
    void drawPlayer(Ui& ui);
    Product product_ = Product::forward;
    std::size_t moment_ = 0;
    std::size_t last_ = 0; // moment of what is shown
    std::string shown_;    // lane and product
    bool kept_ = true;     // the moment belongs to what will be shown first
    bool playing_ = false;
    double played_ = 0;
};

} // namespace lockstep::demos
