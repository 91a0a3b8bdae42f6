// One side of the mosaic: a population on one machine, trained on a thread of its own, and what is to be seen
// of it. The window's thread asks and takes, and waits for nothing.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "demos/exhibits/mosaic/population_parts.h"

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
    std::optional<DevicePicture> device; ///< stays as it is until the next ones have been taken
};

/// The weights of one network, as they were at some step of it.
struct MemberWeights {
    std::size_t member = 0;
    std::uint64_t step = 0;
    std::vector<float>
        parameters; ///< an arena, ParamLayout; empty: it has diverged, and nothing goes on from there
};

/// What has come since it was last taken.
struct MosaicNews {
    std::optional<MachineInfo> machine;
    std::optional<MosaicShot> shot;
    std::optional<MosaicMaps> maps;
    std::optional<MemberWeights> weights;
    std::string error; ///< why the lane has ended; empty: it has not
};

/// How maps are drawn.
struct MosaicLook {
    DecisionMapOptions maps;
    bool onDevice = false; ///< the window draws with the population's device, and shows what lies there
};

class MosaicLane {
  public:
    using Make = std::function<PopulationParts()>;

    /// `make` is called on the lane's thread. Begins paused, with a shot of the first weights.
    MosaicLane(Make make, MosaicLook look);
    /// Ends what is under way, a few milliseconds of training or one look, and waits for it.
    ~MosaicLane();
    MosaicLane(const MosaicLane&) = delete;
    MosaicLane& operator=(const MosaicLane&) = delete;

    void run();
    void pause();
    void trainTo(std::uint64_t step);
    void trainBy(std::uint64_t networkSteps);
    /// Paused, at the first weights.
    void reset();
    void setLook(const MosaicLook& look);
    void askWeights(std::size_t member);
    /// Returns at once; the destructor has less to wait for. Maps on the device stay until then.
    void stop();

    /// Once per frame: when the next maps are taken, the frame that has shown the last ones must be done.
    MosaicNews takeNews();
    /// Something that was asked for has not been done, or not been seen yet; training that runs is always.
    bool busy() const;
    /// Until nothing is left to be done, or maps are there to be taken, without which there will be no
    /// others.
    void wait() const;

  private:
    struct Wishes {
        bool run = false;
        bool reset = false;
        bool look = true; ///< at once, rather than now and then
        bool stop = false;
        std::optional<std::uint64_t> trainTo;
        std::uint64_t trainBy = 0;
        std::optional<std::size_t> weightsOf;

        bool any() const { return run || reset || look || stop || trainTo || trainBy > 0 || weightsOf; }
    };

    void work(const Make& make);
    bool fulfil(const Wishes& wishes);
    void fetchWeights(std::size_t member);
    void look();
    Wishes nextWishes();
    bool mayLook() const;
    bool idle() const { return waiting_ && !wishes_.any(); }
    template <class Change> void wish(Change change);

    // Of the thread; it goes with the lane and not with the thread, for its pictures may be on the screen.
    std::optional<PopulationParts> population_;
    mutable std::mutex mutex_; // guards all below but the thread
    mutable std::condition_variable changed_;
    Wishes wishes_;
    MosaicLook look_;
    MosaicNews news_;
    bool waiting_ = false; // the thread, for wishes
    bool ended_ = false;
    double nextLook_ = 0; // when the next one is due while it trains
    std::thread thread_;  // last: it uses all of the above
};

} // namespace lockstep::demos
