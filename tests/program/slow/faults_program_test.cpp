// The program on bad devices: what it prints, and what it returns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include <sys/wait.h>

#include "tests/faults/provoke.h"
#include "tests/sanitized.h"

using namespace lockstep::test;

namespace {

struct Run {
    int code = -1;
    std::string output; // line breaks as blanks
    bool says(const std::string& text) const { return output.find(text) != std::string::npos; }
};

Run runProgram(const CacheFolder& folder, const std::string& arguments, const std::string& faults) {
    const Faults injected(faults);
    const std::string out = (folder.path() / "out").string();
    const std::string command = "'" LOCKSTEP_PROGRAM "' " + arguments + " >" + out + " 2>&1 </dev/null";
    const int status = std::system(command.c_str());
    std::ostringstream text;
    text << std::ifstream(out).rdbuf();
    Run run{WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), text.str()};
    std::ranges::replace(run.output, '\n', ' ');
    INFO(command);
    INFO(run.output);
    CHECK(run.code < 128);
    CHECK_FALSE(run.says("VK_LAYER_LOCKSTEP_faults:")); // leaks and misuses
    CHECK_FALSE(run.says("Sanitizer: "));
    return run;
}

const std::string race = "race --quick --data circle --layers 8 --epochs 2 ";

} // namespace

TEST_CASE("no device: CPU lanes race, and the message names the driver to install") {
    const CacheFolder folder;
    for (const std::string fault : {"no-device", "empty-device-list", "incompatible-driver"}) {
        CAPTURE(fault);
        const Run mixed = runProgram(folder, race, fault);
        CHECK(mixed.code == 0);
        CHECK(mixed.says("gpu:best is left out"));
        CHECK(mixed.says("mesa-vulkan-drivers"));
        CHECK(mixed.says("cpu:best"));

        const Run asked = runProgram(folder, race + "--lane gpu:best", fault);
        CHECK(asked.code == 1);
        CHECK(asked.says("mesa-vulkan-drivers"));

        const Run devices = runProgram(folder, "devices", fault);
        CHECK(devices.code == 0);
        CHECK(devices.says("mesa-vulkan-drivers"));

        const Run training = runProgram(folder, "train --data circle --layers 8 --steps 5", fault);
        CHECK(training.code == 0);
        CHECK(training.says("cpu:best"));
    }
}

TEST_CASE("a deep network that does not fit is refused with what would fit, and trains with it") {
    const CacheFolder folder;
    std::string deep =
        "train --quiet --data circle --samples 2000 --batch 1024 --steps 3 --lane gpu:tiled --layers 64";
    for (int layer = 1; layer < 32; ++layer) deep += ",64";
    const Run refused = runProgram(folder, deep, "budget:12");
    CHECK(refused.code == 1);
    CHECK(refused.says("MiB are free. A batch of "));
    const std::size_t at = refused.output.find("; or the same batch with --recompute ");
    REQUIRE(at != std::string::npos);
    std::istringstream words(refused.output.substr(refused.output.find("--recompute", at)));
    std::string option, every;
    words >> option >> every;
    const Run saving = runProgram(folder, deep + " --memory " + option + " " + every, "budget:12");
    CHECK(saving.code == 0);
    CHECK(saving.says("allocated as predicted"));
    CHECK(saving.says("outputs of one layer in " + every + " kept"));
    CHECK(refused.says(" or --offload activations."));
    const Run away = runProgram(folder, deep + " --memory --offload activations", "budget:12");
    CHECK(away.code == 0);
    CHECK(away.says("allocated as predicted"));
    CHECK(away.says("activations in the host's memory"));
}

TEST_CASE("a device that is too old is named with the reason") {
    const CacheFolder folder;
    CHECK(runProgram(folder, "devices", "vulkan-1.1")
              .says("cannot be used: its driver supports only Vulkan 1.1"));
    const Run asked = runProgram(folder, race + "--lane gpu:best", "vulkan-1.1");
    CHECK(asked.code == 1);
    CHECK(asked.says("1.2 is needed"));
}

TEST_CASE("a lost, hanging or full device fails its lane and no other") {
    const CacheFolder folder;
    const std::string mixed = race + "--lane cpu:best --lane gpu:tiled --together";
    for (const std::string fault :
         {"vkQueueSubmit:4", "vkWaitSemaphores:6", "vkGetSemaphoreCounterValue:30"}) {
        CAPTURE(fault);
        const Run run = runProgram(folder, mixed, fault);
        CHECK(run.code == 1);
        CHECK(run.says("VK_ERROR_DEVICE_LOST"));
        CHECK(run.says("finished"));
    }
    const Run full = runProgram(folder, mixed, "vkAllocateMemory:9");
    CHECK(full.code == 1);
    CHECK(full.says("bytes needed"));
    CHECK(full.says("finished"));
}

