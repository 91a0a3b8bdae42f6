// Replaces the global operator new of a test program to learn the largest piece of memory that was asked for.
// To be included by one source file of the program.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace lockstep::test {

inline std::size_t largestAllocation = 0;

} // namespace lockstep::test

// Not inlined, or the compiler pairs a visible free with a new that it does not see through, and warns.
[[gnu::noinline]] void* operator new(std::size_t size) {
    lockstep::test::largestAllocation = std::max(lockstep::test::largestAllocation, size);
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}

[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
