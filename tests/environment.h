// Environment variables, on every system.
#pragma once

#include <cstdlib>
#include <optional>
#include <string>

namespace lockstep::test {

/// For doctest::skip(): what Windows lacks, or what Wine's Vulkan does not hand on (layers).
#ifdef _WIN32
inline constexpr bool onWindows = true;
#else
inline constexpr bool onWindows = false;
#endif

/// nothing: removes it
inline void setVariable(const char* name, const std::optional<std::string>& value) {
#ifdef _WIN32
    _putenv_s(name, value ? value->c_str() : ""); // empty: removed
#else
    value ? setenv(name, value->c_str(), 1) : unsetenv(name);
#endif
}

/// A variable's value for as long as it lives.
class Environment {
  public:
    Environment(const char* name, const std::string& value) : name_(name) {
        if (const char* before = std::getenv(name)) before_ = before;
        setVariable(name, value);
    }
    ~Environment() { setVariable(name_, before_); }
    Environment(const Environment&) = delete;
    Environment& operator=(const Environment&) = delete;

  private:
    const char* name_;
    std::optional<std::string> before_;
};

} // namespace lockstep::test
