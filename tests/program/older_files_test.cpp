// Files that earlier versions have written, kept in tests/older/VERSION: this version reads them.
#include "tests/run_program.h"

#include <nlohmann/json.hpp>

using namespace lockstep::test;
using Json = nlohmann::json;

namespace {

std::vector<fs::path> versions() {
    std::vector<fs::path> folders;
    for (const auto& entry : fs::directory_iterator(fs::path(LOCKSTEP_SOURCE_DIR) / "tests/older"))
        folders.push_back(entry.path());
    return folders;
}

std::string quoted(const fs::path& file) { return "'" + file.string() + "'"; }

/// What the version itself said of its files.
Json expectedOf(const fs::path& version) { return Json::parse(contents(version / "expected.json")); }

} // namespace

TEST_CASE("networks of earlier versions predict, and their training goes on") {
    CHECK_FALSE(versions().empty());
    for (const fs::path& version : versions()) {
        CAPTURE(version);
        const std::string model = quoted(version / "run.safetensors");
        const Outcome predicted = run("predict --data spiral --model " + model);
        CHECK(predicted.code == 0);
        CHECK(predicted.says(expectedOf(version).at("accuracy").get<std::string>()));
        const Outcome resumed = run("train --lane cpu:simd --steps 25 --resume " + model);
        CHECK(resumed.code == 0);
        CHECK(resumed.says("step 25"));
    }
}

TEST_CASE("states of earlier versions open") {
    for (const fs::path& version : versions()) {
        CAPTURE(version);
        const Folder folder;
        std::ofstream(folder.file("script.txt")) << "key Ctrl+S\n";
        REQUIRE(run("show " + quoted(version / "state.json") + " --headless --script script.txt",
                    "cd " + quoted(folder.path) + " &&")
                    .code == 0);
        const Json before = Json::parse(contents(version / "state.json"));
        const Json after = Json::parse(contents(folder.path / "lockstep-state.json"));
        CHECK(after.at("title") == before.at("title"));
        CHECK(after.at("exhibits").at("playground").at("data") == expectedOf(version).at("playground"));
    }
}

TEST_CASE("cards of earlier versions can be compared") {
    for (const fs::path& version : versions()) {
        CAPTURE(version);
        const std::string card = quoted(version / "card.json");
        const Outcome compared = run("card --compare " + card + " " + card);
        CHECK(compared.code == 0);
        CHECK(compared.says("Version " + version.filename().string().substr(0, 3)));
    }
}
