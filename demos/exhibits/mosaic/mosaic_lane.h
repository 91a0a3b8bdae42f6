// A population on one machine, trained beside the window on a thread of its own, and what can be seen of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demos/kit/worker.h"
#include "engine/grid/population_grid.h"

namespace lockstep::demos {

/// All networks at one moment.
struct MosaicShot {
    std::vector<MemberResult> results;
    PopulationSummary summary;
    double seconds = 0; ///< of training so far
};

/// The decision maps of all networks, one picture of width * height pixels.
struct MosaicMaps {
    std::uint32_t width = 0;
    std::uint32_t height = 0;
    std::vector<std::uint32_t> words;    ///< empty: they are on the device
    std::optional<DevicePicture> device; ///< unchanged until the next ones have been taken
};

/// The weights of one network, as they were at some step of it.
struct MemberWeights {
    std::size_t member = 0;
    std::uint64_t step = 0;
    std::vector<float> parameters; ///< an arena, ParamLayout; empty: the network has diverged
};

/// What is new since it was last taken.
struct MosaicNews {
    std::optional<MachineInfo> machine;
    std::optional<MosaicShot> shot;
    std::optional<MosaicMaps> maps;
    std::optional<MemberWeights> weights;
};

/// How maps are drawn.
struct MosaicLook {
    DecisionMapOptions maps;
    bool onDevice = false; ///< the window draws with the population's device and shows its memory directly
};

/// What a lane has been asked for.
struct MosaicRequests {
    bool run = false; ///< until all networks are at their end
    bool reset = false;
    bool look = true; ///< at once, rather than now and then
    std::optional<std::uint64_t> trainTo;
    std::uint64_t trainBy = 0;
    std::optional<std::size_t> weightsOf; ///< this member

    bool any() const { return run || reset || look || trainTo || trainBy > 0 || weightsOf; }
};

/// The window's thread leaves requests and takes news; it never waits for training.
class MosaicLane {
  public:
    /// Called on the lane's thread.
    using Make = std::function<std::unique_ptr<Population>(const PopulationJob&)>;

    /// Begins paused, with a shot of the initial weights.
    /// rowLength   trains row by row: the next one begins where the last one has ended; 0: all together
    MosaicLane(std::shared_ptr<const PopulationGrid> grid, std::size_t rowLength, Make make,
               const MosaicLook& look);
    /// Waits for what is under way: a few milliseconds of training, or one look.
    ~MosaicLane();

    /// `change(requests)` adds to what is open.
    template <class Change> void ask(Change change) {
        worker_.with([&](Desk& desk) { change(desk.requests); });
    }
    void trainTo(std::uint64_t step) {
        ask([step](MosaicRequests& requests) { requests.trainTo = step; });
    }
    void pause() {
        ask([](MosaicRequests& requests) {
            requests.look |= requests.run;
            requests.run = false;
        });
    }
    /// Paused, at the initial weights.
    void reset() {
        worker_.with([](Desk& desk) {
            desk.requests = {};
            desk.requests.reset = true;
            desk.news.shot.reset(); // of weights that are gone
        });
    }
    void setLook(const MosaicLook& look) {
        worker_.with([&look](Desk& desk) {
            desk.look = look;
            desk.requests.look = true;
        });
    }
    /// Returns at once; the destructor has less to wait for. Maps on the device stay until then.
    void stop() { worker_.stop(); }

    /// Once per frame: when the next maps are taken, the frame that has shown the last ones must be done.
    MosaicNews takeNews() {
        return worker_.takeNews([](Desk& desk) { return std::exchange(desk.news, {}); });
    }
    /// Why the lane has ended; empty: it has not.
    std::string failure() const { return worker_.failure(); }
    /// A request is open, or its result has not been taken; always true while training runs.
    bool busy() const { return worker_.busy(); }
    /// Until nothing is left to do, or maps wait to be taken: no others are drawn before that.
    void wait() const {
        worker_.wait([](const Desk& desk) { return desk.news.maps.has_value(); });
    }

  private:
    struct Desk {
        MosaicRequests requests;
        MosaicLook look;
        MosaicNews news;

        bool wanted() const { return requests.any(); }
        /// Maps that wait to be taken lie in one of the device's two pictures, those on the screen in the
        /// other.
        bool mayLook() const { return !news.maps; }
    };

    static std::optional<MosaicRequests> takeRequests(Desk& desk);
    void fulfil(const MosaicRequests& requests);
    void look();

    // Used by the thread, but destroyed after it: its pictures may still be on the screen.
    class Networks;
    std::unique_ptr<Networks> networks_;
    double nextLook_ = 0; // when the next one is due during training
    Worker<Desk> worker_; // last: its thread uses all of the above
};

} // namespace lockstep::demos
