// What a person does with the mosaic, by scripts: a click takes a network to the playground, the mouse
// enlarges one, a button sorts them.
#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "tests/picture_compare.h"
#include "tests/show_script.h"

using namespace lockstep::test;
using Json = nlohmann::ordered_json;

namespace {

const std::string trained =
    "click Run\nframes 36\nclick Pause\nframes 2\n"; // 360 of 600 steps: five rows on the CPU

/// Whether two pictures are not the same, to the pixel.
bool differ(const Folder& folder, const char* first, const char* second) {
    return contents(folder.file(first)) != contents(folder.file(second));
}

} // namespace

TEST_CASE("a click shows a network, and from there it opens in the playground as it is: data, settings and "
          "weights") {
    for (const std::string side : {"GPU", "CPU"}) {
        CAPTURE(side);
        const Folder folder;
        const Outcome outcome = showScript(
            folder, "mosaic",
            "click Playground\nclick data/checkerboard\nclick +##layers\n"
            "state " +
                folder.file("before.json") + "\nclick Mosaic\n" + trained + "hover mosaic/tiles " + side +
                "\ndown\nup\nframes 2\nclick Open in Playground##mosaic\nframes 5\nstate " +
                folder.file("s.json") + "\nkey Ctrl+Z\nframes 2\nstate " + folder.file("back.json") + "\n");
        INFO(outcome.out << outcome.err);
        REQUIRE(outcome.code == 0);
        const Json state = Json::parse(contents(folder.file("s.json")));
        CHECK(state["exhibit"] == "playground");
        const Json& playground = state["exhibits"]["playground"];
        CHECK(playground["data"] == state["exhibits"]["mosaic"]["data"]);
        CHECK(playground["hidden"] == state["exhibits"]["mosaic"]["hidden"]);
        // The middle of 8 columns is the edge of the fourth and the fifth.
        const double rate = playground["settings"].value("lr", 0.0);
        const double column = std::log(rate / 0.001) / std::log(10 / 0.001) * 7;
        CHECK(std::abs(column - std::round(column)) < 1e-3);
        CHECK(std::round(column) >= 3);
        CHECK(std::round(column) <= 4);
        CHECK(playground["step"] > 0);
        CHECK(playground["weights"].size() > 10);
        const Json back = Json::parse(contents(folder.file("back.json")))["exhibits"]["playground"];
        CHECK(back == Json::parse(contents(folder.file("before.json")))["exhibits"]["playground"]);
        CHECK(back["data"] != playground["data"]);
    }
}

TEST_CASE("the mouse enlarges a tile, and sorting moves all of them") {
    const Folder folder;
    const auto saved = [&](const char* name) { return "picture " + folder.file(name) + "\nframes 1\n"; };
    const Outcome outcome = showScript(
        folder, "mosaic",
        trained + "move 0.01 0.99\nframes 2\n" + saved("plain.png") + "hover mosaic/tiles GPU\nframes 2\n" +
            saved("hovered.png") + "move 0.01 0.99\nframes 2\n" + saved("again.png") +
            "click Sort##mosaic\nmove 0.01 0.99\nframes 2\n" + saved("sorted.png") +
            "click Sort##mosaic\nmove 0.01 0.99\nframes 2\n" + saved("back.png") +
            "click Sort##mosaic\nstate " + folder.file("s.json") + "\n");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    CHECK(differ(folder, "plain.png", "hovered.png"));
    CHECK_FALSE(differ(folder, "plain.png", "again.png"));
    CHECK(differ(folder, "plain.png", "sorted.png"));
    CHECK_FALSE(differ(folder, "plain.png", "back.png"));
    CHECK(Json::parse(contents(folder.file("s.json")))["exhibits"]["mosaic"]["view"]["sorted"] == true);
}

TEST_CASE("tiles too small for predictions show their losses, and the mouse a network's predictions") {
    const Folder folder;
    const Outcome outcome = showScript(
        folder, "mosaic",
        "click Settings##mosaic\nclick ##mosaic/size\nclick ##mosaic/size/32 x 32\nclick Settings##mosaic\n" +
            trained + "move 0.01 0.99\nframes 2\n" + "picture " + folder.file("losses.png") +
            "\nframes 1\ncontrols\n" + "hover mosaic/tiles GPU\nframes 2\npicture " +
            folder.file("lens.png") + "\n",
        "--size 1280x800");
    INFO(outcome.out << outcome.err);
    REQUIRE(outcome.code == 0);
    // Orange and blue, as predictions have them: of the best network, and of the one under the mouse.
    const auto predicted = [&](const char* name) {
        const ReadPicture picture = readPicture(folder.file(name));
        std::size_t count = 0;
        for (std::size_t i = 0; i + 2 < picture.rgb.size(); i += 3)
            count += picture.rgb[i] > 200 && picture.rgb[i + 1] > 120 && picture.rgb[i + 2] < 30 ? 1 : 0;
        return count;
    };
    const std::size_t card = predicted("losses.png");
    CHECK(card > 1000);
    CHECK(card < 40000); // two mosaics of predictions have more
    CHECK(predicted("lens.png") > card + 1000);
}
