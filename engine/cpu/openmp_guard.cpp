// The two OpenMP functions are looked up in the running process rather than linked: the ones that count are
// those of the OpenMP runtime which oneDNN brought along, GNU's or LLVM's, whichever compiler built this
// file.
#include "engine/cpu/openmp_guard.h"

#if defined(__unix__) || defined(__APPLE__)
#include <dlfcn.h>
#endif

namespace lockstep {

namespace {

struct OpenMp {
    int (*getMaxThreads)() = nullptr;
    void (*setNumThreads)(int) = nullptr;
};

OpenMp findOpenMp() {
    OpenMp functions;
#if defined(__unix__) || defined(__APPLE__)
    functions.getMaxThreads = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "omp_get_max_threads"));
    functions.setNumThreads = reinterpret_cast<void (*)(int)>(dlsym(RTLD_DEFAULT, "omp_set_num_threads"));
#endif
    return functions;
}

const OpenMp& openMp() {
    static const OpenMp functions = findOpenMp();
    return functions;
}

} // namespace

OpenMpGuard::OpenMpGuard() {
    if (openMp().getMaxThreads == nullptr || openMp().setNumThreads == nullptr) return;
    threadsBefore_ = openMp().getMaxThreads();
    openMp().setNumThreads(1);
}

OpenMpGuard::~OpenMpGuard() {
    if (threadsBefore_ > 0) openMp().setNumThreads(threadsBefore_);
}

} // namespace lockstep
