// Shared libraries that are looked for when the program runs, so that it starts without them.
#pragma once

#include <filesystem>

namespace lockstep::platform {

/// A shared library of the system's kind: .so, .dylib, .dll. It stays loaded for good, because libraries such
/// as drivers keep threads and thread-local state that outlive every use of them.
class Library {
  public:
    /// No library: function() finds nothing.
    Library() = default;

    /// Loads one: by a name alone where the system looks for libraries, by a path from there. Check it with
    /// operator bool.
    static Library open(const std::filesystem::path& file);

    /// What the running program has loaded by now, and itself.
    static Library ofProcess();

    explicit operator bool() const { return handle_ != nullptr; }

    /// The function of this name; null if there is none. `Function` is a pointer to a function.
    template <class Function> Function function(const char* name) const {
        return reinterpret_cast<Function>(find(name));
    }

  private:
    using Anything = void (*)();
    explicit Library(void* handle) : handle_(handle) {}
    Anything find(const char* name) const;

    void* handle_ = nullptr;
};

/// What the system calls Vulkan's loader and NVIDIA's management library, which drivers install.
extern const char* const vulkanLoader;
extern const char* const nvidiaManagement;

/// What a person installs to have Vulkan, as the object of "Install".
extern const char* const vulkanPackage;

} // namespace lockstep::platform