TEST_CASE("experiments: a lost device ends one with its reason, none leaves the processor's half, a poor one "
          "does all") {
    const CacheFolder folder;
    for (const std::string fault : {"vkQueueSubmit:4", "vkWaitSemaphores:6"}) {
        CAPTURE(fault);
        const Run run = runProgram(folder, "lab launch --quick --quiet", fault);
        CHECK(run.code == 1);
        CHECK(run.says("VK_ERROR_DEVICE_LOST"));
    }
    const Run full = runProgram(folder, "lab neighbours --quick --quiet", "vkAllocateMemory:2");
    CHECK(full.code == 1);
    CHECK(full.says("bytes needed"));
    const std::string results = (folder.path() / "results").string();
    const Run none = runProgram(folder, "lab --quick --quiet --all " + results, "no-device");
    CHECK(none.code == 0);
    CHECK(none.says("mesa-vulkan-drivers"));
    CHECK(std::filesystem::exists(results + "/index.html"));
    CHECK_FALSE(std::filesystem::exists(results + "/launch.png"));
    const Run poor = runProgram(folder, "lab --quick --quiet --all " + results,
                                "low-limits,no-timestamps,no-push-descriptors,non-coherent,staged");
    CHECK(poor.code == 0);
    CHECK(std::filesystem::exists(results + "/launch.png"));
}

TEST_CASE("poor devices race to the end") {
    const CacheFolder folder;
    const Run run = runProgram(folder, race + "--lane cpu:best --lane gpu:best",
                               "low-limits,no-timestamps,no-push-descriptors,non-coherent,staged");
    CHECK(run.code == 0);
    CHECK(run.says("same mathematics"));
}

TEST_CASE("a checkpoint written before the loss stays, and training goes on from it") {
    const CacheFolder folder;
    const std::string file = (folder.path() / "weights.safetensors").string();
    const std::string whole = (folder.path() / "whole.safetensors").string();
    const std::string fresh = "train --data circle --layers 8 --batch 32 --lane gpu:tiled --epochs ";
    const std::string resumed = "train --lane gpu:tiled --epochs 4 --resume " + file + " --save " + file;
    CHECK(runProgram(folder, fresh + "2 --save " + file, "").code == 0);
    CHECK(runProgram(folder, resumed, "vkQueueSubmit:4").code == 1);
    CHECK(runProgram(folder, resumed, "").code == 0);
    CHECK(runProgram(folder, fresh + "4 --save " + whole, "").code == 0);
    const auto bytes = [](const std::string& name) {
        std::ostringstream text;
        text << std::ifstream(name, std::ios::binary).rdbuf();
        return text.str();
    };
    CHECK(bytes(file).size() > 100);
    CHECK(bytes(file) == bytes(whole));
}

namespace {

std::string stateFile(const std::string& exhibit) {
    return std::string(LOCKSTEP_SOURCE_DIR) + "/tests/window/" + exhibit + ".json";
}

std::string bytesOf(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
}

struct Picture {
    Run run;
    std::string png;
};

Picture picture(const CacheFolder& folder, const std::string& exhibit, const std::string& faults) {
    const std::filesystem::path file = folder.path() / "picture.png";
    std::filesystem::remove(file);
    Picture made;
    made.run = runProgram(folder,
                          "show " + stateFile(exhibit) +
                              " --headless --size 640x480 --mask --run --frames 12 --png " + file.string(),
                          faults);
    made.png = bytesOf(file);
    return made;
}

Run script(const CacheFolder& folder, const std::string& exhibit, const std::string& lines,
           const std::string& faults) {
    const std::filesystem::path file = folder.path() / "script.txt";
    std::ofstream(file) << "paint all\n" << lines; // calls to fail are counted over all frames
    return runProgram(
        folder, "show " + stateFile(exhibit) + " --headless --size 960x600 --mask --script " + file.string(),
        faults);
}

std::vector<std::uint64_t> failingCalls() {
    if (sanitized) return {1, 3, 14, 60};
    return {1, 2, 3, 5, 9, 14, 25, 60, 110};
}

} // namespace

