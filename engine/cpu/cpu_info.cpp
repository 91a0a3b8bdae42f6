#include "engine/cpu/cpu_info.h"

#include "engine/platform/processors.h"

namespace lockstep {

namespace {

#if defined(__aarch64__)
constexpr const char* architecture = "AArch64";
constexpr const char* baselineVectors = "NEON";
#elif defined(__x86_64__)
constexpr const char* architecture = "x86-64";
constexpr const char* baselineVectors = "SSE2";
#else
constexpr const char* architecture = "unknown architecture";
constexpr const char* baselineVectors = "compiler's vectors";
#endif

std::string readCpuName() {
    const std::string name = platform::processorName();
    return name.empty() ? std::string("processor (") + architecture + ")" : name;
}

} // namespace

std::string cpuName() {
    static const std::string name = readCpuName(); // frames of a window ask for it
    return name;
}

std::size_t usableCores() { return platform::usableProcessors().size(); }

CoreCount usablePhysicalCores() { return platform::usableCores(platform::usableProcessors()); }

VectorLevel vectorLevel() {
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return VectorLevel::avx512;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return VectorLevel::avx2;
#endif
    return VectorLevel::baseline;
}

bool hasBf16Instructions() {
#if defined(__x86_64__)
    return vectorLevel() == VectorLevel::avx512 && __builtin_cpu_supports("avx512bf16");
#else
    return false;
#endif
}

bool hasInt8Instructions() {
#if defined(__x86_64__)
    return vectorLevel() == VectorLevel::avx512 && __builtin_cpu_supports("avx512vnni");
#else
    return false;
#endif
}

const char* name(VectorLevel level) {
    switch (level) {
    case VectorLevel::avx512: return "AVX-512";
    case VectorLevel::avx2: return "AVX2";
    case VectorLevel::baseline: break;
    }
    return baselineVectors;
}

} // namespace lockstep
