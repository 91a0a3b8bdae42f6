// What goes wrong while a frame is drawn: the frame begins again, a message says what it was, and the window
// stays.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "demos/shell/app.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

/// Throws in the middle of what it draws, with windows, styles and identities open.
class Failing final : public Exhibit {
  public:
    int failures = 0; ///< of the next frames

    std::string_view id() const override { return "failing"; }
    const char* title() const override { return "Failing"; }
    const char* blurb() const override { return "It fails"; }
    const char* words() const override { return "Fails."; }
    void drawIcon(ImDrawList&, ImVec2, float, ImU32) const override {}
    void draw(Ui& ui) override {
        ImGui::BeginChild("a part");
        ImGui::PushStyleColor(ImGuiCol_Text, 0xFFFFFFFFu);
        ImGui::PushID("inner");
        if (ImGui::BeginTable("table", 2)) ImGui::TableNextColumn();
        if (failures > 0) {
            --failures;
            throw std::runtime_error("there is no such weight");
        }
        if (ImGui::GetCurrentContext() != nullptr) ImGui::EndTable();
        ImGui::PopID();
        ui.text("fine");
        ImGui::PopStyleColor();
        ImGui::EndChild();
    }
    EditHistory& edits() override { return edits_; }
    nlohmann::ordered_json state() const override { return nlohmann::ordered_json::object(); }
    std::function<void()> readState(const nlohmann::ordered_json&) override {
        return [] {};
    }
    std::string releaseDevice() override { return {}; }

  private:
    int setting_ = 0;
    ValueHistory<int> edits_{[this] { return setting_; },
                             [this](const int& wanted, const int&) { setting_ = wanted; }};
};

struct Window {
    const char* device = std::getenv("LOCKSTEP_TEST_DEVICE");
    Machines machines{0, device == nullptr ? "" : device};
    Graphics graphics{machines.openForDrawing({})};
    Failing* failing = new Failing; // the app's
    App app{graphics, machines, exhibits()};

    std::vector<std::unique_ptr<Exhibit>> exhibits() const {
        std::vector<std::unique_ptr<Exhibit>> all;
        all.emplace_back(failing);
        return all;
    }
    void frames(int count) {
        for (int i = 0; i < count; ++i) app.frame(1280, 800, 1, 1.0 / 60);
    }
    bool shows(const char* control) const { return const_cast<App&>(app).ui().controls.contains(control); }
    void click(const char* control) {
        const Place at = app.ui().controls.at(control);
        app.input().push({InputKind::move, (at.min.x + at.max.x) / 2, (at.min.y + at.max.y) / 2, 0, false});
        frames(2);
        app.input().push({InputKind::button, 0, 0, 0, true});
        frames(2);
        app.input().push({InputKind::button, 0, 0, 0, false});
        frames(2);
    }
};

} // namespace

TEST_CASE("a frame that cannot be drawn is drawn anew, with a message") {
    Window window;
    window.frames(3);
    REQUIRE(window.shows("menu/File"));
    window.failing->failures = 1;
    window.frames(1);
    CHECK(window.shows("menu/File"));
    REQUIRE(window.app.ui().messages.size() == 1);
    CHECK(window.app.ui().messages[0].text == "there is no such weight");
    CHECK(window.app.ui().messages[0].severity == Severity::error);
    window.frames(5);
    CHECK(window.app.ui().messages.size() == 1);
    window.click("Details"); // it goes on as before
    CHECK(window.app.ui().detailsWanted);
}

TEST_CASE("where it fails again and again, the message stands alone, until a person goes on") {
    Window window;
    window.frames(3);
    window.failing->failures = 1000;
    window.frames(10);
    CHECK_FALSE(window.shows("menu/File"));
    REQUIRE(window.shows("Try again"));
    CHECK(window.app.ui().messages.size() == 1);
    CHECK(window.failing->failures == 998); // it is left alone
    window.click("Try again");
    CHECK(window.shows("Try again"));
    CHECK(window.failing->failures < 998);
    window.failing->failures = 0;
    window.click("Try again");
    CHECK(window.shows("menu/File"));
    CHECK_FALSE(window.shows("Try again"));
}