TEST_CASE("a map keeps what other lanes have trained when one fails, and its picture is of one that has") {
    const CacheFolder folder;
    const auto file = [&](const char* name) { return (folder.path() / name).string(); };
    const auto map = [&](const std::string& lanes, const std::string& fault) {
        return runProgram(folder,
                          "map --network 2-4-1 --steps 40 --size 64x64 --quiet " + lanes + " --png " +
                              file("m.png") + " --csv " + file("m.csv") + " --json " + file("m.json"),
                          fault);
    };
    const std::string cpuFirst = "--lane cpu:best --lane gpu:best";
    for (const std::string& lanes : {cpuFirst, std::string("--lane gpu:best --lane cpu:best")}) {
        for (const auto& [call, reason] : {std::pair("vkQueueSubmit:2", "VK_ERROR_DEVICE_LOST"),
                                           std::pair("vkAllocateMemory:2", "bytes needed")}) {
            const std::string fault = call; // Clang 14: no structured bindings in lambdas, which CAPTURE is
            CAPTURE(lanes);
            CAPTURE(fault);
            std::filesystem::remove(file("m.png"));
            const Run run = map(lanes, fault);
            CHECK(run.code == 1);
            CHECK(run.says("gpu:best failed with 0 of 4,096 networks trained: "));
            const auto json = nlohmann::json::parse(bytesOf(file("m.json")));
            const std::size_t cpu = lanes == cpuFirst ? 0 : 1;
            CHECK(json["lanes"][cpu]["status"] == "finished");
            CHECK(json["lanes"][cpu]["message"].is_null());
            CHECK(json["lanes"][1 - cpu]["status"] == "failed");
            CHECK(json["lanes"][1 - cpu]["networks"] == 0);
            CHECK(json["lanes"][1 - cpu]["message"].get<std::string>().find(reason) != std::string::npos);
            CHECK(json["lanes"][1 - cpu]["agreement"]["same_side"].is_null());
            CHECK(bytesOf(file("m.png")).size() > 500);
            CHECK(std::ranges::count(bytesOf(file("m.csv")), '\n') == 1 + 64 * 64);
        }
    }
    std::filesystem::remove(file("m.png"));
    CHECK(map("--lane gpu:best", "vkQueueSubmit:2").code == 1);
    CHECK_FALSE(std::filesystem::exists(file("m.png")));
}

TEST_CASE("pictures on poor devices are the same pictures") {
    const CacheFolder folder;
    for (const std::string exhibit : {"race", "playground"}) {
        CAPTURE(exhibit);
        const Picture expected = picture(folder, exhibit, "");
        int number = 0;
        CHECK(expected.run.code == 0);
        CHECK(expected.png.size() > 1000);
        for (const std::string fault : {"non-coherent", "staged", "non-coherent,staged", "no-timestamps",
                                        "no-push-descriptors", "low-limits"}) {
            if (sanitized && (number++ % 2 == 0) != (exhibit == "race")) continue; // each in one of the two
            CAPTURE(fault);
            const Picture made = picture(folder, exhibit, fault);
            CHECK(made.run.code == 0);
            CHECK(made.png == expected.png);
        }
    }
}

TEST_CASE("pictures on faulty devices: an end with a reason, or a picture; never a crash, a hang or a leak") {
    const CacheFolder folder;
    for (const std::string function : {"vkQueueSubmit:", "vkWaitForFences:", "vkWaitSemaphores:",
                                       "vkGetSemaphoreCounterValue:", "create:", "vkAllocateMemory:"}) {
        const bool loss = function.starts_with("vkQueue") || function.starts_with("vkWait") ||
                          function.starts_with("vkGet");
        for (const std::uint64_t number : failingCalls()) {
            const std::string exhibit = number % 2 == 0 ? "race" : "playground";
            const std::string fault = function + std::to_string(number);
            CAPTURE(fault);
            const Picture made = picture(folder, exhibit, fault);
            CHECK((made.run.code == 0 || made.run.code == 1));
            if (made.run.code == 0) {
                CHECK(made.png.size() > 1000);
                continue;
            }
            CHECK(made.png.empty());
            // A buffer of the engine's or the window's says how much; other calls have only their result.
            CHECK((made.run.says(loss ? "VK_ERROR_DEVICE_LOST" : "VK_ERROR_OUT_OF_DEVICE_MEMORY") ||
                   (!loss && made.run.says("memory"))));
        }
    }
    // What a frame asks for is asked for once more.
    const Picture again = picture(folder, "race", "vkCreateImage:1");
    CHECK(again.run.code == 0);
    CHECK(again.png.size() > 1000);
    CHECK(again.run.says("VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    for (const std::string fault : {"vkCreateGraphicsPipelines:1", "vkCreateRenderPass:1",
                                    "vkCreateImageView:2", "vkCreateFramebuffer:1", "vkCreateFence:1"}) {
        CAPTURE(fault);
        const Picture made = picture(folder, "race", fault);
        CHECK(made.run.code == 1);
        CHECK(made.run.says("VK_ERROR_OUT_OF_DEVICE_MEMORY"));
    }
}

