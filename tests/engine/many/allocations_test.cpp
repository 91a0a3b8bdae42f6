// Once sizes are known, an exchange allocates nothing: training steps do not either.
#include <doctest/doctest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <vector>

#include "tests/engine/many/ranks.h"

namespace {
std::atomic<std::size_t> allocations = 0;
} // namespace

[[gnu::noinline]] void* operator new(std::size_t size) {
    ++allocations;
    if (void* memory = std::malloc(size == 0 ? 1 : size)) return memory;
    throw std::bad_alloc();
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

using namespace lockstep;
using namespace lockstep::test;

TEST_CASE("exchanges of known sizes allocate nothing") {
    for (const ExchangeFormat format : {ExchangeFormat::fp32, ExchangeFormat::fp16, ExchangeFormat::topK})
        for (const AllReduce allReduce : {AllReduce::ring, AllReduce::tree, AllReduce::naive}) {
            CAPTURE(name(format));
            CAPTURE(name(allReduce));
            std::size_t during = 1;
            onRanks(3, {.format = format, .allReduce = allReduce}, [&](Exchange& exchange, std::size_t rank) {
                std::vector<float> first = numbersOf(rank, 1000), second = numbersOf(rank, 300);
                const std::vector<std::size_t> bounds{0, 100, 100, 300};
                std::size_t before = 0;
                for (std::uint64_t step = 0; step < 13; ++step) {
                    if (rank == 0 && step == 3) before = allocations;
                    exchange.sum(first, {step, 0});
                    exchange.gather(second, bounds, {step, 1});
                    if (format != ExchangeFormat::topK) exchange.scatterSum(second, bounds, {step, 1});
                    double loss = 1;
                    exchange.wait(exchange.sumSmall({&loss, 1}, {step, 0}));
                    for (float& number : first) number /= 3;
                }
                if (rank == 0) during = allocations - before;
            });
            CHECK(during == 0);
        }
}
