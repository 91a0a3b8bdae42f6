// What the fuzz targets share: libFuzzer's entry point, and which exceptions a reader may throw.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <span>
#include <stdexcept>
#include <string_view>
#include <typeinfo>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace lockstep::fuzz {

/// Runs a reader. It may succeed, or throw exactly std::runtime_error with a message that begins with the
/// file's name; where `refusals` are allowed, std::invalid_argument too. Anything else (std::bad_alloc,
/// std::length_error, ...) ends the program, which libFuzzer reports with the input.
template <class Reader>
void expectDocumented(std::string_view name, const Reader& reader, bool refusals = false) {
    try {
        reader();
    } catch (const std::exception& error) {
        const bool documented =
            typeid(error) == typeid(std::runtime_error) && std::string_view(error.what()).starts_with(name);
        const bool refused = refusals && typeid(error) == typeid(std::invalid_argument);
        if (documented || refused) return;
        std::cerr << "undocumented " << typeid(error).name() << ": " << error.what() << '\n';
        std::abort();
    }
}

/// Ends the program when something that has to hold does not.
inline void require(bool holds, const char* what) {
    if (holds) return;
    std::cerr << "does not hold: " << what << '\n';
    std::abort();
}

} // namespace lockstep::fuzz
