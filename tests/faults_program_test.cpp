// The program on bad devices: what it prints, and what it returns.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/wait.h>

#include "tests/faults/provoke.h"

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
    return run;
}

const std::string race = "race --data circle --layers 8 --epochs 2 ";

} // namespace

TEST_CASE("no device: processors race, and the driver to install is named") {
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

TEST_CASE("a device that is too old is named with the reason") {
    const CacheFolder folder;
    CHECK(runProgram(folder, "devices", "vulkan-1.1").says("cannot be used: its driver offers Vulkan 1.1"));
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
