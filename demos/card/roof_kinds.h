// Which multiply-adds a card measures.
#pragma once

#include "engine/gpu/device.h"

namespace lockstep::demos {

/// A multiply-add roof (shaders/roof), in the order of vkpeak's table.
struct RoofKind {
    const char* name;
    const char* shader;
    double width;               ///< multiply-adds where fp32 has one
    bool gpu::Limits::*support; ///< null: every device
};

inline constexpr RoofKind roofKinds[] = {
    {"fp32", "roof", 1, nullptr},
    {"fp32 vec4", "roof_fp32_vec4", 4, nullptr},
    {"fp16", "roof_fp16", 1, &gpu::Limits::halfArithmetic},
    {"fp16 vec4", "roof_fp16_vec4", 4, &gpu::Limits::halfArithmetic},
    {"fp64", "roof_fp64", 1, &gpu::Limits::doubleArithmetic},
    {"fp64 vec4", "roof_fp64_vec4", 4, &gpu::Limits::doubleArithmetic},
    {"int32", "roof_int32", 1, nullptr},
    {"int32 vec4", "roof_int32_vec4", 4, nullptr},
    {"int8 dot product", "roof_int8_dot", 4, &gpu::Limits::dotProducts},
};

} // namespace lockstep::demos
