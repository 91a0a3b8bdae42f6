// What the engine reads from SPIR-V, and what it says of modules that are none.
#include <doctest/doctest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/gpu/reflection.h"
#include "engine/net/optimizer.h"
#include "engine/step/dense_kernel.h"
#include "engine/step/shaders.h"
#include "shaders/shared/params.h"
#include "tests/test_device.h"

using namespace lockstep;

TEST_CASE("a kernel's bindings, push constants and sizes") {
    const gpu::ShaderInfo info = gpu::reflect(
        shaderWords("update"), {{0, 96}, {7, static_cast<std::uint32_t>(Optimizer::adam)}}, "update");
    CHECK(info.pushConstantBytes == sizeof(shared::UpdateParams));
    CHECK(info.groupSize[0] == 96);
    CHECK(info.groupSize[1] == 1);
    CHECK(info.sharedBytes == 0);
    REQUIRE(info.bindings.size() == 5);
    for (std::uint32_t index = 0; index < 5; ++index) CHECK(info.bindings[index].binding == index);
    CHECK(info.bindings[0].reads);
    CHECK_FALSE(info.bindings[0].writes); // the status is only read
    CHECK_FALSE(info.bindings[1].writes); // and so are gradients
    CHECK(info.bindings[2].reads);
    CHECK(info.bindings[2].writes); // weights
}

TEST_CASE("writeonly buffers are not read") {
    const gpu::ShaderInfo info =
        gpu::reflect(shaderWords("gather_batch"), {{0, 8}, {1, 4}, {2, 1}}, "gather_batch");
    REQUIRE(info.bindings.size() == 4);
    CHECK_FALSE(info.bindings[0].writes);
    CHECK_FALSE(info.bindings[2].reads);
    CHECK(info.bindings[2].writes);
    CHECK(info.groupSize[0] == 8);
    CHECK(info.groupSize[1] == 4);
}

TEST_CASE("texture buffers are only read") {
    const gpu::ShaderInfo info = gpu::reflect(shaderWords("dense_texel"), {}, "dense_texel");
    REQUIRE(info.bindings.size() == 5);
    for (const std::size_t operand : {0, 1}) {
        CHECK(info.bindings[operand].binding == operand);
        CHECK(info.bindings[operand].kind == gpu::BindingKind::texels);
        CHECK(info.bindings[operand].reads);
        CHECK_FALSE(info.bindings[operand].writes);
    }
    for (const std::size_t other : {2, 3, 4}) CHECK(info.bindings[other].kind == gpu::BindingKind::storage);
}

TEST_CASE("shared memory sized by specialisation constants") {
    // Slabs of A and B: slabK * (groupM * tileM + groupN * tileN) floats.
    const gpu::SpecConstants constants{{0, 64}, {1, 8}, {2, 4}, {3, 2}, {5, 12}};
    const gpu::ShaderInfo info =
        gpu::reflect(shaderWords("dense_backward_weights_tiled"), constants, "dense_backward_weights_tiled");
    CHECK(info.sharedBytes == 12 * (8 * 4 + 8 * 2 + 2 * shared::densePadding) * sizeof(float));
    CHECK(info.groupSize[0] == 64);
    for (const ProductKernel& kernel :
         {ProductKernel{Rung::tiled, 8, 8, 2, 4, 16}, ProductKernel{Rung::tiled, 8, 4, 4, 4, 16, 0, false, 4},
          ProductKernel{Rung::pipelined, 8, 8, 8, 8, 8}, ProductKernel{Rung::pipelined, 16, 4, 4, 8, 12},
          ProductKernel{Rung::pipelined, 8, 8, 4, 4, 8, 0, false, 4}}) {
        const std::string shader = shaderName("dense", kernel);
        CAPTURE(kernel.describe());
        CHECK(gpu::reflect(shaderWords(shader), constantsOf(kernel, testDevice()), shader).sharedBytes ==
              kernel.sharedBytes());
    }
}

TEST_CASE("an unknown constant or shader is an error with its name") {
    try {
        gpu::reflect(shaderWords("update"), {{17, 1}}, "update");
        FAIL("accepted");
    } catch (const std::runtime_error& error) {
        const std::string message = error.what();
        CHECK(message.find("'update'") != std::string::npos);
        CHECK(message.find("17") != std::string::npos);
    }
    CHECK(shaderWords("no_such_shader").empty());
}

TEST_CASE("SPIR-V truncated anywhere is rejected") {
    const auto words = shaderWords("score");
    REQUIRE(words.size() > 100);
    CHECK_THROWS_AS(gpu::reflect({}, {}, "empty"), std::runtime_error);
    std::vector<std::uint32_t> wrongMagic(words.begin(), words.end());
    wrongMagic[0] ^= 1;
    CHECK_THROWS_AS(gpu::reflect(wrongMagic, {}, "magic"), std::runtime_error);
    std::vector<std::uint32_t> zeroLength(words.begin(), words.end());
    zeroLength[5] = 0;
    CHECK_THROWS_AS(gpu::reflect(zeroLength, {}, "zero"), std::runtime_error);
    // A module truncated inside its declarations is never a complete kernel. The point is that nothing reads
    // beyond the end.
    std::size_t refused = 0;
    for (std::size_t length = 0; length < 100; ++length) {
        try {
            const gpu::ShaderInfo info = gpu::reflect(words.first(length), {}, "cut");
            CHECK(info.bindings.empty());
        } catch (const std::runtime_error&) {
            ++refused;
        }
    }
    CHECK(refused > 50);
}

TEST_CASE("SPIR-V with any wrong word is reflected or rejected") {
    const auto words = shaderWords("dense_tiled");
    std::size_t refused = 0;
    for (std::size_t at = 5; at < words.size(); ++at)
        for (const std::uint32_t wrong : {0u, 0xFFFFFFFFu, words[at] + 1, words[at] - (1u << 16)}) {
            std::vector<std::uint32_t> damaged(words.begin(), words.end());
            damaged[at] = wrong;
            try {
                gpu::reflect(damaged, {}, "damaged");
            } catch (const std::runtime_error&) {
                ++refused;
            }
        }
    CHECK(refused > 100);
}

TEST_CASE("sizes beyond 32 bits do not wrap around") {
    // A slab of 0x3FFFFFF times 32 floats is almost 8 GiB.
    const gpu::SpecConstants constants{{0, 64}, {1, 8}, {2, 4}, {3, 4}, {5, 0x3FFFFFF}};
    const gpu::ShaderInfo info = gpu::reflect(shaderWords("dense_tiled"), constants, "dense_tiled");
    CHECK(info.sharedBytes == 0xFFFFFFFFu);
}
