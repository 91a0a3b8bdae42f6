#include "engine/many/mpi.h"

#include <array>
#include <cstdlib>
#include <stdexcept>
#include <system_error>

#include "engine/platform/library.h"

namespace lockstep {

namespace {

constexpr const char* moduleFile = "lockstep_mpi.so"; // everywhere: engine/CMakeLists.txt
constexpr const char* moduleFunction = "lockstepMpiTransport";

// What starts ranks tells them in variables of its own: Open MPI; MPICH, Intel MPI; Slurm's srun.
struct Starter {
    const char* ranks;
    const char* rank;
    bool alone; // whether one rank means that ranks were asked for: srun also starts a shell so
};
constexpr std::array<Starter, 3> starters{{{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", true},
                                           {"PMI_SIZE", "PMI_RANK", true},
                                           {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", false}}};

std::optional<std::size_t> numberFrom(const char* variable) {
    const char* text = std::getenv(variable);
    if (text == nullptr) return {};
    char* end = nullptr;
    const unsigned long long number = std::strtoull(text, &end, 10);
    if (end == text || *end != '\0') return {};
    return static_cast<std::size_t>(number);
}

struct Place {
    std::size_t ranks, rank;
};
std::optional<Place> placeByEnvironment() {
    for (const Starter& starter : starters) {
        const auto ranks = numberFrom(starter.ranks), rank = numberFrom(starter.rank);
        if (ranks && rank && *rank < *ranks && (*ranks > 1 || starter.alone)) return Place{*ranks, *rank};
    }
    return {};
}

} // namespace

std::optional<std::size_t> ranksByEnvironment() {
    const auto place = placeByEnvironment();
    return place ? std::optional(place->ranks) : std::nullopt;
}

std::size_t rankByEnvironment() {
    const auto place = placeByEnvironment();
    return place ? place->rank : 0;
}

std::unique_ptr<Transport> mpiTransport(const std::filesystem::path& folder) {
    // Beside the program in a build folder; in an installation, below the libraries.
    const std::array<std::filesystem::path, 2> places{folder / moduleFile,
                                                      folder.parent_path() / "lib" / "lockstep" / moduleFile};
    for (const std::filesystem::path& place : places) {
        std::error_code error;
        if (!std::filesystem::exists(place, error)) continue;
        const platform::Library module = platform::Library::open(place);
        if (!module)
            throw std::runtime_error(place.string() +
                                     " does not load, because Open MPI is missing. Install it: on "
                                     "Debian and Ubuntu `apt-get install openmpi-bin`");
        const auto make = module.function<Transport* (*)()>(moduleFunction);
        if (make == nullptr)
            throw std::runtime_error(place.string() + " is not this program's: there is no " +
                                     moduleFunction + " in it");
        return std::unique_ptr<Transport>(make());
    }
    throw std::runtime_error("this program was built without MPI: there is neither " + places[0].string() +
                             " nor " + places[1].string() +
                             ". Install it, on Debian and Ubuntu by `apt-get install openmpi-bin "
                             "libopenmpi-dev`, and build again");
}

} // namespace lockstep
