// What a race sounds like, as a function of what its lanes show: samples, without a device that plays them.
//
//   pitch   the loss, in notes of the pentatonic scale A C D E G. A quarter of the loss sounds an octave
//           lower: 1 is the A of 440 Hz, 1/4 that of 220 Hz. The range is 55 Hz (1/64 or less) to 1760 Hz (16
//           or more). Any two notes of this scale sound well together, and the same loss is the same note.
//   ticks   the steps. Up to 8 steps/s each of them ticks. Above, each doubling adds 2 ticks/s, up to 30: the
//           ticks blend into an even purr, in which a faster lane still purrs faster.
//   sides   the first lane is on the left, the last one on the right. Every second lane sounds hollow.
//
// A lane is heard while it trains: until 0.4 s after its last step. Whatever begins or ends does so within
// 50 ms, so that nothing clicks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace lockstep::demos {

/// What is heard of a lane.
struct HeardLane {
    double loss = 0;         ///< not finite: no note, only ticks
    std::uint64_t steps = 0; ///< done
    float side = 0;          ///< -1: left, 1: right
};

/// Of lane `index` among `lanes`; one alone is in the middle.
float sideOf(std::size_t index, std::size_t lanes);

/// In semitones above A4 (440 Hz), on the scale. `loss` is finite.
int noteOf(double loss);
/// In Hz, in equal temperament: 440 * 2^(note / 12).
double frequencyOf(int note);
double ticksPerSecond(double stepsPerSecond);

class RaceTune {
  public:
    static constexpr int sampleRate = 24000;    ///< per second and channel
    static constexpr std::size_t frames = 480;  ///< of a block: 20 ms
    static constexpr double heldSeconds = 0.4;  ///< after a lane's last step
    static constexpr double rampSeconds = 0.05; ///< from silence to full volume, and back

    /// From the next block on. Lanes are known by their place; steps they have made when they are first heard
    /// of are past.
    /// volume   0 to 1
    void hear(std::span<const HeardLane> lanes, float volume);
    /// The next block: frames of left and right, from -1 to 1.
    void write(std::span<float, 2 * frames> block);

  private:
    struct Voice {
        std::optional<std::uint64_t> steps;  // taken into account
        HeardLane lane;                      // as of the last hear()
        double sinceStep = 1e9;              // seconds
        double stepRate = 0;                 // per second; 0: not known yet
        double owed = 0;                     // ticks of a slow lane that were not heard yet
        double toTick = 1;                   // share of the way to the next tick
        double sinceTick = 1e9;              // seconds
        double frequency = 0;                // Hz
        double phase = 0;                    // periods
        float tone = 0, left = 0, right = 0; // gains
        bool hollow = false;

        bool trains() const { return sinceStep < heldSeconds; }
        void countSteps();
        void add(std::span<float, 2 * frames> block, float leftWanted, float rightWanted);
        float nextTick();
        float nextTone(double wanted);
    };

    std::vector<Voice> voices_; // of lanes that are gone, too: they fade
    std::size_t lanes_ = 0;
    float volume_ = 0;
};

} // namespace lockstep::demos
