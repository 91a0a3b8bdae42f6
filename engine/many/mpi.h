// Ranks as processes, on one machine or on many, by MPI. Only the library lockstep_mpi links MPI; it is
// loaded when ranks are asked for, so that the program starts without MPI, and says what to install.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "engine/many/transport.h"

namespace lockstep {

/// How many ranks mpirun or a cluster's scheduler has started this process among, by the environment; empty:
/// it was started by itself.
std::optional<std::size_t> ranksByEnvironment();
/// This process's number among them. Before, and without, any MPI.
std::size_t rankByEnvironment();

/// Loads lockstep_mpi from beside the program or from its libraries, initialises MPI on the calling thread,
/// and returns this process's end. MPI is finalised when it goes. Once per process. Throws std::runtime_error
/// that names the package to install where the library, or MPI, is missing.
std::unique_ptr<Transport> mpiTransport(const std::filesystem::path& folder);

} // namespace lockstep
