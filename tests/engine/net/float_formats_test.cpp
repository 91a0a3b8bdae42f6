// Every code of every small format decodes as its definition says, every number encodes to its code, and
// between neighbours rounding goes to the nearest, ties to even.
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <doctest/doctest.h>

#include "engine/net/float_formats.h"
#include "engine/net/random.h"

using namespace lockstep;

namespace {

/// A format by its definition, in double.
struct Definition {
    FloatKind kind;
    int exponentBits;
    int fractionBits;
    int bias;
    bool infinity;

    int bits() const { return 1 + exponentBits + fractionBits; }

    double value(std::uint32_t code) const {
        const double sign = (code >> (exponentBits + fractionBits) & 1) != 0 ? -1 : 1;
        const auto exponent = static_cast<int>(code >> fractionBits & ((1u << exponentBits) - 1));
        const auto fraction = static_cast<int>(code & ((1u << fractionBits) - 1));
        const bool ones = exponent == (1 << exponentBits) - 1;
        if (ones && infinity)
            return fraction == 0 ? sign * std::numeric_limits<double>::infinity()
                                 : std::numeric_limits<double>::quiet_NaN();
        if (ones && fraction == (1 << fractionBits) - 1) return std::numeric_limits<double>::quiet_NaN();
        const double digits = fraction / std::pow(2.0, fractionBits);
        if (exponent == 0) return sign * digits * std::pow(2.0, 1 - bias);
        return sign * (1 + digits) * std::pow(2.0, exponent - bias);
    }
    /// Numbers from 0 up to the largest, in order.
    std::vector<double> ladder() const {
        std::vector<double> all;
        for (std::uint32_t code = 0; code < 1u << (bits() - 1); ++code)
            if (std::isfinite(value(code))) all.push_back(value(code));
        return all;
    }
};

constexpr Definition small[] = {{FloatKind::bf16, 8, 7, 127, true},
                                {FloatKind::fp16, 5, 10, 15, true},
                                {FloatKind::e4m3, 4, 3, 7, false},
                                {FloatKind::e5m2, 5, 2, 15, true}};
constexpr Definition tf32{FloatKind::tf32, 8, 10, 127, true};

std::uint32_t bitsOf(float value) { return std::bit_cast<std::uint32_t>(value); }

/// The nearest of two neighbours by its distance in double; of a tie, the one with the even code. `below` is
/// the code of the lower one, and `above` what lies beyond it, also where that is no number of the format any
/// more.
double nearest(double value, double lower, double above, std::uint32_t below) {
    if (value - lower != above - value) return value - lower < above - value ? lower : above;
    return below % 2 == 0 ? lower : above;
}

} // namespace

TEST_CASE("formats are what their definitions say") {
    CHECK(rowOf(FloatKind::e4m3).largest() == 448);
    CHECK(rowOf(FloatKind::e4m3).smallest() == std::ldexp(1.0f, -9));
    CHECK(rowOf(FloatKind::e5m2).largest() == 57344);
    CHECK(rowOf(FloatKind::e5m2).smallest() == std::ldexp(1.0f, -16));
    CHECK(rowOf(FloatKind::fp16).largest() == 65504);
    CHECK(rowOf(FloatKind::fp16).smallestNormal() == std::ldexp(1.0f, -14));
    CHECK(rowOf(FloatKind::fp16).smallest() == std::ldexp(1.0f, -24));
    CHECK(rowOf(FloatKind::bf16).largest() == std::bit_cast<float>(0x7F7F0000u));
    CHECK(rowOf(FloatKind::bf16).smallestNormal() == std::numeric_limits<float>::min());
    CHECK(rowOf(FloatKind::tf32).bits() == 19);
    CHECK(rowOf(FloatKind::fp32).largest() == std::numeric_limits<float>::max());
    CHECK(rowOf(FloatKind::fp32).smallest() == std::numeric_limits<float>::denorm_min());
    CHECK_FALSE(rowOf(FloatKind::e4m3).hasInfinity());
    for (std::size_t at = 0; at < std::size(floatKinds); ++at)
        CHECK(floatKinds[at].kind == static_cast<FloatKind>(at));
}

TEST_CASE("every code decodes as defined, and encodes to itself") {
    for (const Definition& format : small) {
        CAPTURE(rowOf(format.kind).name);
        CHECK(rowOf(format.kind).bits() == static_cast<std::uint32_t>(format.bits()));
        bool right = true;
        for (std::uint32_t code = 0; code < 1u << format.bits(); ++code) {
            const double expected = format.value(code);
            const float found = decoded(code, format.kind);
            if (std::isnan(expected)) {
                right = right && std::isnan(found) &&
                        std::isnan(decoded(encoded(found, format.kind), format.kind)) &&
                        std::signbit(found) == (code >> (format.bits() - 1) != 0);
                continue;
            }
            right = right && found == expected && std::signbit(found) == std::signbit(expected) &&
                    encoded(found, format.kind) == code &&
                    bitsOf(rounded(found, format.kind)) == bitsOf(found);
        }
        CHECK(right);
    }
}

