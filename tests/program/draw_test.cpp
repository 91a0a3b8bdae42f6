// What the window draws with: colours that everyone can tell apart and read, movement, and boxes that cover
// nothing.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "demos/draw/easing.h"
#include "demos/draw/theme.h"
#include "demos/draw/ui.h"
#include "demos/kit/operations.h"

using namespace lockstep;
using namespace lockstep::demos;

namespace {

using Triple = std::array<double, 3>;
using Matrix = std::array<Triple, 3>;

struct Vision {
    const char* name;
    Matrix seen; // of linear RGB
};

// Complete dichromacy: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of
// Color Vision Deficiency", IEEE TVCG 15(6), 2009; the matrices of severity 1.
constexpr Vision visions[] = {
    {"trichromacy", {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}},
    {"protanopia",
     {{{0.152286, 1.052583, -0.204868}, {0.114503, 0.786281, 0.099216}, {-0.003882, -0.048116, 1.051998}}}},
    {"deuteranopia",
     {{{0.367322, 0.860646, -0.227968}, {0.280085, 0.672501, 0.047413}, {-0.011820, 0.042940, 0.968881}}}},
    {"tritanopia",
     {{{1.255528, -0.076749, -0.178779}, {-0.078411, 0.930809, 0.147602}, {0.004733, 0.691367, 0.303900}}}},
};

Triple product(const Matrix& matrix, const Triple& vector) {
    Triple result{};
    for (std::size_t row = 0; row < 3; ++row)
        for (std::size_t i = 0; i < 3; ++i) result[row] += matrix[row][i] * vector[i];
    return result;
}

// CIE L*a*b* (D65) of an sRGB colour as it is seen.
Triple labOf(ImU32 colour, const Vision& vision) {
    Triple linear{};
    const int shifts[] = {IM_COL32_R_SHIFT, IM_COL32_G_SHIFT, IM_COL32_B_SHIFT};
    for (std::size_t i = 0; i < 3; ++i) {
        const double value = static_cast<double>((colour >> shifts[i]) & 255) / 255;
        linear[i] = value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
    }
    linear = product(vision.seen, linear);
    for (double& value : linear) value = std::clamp(value, 0.0, 1.0);
    constexpr Matrix toXyz{{{0.4124564, 0.3575761, 0.1804375},
                            {0.2126729, 0.7151522, 0.0721750},
                            {0.0193339, 0.1191920, 0.9503041}}};
    constexpr Triple white{0.95047, 1, 1.08883};
    Triple f = product(toXyz, linear);
    for (std::size_t i = 0; i < 3; ++i) {
        const double t = f[i] / white[i];
        f[i] = t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
    }
    return {116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
}

// Euclidean distance in L*a*b* (CIE76); 2.3 can just be noticed side by side.
double distance(ImU32 a, ImU32 b, const Vision& vision) {
    const Triple first = labOf(a, vision);
    const Triple second = labOf(b, vision);
    return std::hypot(first[0] - second[0], first[1] - second[1], first[2] - second[2]);
}

struct NamedColour {
    std::string name;
    ImU32 colour;
};

// Every two of them, for every kind of colour vision.
void checkApart(std::span<const NamedColour> colours, double least) {
    for (const Vision& vision : visions)
        for (std::size_t a = 0; a < colours.size(); ++a)
            for (std::size_t b = 0; b < a; ++b) {
                CAPTURE(vision.name);
                CAPTURE(colours[a].name);
                CAPTURE(colours[b].name);
                CHECK(distance(colours[a].colour, colours[b].colour, vision) >= least);
            }
}

constexpr double plain = 14;     // told apart in small areas, not side by side
constexpr double noticeable = 8; // side by side; there is a second cue

bool overlap(const Place& a, const Place& b) {
    return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

} // namespace

TEST_CASE("letters have a contrast of at least 4.5 : 1") {
    CHECK(contrast(IM_COL32(0, 0, 0, 255), IM_COL32(255, 255, 255, 255)) == doctest::Approx(21));
    CHECK(contrast(IM_COL32(119, 119, 119, 255), IM_COL32(255, 255, 255, 255)) ==
          doctest::Approx(4.48).epsilon(0.002));
    for (const bool dark : {true, false}) {
        CAPTURE(dark);
        const Theme theme = makeTheme(dark);
        for (const ImU32 ground : {theme.background, theme.panel, theme.raised, theme.hovered}) {
            CHECK(contrast(theme.text, ground) >= 4.5f);
            CHECK(contrast(theme.muted, ground) >= 4.5f);
        }
        CHECK(contrast(theme.onAccent, theme.accent) >= 4.5f);
        for (const ImU32 ground : {theme.background, theme.panel, theme.raised}) {
            for (const ImU32 colour : {theme.good, theme.warning, theme.bad})
                CHECK(contrast(colour, ground) >= 4.5f);
            // Machines and series colour lines and areas, too: as letters, they are darker or lighter.
            for (std::size_t i = 0; i < 12; ++i)
                CHECK(contrast(legible(theme, seriesColour(theme, i)), ground) >= 4.5f);
            CHECK(contrast(legible(theme, ground), ground) >= 4.5f);
        }
        CHECK(legible(theme, theme.good) == theme.good);
    }
}

TEST_CASE("colours are told apart with every kind of colour vision") {
    for (const bool dark : {true, false}) {
        CAPTURE(dark);
        const Theme theme = makeTheme(dark);
        checkApart(std::array<NamedColour, 2>{{{"CPU", theme.cpu}, {"GPU", theme.gpu}}}, plain);
        checkApart(std::array<NamedColour, 2>{{{"below 0", signedColour(theme, -1)},
                                               {"above 0", signedColour(theme, 1)}}},
                   plain);
        // These have signs beside them: a tick, a triangle, a cross.
        checkApart(
            std::array<NamedColour, 3>{
                {{"good", theme.good}, {"warning", theme.warning}, {"bad", theme.bad}}},
            noticeable);
        // Two of the operations have no pattern. The others also differ in that (fillOperation).
        const auto operation = [&theme](Operation kind) {
            return NamedColour{std::string(rowOf(kind).name), colourOf(theme, kind)};
        };
        checkApart(std::array{operation(Operation::gatherBatch), operation(Operation::dense)}, plain);
        std::vector<NamedColour> operations;
        for (const Operation kind : recipeOperations) operations.push_back(operation(kind));
        checkApart(operations, noticeable);
        // The points of each class have a shape of their own as well.
        std::vector<NamedColour> classes;
        for (std::size_t i = 0; i < 10; ++i)
            classes.push_back({"class " + std::to_string(i + 1), classColour(theme, i)});
        checkApart(std::span(classes).first(3), plain);
        checkApart(classes, noticeable);
    }
}

TEST_CASE("an eased number arrives within its time, and frames are wanted only until then") {
    Easing easing;
    const auto at = [&easing](double now, float target) {
        easing.beginFrame();
        return easing.toward("mark", target, now);
    };
    CHECK(at(1.0, 10) == 10); // where it belongs, from the beginning
    CHECK_FALSE(easing.moving());
    CHECK(at(5.0, 20) == 10); // however long nothing was drawn
    CHECK(easing.moving());
    const float half = at(5.0 + Easing::duration / 2, 20);
    CHECK(half > 15);
    CHECK(half < 20);
    CHECK(at(5.0 + Easing::duration / 2, 0) == half); // it turns round where it is
    CHECK(at(5.0 + 2 * Easing::duration, 0) == 0);
    CHECK_FALSE(easing.moving());
    easing.beginFrame(); // not drawn
    CHECK(at(7.0, 30) == 30);
    CHECK_FALSE(easing.moving());
    const auto slowly = [&easing](double now, float target) { // a second in place of a fifth
        easing.beginFrame();
        return easing.toward("bar", target, now, 1);
    };
    slowly(8, 0);
    slowly(9, 10);
    CHECK(slowly(9 + 2 * Easing::duration, 10) < 9);
    CHECK(easing.moving());
    CHECK(slowly(10, 10) == 10);
    CHECK_FALSE(easing.moving());
}

TEST_CASE("an explanation stands beside its control") {
    const ImVec2 window{1280, 800};
    const ImVec2 size{300, 120};
    const float edge = 6;
    for (const float x : {0.0f, 400.0f, 1180.0f})
        for (const float y : {0.0f, 380.0f, 770.0f})
            for (const ImVec2 extent : {ImVec2{100, 30}, ImVec2{20, 800}, ImVec2{1280, 30}})
                for (const bool sideways : {false, true}) {
                    CAPTURE(x);
                    CAPTURE(y);
                    CAPTURE(sideways);
                    const Place place{{x, y},
                                      {std::min(x + extent.x, window.x), std::min(y + extent.y, window.y)}};
                    const ImVec2 at = beside(place, size, window, edge, sideways, place.min);
                    CHECK_FALSE(overlap(place, {at, {at.x + size.x, at.y + size.y}}));
                    CHECK(at.x >= edge);
                    CHECK(at.y >= edge);
                    CHECK(at.x + size.x <= window.x - edge);
                    CHECK(at.y + size.y <= window.y - edge);
                }
    // It covers the half of a map that the mouse does not point at, where the map fills the window.
    const Place all{{0, 0}, window};
    CHECK(beside(all, size, window, edge, false, {300, 100}).y > 400);
    CHECK(beside(all, size, window, edge, false, {300, 700}).y + size.y < 400);
}

TEST_CASE("an explanation leaves its control free, and others as far as it can") {
    const ImVec2 window{1280, 800};
    const ImVec2 size{300, 80};
    const float edge = 6;
    const auto at = [&](const Place& item, ImVec2 pointer, std::vector<Place> others) {
        const ImVec2 low = explanationPlace(item, size, window, edge, pointer, others);
        return Place{low, {low.x + size.x, low.y + size.y}};
    };
    const Place first{{100, 100}, {1100, 300}};
    const Place second{{100, 310}, {1100, 510}};
    CHECK_FALSE(overlap(at(first, {400, 200}, {}), first));
    CHECK(at(first, {400, 200}, {}).min.y > first.max.y);
    CHECK(at(first, {700, 200}, {}).min.x > 600); // near the pointer
    const Place title{second.min, {450, 390}};
    CHECK_FALSE(overlap(at(first, {400, 200}, {second}), first));
    CHECK_FALSE(overlap(at(first, {400, 200}, {second}), title));
    CHECK_FALSE(overlap(at(second, {400, 400}, {first}), second));
    // A high chart below a row of buttons: they stay free.
    const Place chart{{100, 200}, {1100, 760}};
    const std::vector<Place> buttons{{{100, 150}, {250, 190}},
                                     {{260, 150}, {600, 190}},
                                     {{610, 150}, {850, 190}},
                                     {{860, 150}, {1100, 190}}};
    for (const float y : {250.0f, 700.0f}) {
        const Place place = at(chart, {300, y}, buttons);
        for (const Place& button : buttons) CHECK_FALSE(overlap(place, button));
        CHECK((y < place.min.y || y > place.max.y));
    }
    // A button in a row, above a column of answers: its box goes where it covers none of them.
    const Place button{{400, 150}, {480, 190}};
    const Place answers{{400, 200}, {700, 400}};
    CHECK_FALSE(overlap(at(button, {440, 170}, {answers}), answers));
    CHECK_FALSE(overlap(at(button, {440, 170}, {answers}), button));
    const Place above{{390, 60}, {760, 140}};
    CHECK_FALSE(overlap(at(button, {440, 170}, {answers, above}), answers));
    CHECK_FALSE(overlap(at(button, {440, 170}, {answers, above}), above));
}
