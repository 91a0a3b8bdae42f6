// A library with as much of NVIDIA's management interface as EnergyMeter calls: one card, which uses 2.5
// joules between two calls.
#include <cstring>

extern "C" {

int nvmlInit_v2() { return 0; }

int nvmlDeviceGetHandleByUUID(const char* uuid, void** card) {
    static int one;
    *card = &one;
    return std::strcmp(uuid, "GPU-01234567-89ab-cdef-0123-456789abcdef") == 0 ? 0 : 6; // not found
}

int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* millijoules) {
    static unsigned long long used = 1'000'000;
    *millijoules = used += 2500;
    return 0;
}
}
