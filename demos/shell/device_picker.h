// The device in the bar above: which one it is, and the list to choose another from.
#pragma once

#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demos/draw/ui.h"
#include "engine/gpu/device.h"

namespace lockstep::demos {

/// A device in the list that people choose from.
struct DeviceLine {
    std::string name;        ///< "NVIDIA GeForce RTX 4090"
    std::string label;       ///< with its number in front, as `lockstep devices` shows it
    std::string select;      ///< chooses it (DeviceOptions::select); empty for the one that is best anyway
    std::string remark;      ///< "discrete GPU", "software, not a GPU", or why it cannot be used
    std::string reason = {}; ///< of the automatic choice
    gpu::DeviceReport report = {}; ///< its limits
    bool usable = false;           ///< else it is shown and cannot be chosen
    bool current = false;
};

/// `devices` as gpu::listDevices returns them when none is asked for. A device is chosen by its UUID; by its
/// number where several have the same one, or none.
std::vector<DeviceLine> deviceLines(const std::vector<gpu::DeviceReport>& devices,
                                    const gpu::DeviceReport& current);

/// The device to draw and train with, as chosen in the window or named by a state.
struct DeviceWish {
    std::string select; ///< as in gpu::DeviceOptions; empty: the best
    std::string name;
};

class DevicePicker {
  public:
    /// Draws the present device flush right, if there is room, as a button that opens the list. Returns what
    /// was chosen in it.
    std::optional<DeviceWish> drawButton(Ui& ui, float left, float right);
    /// Draws the list with the limits of one device. `prefix` begins the names of its controls.
    std::optional<DeviceWish> drawList(Ui& ui, const char* prefix);
    /// Once per frame: takes in what drivers have answered.
    void update(Ui& ui);
    /// Drivers are being asked, so that frames are needed without any input.
    bool listing() const { return listing_.valid(); }
    /// The window has moved to another device.
    void forgetList() { lines_.clear(); }

    /// The device in use is one that was wished for, and states remember it.
    void choose(DeviceWish device) { chosen_ = std::move(device); }
    const DeviceWish& chosen() const { return chosen_; }
    /// Named in the command line: states do not change it.
    void fix() { fixed_ = true; }
    /// A state names `device`: the window should move there.
    bool leadsElsewhere(const DeviceWish& device) const { return !fixed_ && device.select != chosen_.select; }

  private:
    void list(Ui& ui);

    std::vector<DeviceLine> lines_; // as last listed
    std::future<std::vector<gpu::DeviceReport>> listing_;
    DeviceWish chosen_;
    bool fixed_ = false;
};

} // namespace lockstep::demos
