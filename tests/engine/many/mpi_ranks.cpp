// A program for mpirun: exchanges between processes, for mpi_exchange_test.cpp to look at. Rank 0 prints.
//   mpi_ranks FOLDER sums FORMAT ALGORITHM   the checksum of many sums, which has to be that of threads
//   mpi_ranks FOLDER missing RANK            a rank that begins no exchange
//   mpi_ranks FOLDER sizes                   a rank that is about something else
//   mpi_ranks FOLDER abort                   a rank that ends all
//   mpi_ranks FOLDER throws                  a rank that ends by an error
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>
#include <vector>

#include "engine/many/exchange.h"
#include "engine/many/mpi.h"
#include "tests/engine/many/ranks.h"

using namespace lockstep;

namespace {

void sums(const char* folder, const std::string& format, const std::string& allReduce) {
    Exchange exchange([&] { return mpiTransport(folder); },
                      {.format = exchangeFormatFromName(format), .allReduce = allReduceFromName(allReduce)});
    if (ranksByEnvironment() != exchange.ranks() || rankByEnvironment() != exchange.rank() ||
        exchange.localRank() != exchange.rank() || exchange.localRanks() != exchange.ranks())
        exchange.abort("the environment tells of other ranks");
    const std::string own = std::to_string(test::checksumOfSums(exchange));
    exchange.agree("checksum", own);
    if (exchange.rank() == 0) std::printf("%s\n", own.c_str());
}

void lose(const char* folder, const std::string& how, std::size_t which) {
    Exchange exchange([&] { return mpiTransport(folder); },
                      {.patienceSeconds = how == "missing" ? 0.5 : 30.0});
    std::vector<float> numbers(100000, 1.0f);
    exchange.wait(exchange.sum(numbers, {0, 0}));
    if (exchange.rank() == which) {
        if (how == "missing") std::this_thread::sleep_for(std::chrono::seconds(5));
        if (how == "sizes") numbers.resize(50000);
        if (how == "abort") exchange.abort("the disk is full");
        if (how == "throws") throw std::runtime_error("an error of its own");
    }
    exchange.wait(exchange.sum(numbers, {12, 3}));
    std::puts("nobody was missed");
}

} // namespace

int main(int argc, char** argv) {
    try {
        const std::vector<std::string> words(argv + 1, argv + argc);
        if (words.at(1) == "sums")
            sums(argv[1], words.at(2), words.at(3));
        else
            lose(argv[1], words.at(1), words.size() > 2 ? std::stoul(words[2]) : 1);
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "error: %s\n", error.what());
        return 1;
    }
}
