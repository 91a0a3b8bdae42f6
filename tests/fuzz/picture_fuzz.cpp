// Any bytes as a PNG file.
#include "demos/draw/read_png.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::expectDocumented("cannot read the PNG p.png: ", [&] {
        const demos::Pixels pixels = demos::decodePng(std::as_bytes(std::span(data, size)), "p.png");
        fuzz::require(pixels.width > 0 && pixels.width <= demos::longestPngSide, "a width in range");
        fuzz::require(pixels.height > 0 && pixels.height <= demos::longestPngSide, "a height in range");
        fuzz::require(pixels.rgba.size() == std::size_t{4} * pixels.width * pixels.height,
                      "four bytes per pixel");
        fuzz::require(pixels.rgba.size() / 4 <= demos::mostPngPixels, "not too many pixels");
    });
    return 0;
}
