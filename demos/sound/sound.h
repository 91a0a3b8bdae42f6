// The sound of what is shown (race_tune.h), played by OpenAL where the program was built with it. Off until
// somebody turns it on.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "demos/kit/exhibit.h"
#include "demos/kit/worker.h"
#include "demos/sound/race_tune.h"

namespace lockstep::demos {

class Sound {
  public:
    /// As states have them; the first one is silence.
    static constexpr std::string_view levels[] = {"off", "quiet", "medium", "loud"};

    Sound();
    /// Lets it fade, for 0.3 s where it is on.
    ~Sound();
    Sound(const Sound&) = delete;
    Sound& operator=(const Sound&) = delete;

    /// Whether this build can play. Otherwise it stays off.
    static bool available();

    std::size_t level() const { return level_; }
    void setLevel(std::size_t level);
    /// The entry of a menu, with the levels; nothing where there is no sound.
    void drawMenu(Ui& ui);
    /// Once per frame: plays what `shown` shows. Where nothing plays it, says so and turns the sound off.
    void update(Ui& ui, const Exhibit& shown);
    /// A frame is due, to say that.
    bool news() const { return worker_ && worker_->news(); }

  private:
    struct Desk {
        std::vector<HeardLane> lanes;
        float volume = 0;
        std::string problem; // why nothing plays

        bool wanted() const { return volume > 0; }
    };

    static void work(Worker<Desk>& worker);
    static void play(Worker<Desk>& worker);

    std::size_t level_ = 0;
    // Frames are no clock for samples: while a lane is timed, they are as rare as five per second, and when
    // all is done, there are none. From the first time that the sound is on.
    std::unique_ptr<Worker<Desk>> worker_;
};

} // namespace lockstep::demos
