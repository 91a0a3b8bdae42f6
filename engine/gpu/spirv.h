// Constants from the SPIR-V specification (section 3, binary form) that the reflection uses.
#pragma once

#include <cstdint>

namespace lockstep::gpu::spirv {

enum Opcode : std::uint32_t {
    OpName = 5,
    OpEntryPoint = 15,
    OpExecutionMode = 16,
    OpCapability = 17,
    OpTypeInt = 21,
    OpTypeFloat = 22,
    OpTypeVector = 23,
    OpTypeImage = 25,
    OpTypeArray = 28,
    OpTypeRuntimeArray = 29,
    OpTypeStruct = 30,
    OpTypePointer = 32,
    OpConstantTrue = 41,
    OpConstantFalse = 42,
    OpConstant = 43,
    OpConstantComposite = 44,
    OpSpecConstantTrue = 48,
    OpSpecConstantFalse = 49,
    OpSpecConstant = 50,
    OpSpecConstantComposite = 51,
    OpSpecConstantOp = 52,
    OpVariable = 59,
    OpDecorate = 71,
    OpMemberDecorate = 72,
    OpExecutionModeId = 331,
};

enum StorageClass : std::uint32_t {
    UniformConstant = 0,
    Uniform = 2,
    Workgroup = 4,
    PushConstant = 9,
    StorageBuffer = 12
};

inline constexpr std::uint32_t executionModelGlCompute = 5;
inline constexpr std::uint32_t executionModeLocalSize = 17;
inline constexpr std::uint32_t executionModeLocalSizeId = 38;
inline constexpr std::uint32_t decorationSpecId = 1;
inline constexpr std::uint32_t decorationBuiltIn = 11;
inline constexpr std::uint32_t decorationNonWritable = 24;
inline constexpr std::uint32_t decorationNonReadable = 25;
inline constexpr std::uint32_t decorationBinding = 33;
inline constexpr std::uint32_t decorationDescriptorSet = 34;
inline constexpr std::uint32_t decorationOffset = 35;
inline constexpr std::uint32_t builtInWorkgroupSize = 25;
inline constexpr std::uint32_t capabilityMatricesNv = 5357;
inline constexpr std::uint32_t capabilityMatricesKhr = 6022;
inline constexpr std::uint32_t dimBuffer = 5;
inline constexpr std::uint32_t readOnlyImage = 1; // "sampled": storage images are 2

} // namespace lockstep::gpu::spirv