TEST_CASE("without memory for a picture the window says so, goes on, and shows it once there is some") {
    const CacheFolder folder;
    int survived = 0;
    for (const int number : {2, 3, 4, 5, 6}) {
        const std::string fault = "vkCreateImage:" + std::to_string(number);
        CAPTURE(fault);
        const Picture made = picture(folder, "playground", fault);
        CHECK((made.run.code == 0 || made.run.code == 1));
        CHECK(made.run.says("VK_ERROR_OUT_OF_DEVICE_MEMORY"));
        CHECK((made.png.size() > 1000) == (made.run.code == 0));
        survived += made.run.code == 0 ? 1 : 0;
    }
    CHECK(survived >= 3);
}

TEST_CASE("tensors that had no memory for their picture are shown once there is some") {
    const CacheFolder folder;
    const std::string file = (folder.path() / "tensors.png").string();
    // The message that the state was saved takes the place of the error's.
    const auto shown = [&](const std::string& faults) {
        std::filesystem::remove(file);
        const Run run =
            script(folder, "inside",
                   "click ##inside/tab/Tensors\nframes 2\nclick Next operation\nframes 6\nstate " +
                       (folder.path() / "s.json").string() + "\npicture " + file + "\n",
                   faults);
        CHECK(run.code == 0);
        CHECK(run.says("VK_ERROR_OUT_OF_DEVICE_MEMORY") == !faults.empty());
        return bytesOf(file);
    };
    const std::string expected = shown("");
    CHECK(expected.size() > 1000);
    // The first are the letters and what the window draws into.
    for (const std::string fault :
         {"vkCreateImage:3", "vkCreateImage:4", "vkCreateImage:5", "vkCreateImage:6"}) {
        CAPTURE(fault);
        CHECK(shown(fault) == expected);
    }
}

TEST_CASE("a device that is lost again and again ends the program with the reason") {
    const CacheFolder folder;
    const Picture made = picture(folder, "race", "vkWaitForFences:3");
    CHECK(made.run.code == 1);
    CHECK(made.run.says("has been restarted"));
    CHECK(made.run.says("was lost 3 times within a minute"));
    CHECK(made.run.says("VK_ERROR_DEVICE_LOST"));
}

TEST_CASE("a lost device costs the window nothing that was learned or seen") {
    const CacheFolder folder;
    const std::filesystem::path state = folder.path() / "after.json";
    // Either the window or a lane notices first.
    for (const std::string fault :
         {"once,vkWaitForFences:30", "once,vkQueueSubmit:150", "once,vkGetSemaphoreCounterValue:300"}) {
        CAPTURE(fault);
        const Run playground = script(
            folder, "playground", "click Run\nframes 60\nclick Pause\nstate " + state.string() + "\n", fault);
        CHECK(playground.code == 0);
        CHECK(playground.says("The graphics device was lost"));
        CHECK(playground.says("The playground continues from step"));
        const auto saved = nlohmann::json::parse(bytesOf(state))["exhibits"]["playground"];
        CHECK(saved["step"].get<int>() >= 600); // ten in every frame, before the loss and after it
    }
    const std::string before = (folder.path() / "before.png").string();
    const std::string after = (folder.path() / "after.png").string();
    const Run lost = script(folder, "race",
                            "click Run\nframes 25\npicture " + before + "\nframes 25\npicture " + after +
                                "\nclick Run\nframes 8\n",
                            "once,vkWaitForFences:60");
    CHECK(lost.code == 0);
    CHECK(lost.says("The race is over: cpu:simd ended at step"));
    CHECK(lost.says("Press Run to start another race beside them"));
    const Run inside = script(folder, "inside", "frames 5\nkey S\nkey S\nframes 30\nkey S\nframes 5\n",
                              "once,vkWaitForFences:40");
    CHECK(inside.code == 0);
    CHECK(inside.says("The traces stay"));
}
