// A map whose machines compute next to nothing, for tests of all around them.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "demos/exhibits/map/map_model.h"

namespace lockstep::test {

using namespace lockstep::demos;

/// Converges where x is small; nothing is computed, so that pictures of any size are there at once.
class Striped final : public MapTrainer {
  public:
    Striped(const MapJob& job, std::atomic<std::size_t>& trained, std::string device = "")
        : MapTrainer(job), trained_(trained) {
        machine_.device = std::move(device);
    }

    void train(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) override {
        for (std::size_t i = 0; i < points.size(); ++i) outcomes[i] = ending(points[i]);
        trained_ += points.size();
    }
    std::size_t pointsFor(double) const override { return 300; }

    static MapOutcome ending(MapPoint point) {
        return point.x < 1 ? std::min(point.x, 1.0f) : -std::min(point.y + 1, 100.0f);
    }

  private:
    std::atomic<std::size_t>& trained_;
};

/// Trains nothing before it is let.
class Held final : public MapTrainer {
  public:
    Held(const MapJob& job, std::atomic<std::size_t>& trained, const std::atomic<bool>& open)
        : MapTrainer(job), striped_(job, trained), open_(open) {}

    void train(std::span<const MapPoint> points, std::span<MapOutcome> outcomes) override {
        open_.wait(false);
        striped_.train(points, outcomes);
    }
    std::size_t pointsFor(double milliseconds) const override { return striped_.pointsFor(milliseconds); }

  private:
    Striped striped_;
    const std::atomic<bool>& open_;
};

/// A map whose machines are quick, driven as by a script: a step's networks are there after a frame.
struct Map {
    std::atomic<std::size_t> trained = 0;
    std::string card = "a card";
    MapModel model; // last: its threads use the above

    Map() {
        MapSettings settings = model.settings();
        settings.resolution = 256;
        model.change(settings);
    }
    void frame(bool wait = true) {
        model.update(
            [this](const MapJob& job, MapMachine machine) {
                const std::string device = machine == MapMachine::gpu ? card : "a processor";
                return [this, job, device] { return std::make_unique<Striped>(job, trained, device); };
            },
            1.0 / 60, wait);
    }
    /// The same with a card that has no memory.
    void frameWithoutMemory() {
        model.update(
            [this](const MapJob& job, MapMachine machine) -> MakeMapTrainer {
                if (machine == MapMachine::gpu)
                    return []() -> std::unique_ptr<MapTrainer> { throw std::runtime_error("no memory"); };
                return [this, job] { return std::make_unique<Striped>(job, trained); };
            },
            1.0 / 60, true);
    }
    void useCpu(bool on) {
        MapSettings settings = model.settings();
        settings.cpu = on;
        model.change(settings);
    }
    void finish() {
        model.run();
        while (!model.complete()) frame();
    }
    /// Every trained pixel is the network of its place.
    bool right(MapMachine machine) {
        const OutcomeGrid& grid = model.grid(machine);
        const MapSize size = model.size();
        for (std::uint32_t index = 0; index < size.pixels(); ++index) {
            const MapPoint point =
                model.window().point(index % size.width, index / size.width, size.width, size.height);
            // Panning moves windows by sums, which end in another last bit.
            if (grid.trained(index) && std::abs(grid.shown(index) - Striped::ending(point)) >
                                           1e-5f * (1 + std::abs(Striped::ending(point))))
                return false;
        }
        return true;
    }
};

inline std::size_t known(const Map& map, MapMachine machine) { return map.model.side(machine).grid.known(); }

} // namespace lockstep::test
