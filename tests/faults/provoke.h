// Faults for as long as an object lives, and what the layer has seen of them.
#pragma once

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include "tests/data_files.h"
#include "tests/faults/faults.h"

namespace lockstep::test {

enum class Above { nothing, validation };

/// Sets the environment from which the next instance takes the layer and its faults, in this process and its
/// children.
class Faults {
  public:
    /// `faults` as in faults.h; empty: the layer only watches. Khronos's validation above the layer judges
    /// the program by what this one pretends.
    explicit Faults(const std::string& faults, Above above = Above::nothing) {
        // Older loaders stack layers in the order in which they find them, newer ones as they are listed.
        const bool validated = above == Above::validation;
        const std::string system =
            "/usr/share/vulkan/explicit_layer.d:/usr/local/share/vulkan/explicit_layer.d:";
        setenv("VK_LAYER_PATH", ((validated ? system : "") + LOCKSTEP_FAULTS_FOLDER).c_str(), 1);
        setenv("VK_INSTANCE_LAYERS",
               validated ? "VK_LAYER_KHRONOS_validation:VK_LAYER_LOCKSTEP_faults"
                         : "VK_LAYER_LOCKSTEP_faults",
               1);
        setenv("NODEVICE_SELECT", "1", 1); // a layer of Mesa's, which crashes on an empty list of devices
        setenv("LOCKSTEP_FAULT", faults.c_str(), 1);
        report(); // keeps the library here when the loader lets go of it
    }
    ~Faults() {
        for (const char* name : {"VK_LAYER_PATH", "VK_INSTANCE_LAYERS", "NODEVICE_SELECT", "LOCKSTEP_FAULT"})
            unsetenv(name);
    }
    Faults(const Faults&) = delete;
    Faults& operator=(const Faults&) = delete;

    /// What has happened in this process since the last instance was made.
    static const faults::Report& report() {
        static const auto function = exported<faults::ReportFunction>(faults::reportFunction);
        return *function();
    }

    /// The next call of a Vulkan function fails.
    static void failNext(const char* function) {
        exported<faults::FailNextFunction>(faults::failNextFunction)(function);
    }

  private:
    template <class Function> static Function exported(const char* name) {
        void* function = dlsym(dlopen(LOCKSTEP_FAULTS_LAYER, RTLD_NOW | RTLD_LOCAL), name);
        REQUIRE((function != nullptr));
        return reinterpret_cast<Function>(function);
    }
};

/// Every device that was made is gone, nothing was left on it, and nothing forbidden was done to it.
inline void checkNothingLeft() {
    CHECK(Faults::report().destroyed == Faults::report().devices);
    CHECK(Faults::report().leaked == 0);
    CHECK(Faults::report().misuses == 0);
}

} // namespace lockstep::test