TEST_CASE("between neighbours, rounding goes to the nearest, and ties go to the even one") {
    for (const Definition& format : small) {
        CAPTURE(rowOf(format.kind).name);
        const std::vector<double> numbers = format.ladder();
        CHECK(numbers.back() == rowOf(format.kind).largest());
        std::uint32_t wrong = 0;
        for (std::uint32_t code = 0; code + 1 < numbers.size(); ++code) {
            const double middle = (numbers[code] + numbers[code + 1]) / 2;
            const auto tie = static_cast<float>(middle);
            // The middle of the two smallest numbers of bf16 is a subnormal float; all middles are floats.
            if (static_cast<double>(tie) != middle) ++wrong;
            for (const float value : {std::nextafter(tie, 0.0f), tie, std::nextafter(tie, INFINITY)}) {
                const double expected = nearest(value, numbers[code], numbers[code + 1], code);
                if (rounded(value, format.kind) != expected || rounded(-value, format.kind) != -expected ||
                    encoded(value, format.kind) != encoded(static_cast<float>(expected), format.kind))
                    ++wrong;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("beyond the largest number") {
    const auto thresholdOf = [](const Definition& format) { // half a step beyond the largest
        const std::vector<double> numbers = format.ladder();
        return static_cast<float>(numbers.back() + (numbers.back() - numbers[numbers.size() - 2]) / 2);
    };
    for (const Definition& format : small) {
        CAPTURE(rowOf(format.kind).name);
        const float largest = rowOf(format.kind).largest();
        const float tie = thresholdOf(format);
        CHECK(rounded(std::nextafter(tie, 0.0f), format.kind) == largest);
        CHECK(rounded(-std::nextafter(tie, 0.0f), format.kind) == -largest);
        const float beyond = rounded(std::nextafter(tie, INFINITY), format.kind);
        const float ofInfinity = rounded(-INFINITY, format.kind);
        if (format.infinity) {
            CHECK(rounded(tie, format.kind) == INFINITY); // the largest number's code is odd
            CHECK(beyond == INFINITY);
            CHECK(ofInfinity == -INFINITY);
        } else { // 448 is even: the code beyond it is taken for not a number
            CHECK(tie == 464);
            CHECK(rounded(tie, format.kind) == largest);
            CHECK(std::isnan(beyond));
            CHECK(std::isnan(ofInfinity));
            CHECK(encoded(INFINITY, format.kind) == 0x7F);
            CHECK(encoded(-INFINITY, format.kind) == 0xFF);
        }
        CHECK(std::isnan(rounded(NAN, format.kind)));
        CHECK(bitsOf(rounded(0.0f, format.kind)) == 0);
        CHECK(bitsOf(rounded(-0.0f, format.kind)) == 0x80000000u);
        const float tiny = rowOf(format.kind).smallest() / 2;
        CHECK(bitsOf(rounded(-tiny, format.kind)) == 0x80000000u); // ties to 0, which is even
        CHECK(rounded(std::nextafter(tiny, 1.0f), format.kind) == rowOf(format.kind).smallest());
    }
    CHECK(rounded(INFINITY, FloatKind::tf32) == INFINITY);
    CHECK(rounded(std::numeric_limits<float>::max(), FloatKind::tf32) == INFINITY);
}

TEST_CASE("halves and bfloats are those of the other conversions") {
    bool same = true;
    for (std::uint32_t step = 0; step < 1u << 20; ++step) {
        const std::uint32_t bits = step * 4093; // all over the floats
        const auto value = std::bit_cast<float>(bits);
        if (std::isnan(value)) continue;
        same = same && encoded(value, FloatKind::fp16) == toFloat16(value) &&
               encoded(value, FloatKind::bf16) == toBfloat16(value) &&
               bitsOf(fromBfloat16(toBfloat16(value))) == bitsOf(rounded(value, FloatKind::bf16)) &&
               bitsOf(rounded(value, FloatKind::fp32)) == bits;
    }
    CHECK(same);
    CHECK(std::isnan(fromBfloat16(toBfloat16(NAN))));
}

TEST_CASE("tf32 keeps ten bits of a float's fraction") {
    std::uint32_t wrong = 0;
    for (std::uint32_t sample = 0; sample < 200'000; ++sample) {
        const std::uint32_t code = randomWords(7, RandomStream::data, sample).x % (1u << 18); // positive
        const double lower = tf32.value(code);
        const double upper = tf32.value(code + 1);
        if (!std::isfinite(lower) || !std::isfinite(upper)) continue;
        const auto number = static_cast<float>(lower);
        if (encoded(number, FloatKind::tf32) != code || decoded(code, FloatKind::tf32) != number) ++wrong;
        const auto tie = static_cast<float>((lower + upper) / 2);
        for (const float value : {std::nextafter(tie, 0.0f), tie, std::nextafter(tie, INFINITY)})
            if (rounded(value, FloatKind::tf32) != nearest(value, lower, upper, code)) ++wrong;
    }
    CHECK(wrong == 0);
}

TEST_CASE("a scale shifts a format's range, and nothing else") {
    for (const Definition& format : small) {
        if (format.kind == FloatKind::bf16) continue; // has a float's exponents: there is no room for scales
        CAPTURE(rowOf(format.kind).name);
        std::uint32_t wrong = 0;
        for (std::uint32_t sample = 0; sample < 20'000; ++sample) {
            const shared::Random4 words = randomWords(3, RandomStream::data, sample);
            const auto value = std::bit_cast<float>((words.x & 0x807FFFFFu) | (90 + words.y % 60) << 23);
            for (const int scale : {-20, -3, 0, 1, 9, 20}) {
                const float expected = std::ldexp(rounded(std::ldexp(value, scale), format.kind), -scale);
                const float found = rounded(value, format.kind, scale);
                if (std::isnan(expected) ? !std::isnan(found) : bitsOf(found) != bitsOf(expected)) ++wrong;
            }
        }
        CHECK(wrong == 0);
    }
}

TEST_CASE("the scale of a tensor brings its largest number into the upper half of the range") {
    for (const FloatKind kind : {FloatKind::fp16, FloatKind::e4m3, FloatKind::e5m2}) {
        const float largest = rowOf(kind).largest();
        CAPTURE(rowOf(kind).name);
        CHECK(scaleFor(largest, kind) == 0);
        CHECK(scaleFor(std::nextafter(largest, INFINITY), kind) == -1);
        CHECK(scaleFor(largest / 2, kind) == 1);
        CHECK(scaleFor(0, kind) == 0);
        CHECK(scaleFor(INFINITY, kind) == 0);
        CHECK(scaleFor(largest / 1024, kind, 4) == 4);
        for (float value = 1e-38f; value < 1e38f; value *= 1.7f) {
            const int scale = scaleFor(value, kind);
            CAPTURE(value);
            CHECK(std::isfinite(rounded(value, kind, scale)));
            CHECK(std::ldexp(static_cast<double>(value), scale) <= largest);
            if (scale < 127 - static_cast<int>(rowOf(kind).format().bias)) // else the scale ends
                CHECK(std::ldexp(static_cast<double>(value), scale) > largest / 2);
        }
    }
}

TEST_CASE("stochastic rounding is right on average, and leaves exact numbers alone") {
    const auto random = [](std::uint32_t at) { return randomWords(11, RandomStream::data, at).x; };
    for (const Definition& format : small) {
        CAPTURE(rowOf(format.kind).name);
        const FloatKindRow& row = rowOf(format.kind);
        bool unchanged = true;
        for (std::uint32_t code = 0; code < 1u << format.bits(); ++code) {
            const float number = decoded(code, format.kind);
            if (!std::isfinite(number)) continue;
            unchanged = unchanged && bitsOf(roundedStochastic(number, format.kind, 0)) == bitsOf(number) &&
                        bitsOf(roundedStochastic(number, format.kind, ~0u)) == bitsOf(number);
        }
        CHECK(unchanged);
        CHECK(std::isnan(roundedStochastic(NAN, format.kind, 1)));
        // Between two numbers, and below the smallest one.
        for (const float value :
             {1.0f + 0.3f / static_cast<float>(1 << format.fractionBits), row.smallest() * 0.2f,
              row.smallest() * 0.01f, row.smallestNormal() * 0.77f, -row.smallest() * 1.6f}) {
            constexpr std::uint32_t tries = 40'000;
            double sum = 0;
            double low = INFINITY;
            double high = -INFINITY;
            for (std::uint32_t at = 0; at < tries; ++at) {
                const double found = roundedStochastic(value, format.kind, random(at));
                sum += found;
                low = std::min(low, found);
                high = std::max(high, found);
            }
            CAPTURE(value);
            CHECK(low <= value);
            CHECK(high >= value);
            CHECK(bitsOf(rounded(static_cast<float>(low), format.kind)) == bitsOf(static_cast<float>(low)));
            // Five standard deviations of the mean of so many tries between two neighbours.
            const double spread = (high - low) / 2 * 5 / std::sqrt(tries);
            CHECK(std::abs(sum / tries - static_cast<double>(value)) <= spread);
        }
    }
}
