// Where the tensors of an operation stand in "Inside a step".
#include <algorithm>

#include <doctest/doctest.h>

#include "demos/exhibits/inside/tensor_layout.h"

using namespace lockstep::demos;

namespace {

constexpr TensorLengths lengths{.caption = 20, .gap = 10, .between = 24, .least = 20, .cell = 44};

TensorPlace matrix(float rows, float columns) { return {.rows = rows, .columns = columns, .caption = 80}; }

TensorPlaces forwardPass() {
    return {std::vector{matrix(128, 256)}, {matrix(128, 784), matrix(256, 784), matrix(1, 256)}};
}

// The share of the room that pictures take with their captions.
float shareOf(const TensorPlaces& places, ImVec2 room) {
    float area = 0;
    for (const auto& group : places)
        for (const TensorPlace& place : group) area += place.size.x * (place.size.y + lengths.caption);
    return area / (room.x * room.y);
}

bool apart(const TensorPlace& a, const TensorPlace& b) {
    return a.at.x + a.size.x <= b.at.x || b.at.x + b.size.x <= a.at.x ||
           a.at.y + lengths.caption + a.size.y <= b.at.y || b.at.y + lengths.caption + b.size.y <= a.at.y;
}

} // namespace

TEST_CASE("tensors fill most of their room, also a low one, and do not touch") {
    for (const ImVec2 room : {ImVec2{540, 390}, ImVec2{760, 330}, ImVec2{700, 100}, ImVec2{560, 180}}) {
        CAPTURE(room.x);
        TensorPlaces places = forwardPass();
        CHECK(layOutTensors(places, room, lengths) <= room.y + 0.5f);
        CHECK(shareOf(places, room) > 0.72f);
        std::vector<TensorPlace> all = places[0];
        all.insert(all.end(), places[1].begin(), places[1].end());
        REQUIRE(all.size() == 4);
        for (std::size_t i = 0; i < all.size(); ++i) {
            CHECK(all[i].at.x + all[i].size.x <= room.x + 1);
            for (std::size_t k = 0; k < i; ++k) CHECK(apart(all[i], all[k]));
        }
    }
}

TEST_CASE("a group alone takes all of the width, and many tensors take several rows") {
    TensorPlaces one{std::vector{matrix(128, 256)}, {}};
    layOutTensors(one, {400, 200}, lengths);
    CHECK(one[0][0].size.x == doctest::Approx(400));
    CHECK(one[0][0].size.y == doctest::Approx(180));
    TensorPlaces alone;
    alone[1] = {matrix(128, 256)};
    layOutTensors(alone, {400, 200}, lengths);
    CHECK(alone[1][0].at.x == 0);
    CHECK(alone[1][0].size.x == doctest::Approx(400));

    TensorPlaces many;
    for (auto& group : many)
        for (int i = 0; i < 12; ++i) group.push_back(matrix(i < 6 ? 128 : 1, 256));
    CHECK(layOutTensors(many, {600, 300}, lengths) <= 300.5f);
    // Where there is no room, they are small and need more height: the card scrolls.
    CHECK(layOutTensors(many, {300, 60}, lengths) > 60);
    for (const auto& group : many)
        for (const TensorPlace& place : group) CHECK(place.size.y >= lengths.least);
}

TEST_CASE("cells of a small tensor are not larger than need be") {
    TensorPlaces places{std::vector{matrix(2, 8)}, {}};
    layOutTensors(places, {700, 500}, lengths);
    CHECK(places[0][0].size.y == doctest::Approx(2 * lengths.cell));
}
