// Formats numbers, names, lanes and machines for people.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/trainer.h"
#include "engine/step/lane_spec.h"

namespace lockstep::demos {

/// 1234567 as "1,234,567"; with what separates thousands in the language spoken now.
std::string grouped(std::uint64_t value);
/// A rate with three digits: "412", "30.8k", "1.25M".
std::string shortRate(double perSecond);
/// An amount or a rate with three digits: "412 B", "1.50 GFLOP", "435 kFLOP/s".
std::string amountText(double amount, const char* unit);
/// An amount of memory in three digits: "412 B", "43.1 MiB", "2.50 GiB".
std::string binaryBytes(std::uint64_t bytes);
/// Up to that many significant digits: "1.94·10⁻⁵", "10⁶".
std::string scientific(double value, int digits);
/// Three significant digits, without an exponent where possible: "0.0123", "1.23", "7,580"; "-" for NaN.
std::string threeDigits(double value);
/// "2.1", "21", "208": as much as one remembers of a factor. Never "1e+02".
std::string twoDigits(double value);
/// A loss: four decimals, or three digits if it is large, from a million on with an exponent.
std::string lossText(double loss);
/// "0:07", "12:30", "1:02:05".
std::string clockTime(double seconds);
/// A time in three digits: "12.3 µs", "4.56 ms", "1.23 s".
std::string duration(double seconds);
/// "1 network", "1,024 networks".
std::string counted(std::uint64_t count, std::string_view thing);
/// Without the characters that a terminal obeys, but for line breaks and tabs.
std::string withoutControls(std::string_view text);
/// The sentences of Dataset::notes and the like, each a paragraph: "note: ..."; empty for none.
std::string notesText(const std::vector<std::string>& notes);
/// "88.32 %"; "-" for NaN.
std::string percent(double share);
/// With `digits` decimals; "-" for NaN.
std::string fixed(double value, int digits);

/// At most `width` characters; ends in "…" if it was cut.
std::string cut(std::string_view text, std::size_t width);

/// The device's short name: "AMD Ryzen 9 9950X", "Intel Xeon", "llvmpipe".
std::string shortDevice(const MachineInfo& machine);
/// "16 threads" of a CPU; of a throttled machine "1 of 16 threads", "at most 8 workgroups at once"; else
/// empty.
std::string shareText(const MachineInfo& machine);
/// The device, with what its numbers must not be shown without: "AMD Ryzen 9 9950X, 16 threads",
/// "llvmpipe: software, not a GPU, at most 8 workgroups at once". At most `width` characters, if that leaves
/// part of the name.
std::string honestDevice(const MachineInfo& machine, std::size_t width = 110);

/// Wraps the text at blanks, so that lines have at most `width` characters where possible.
std::string wrapped(const std::string& text, std::size_t width = 110);

/// The lines of `text`, each at most `width` wide by `widthOf`: broken at blanks only, so that "10,000",
/// "2402.06184" and "7.18 s" stay whole. A word wider than a line is cut between characters. Line breaks are
/// kept.
std::vector<std::string_view> linesAtBlanks(std::string_view text, float width,
                                            const std::function<float(std::string_view)>& widthOf);

/// A field of a CSV file, quoted if it contains a comma, a quote or a line break (device names may).
std::string csvField(std::string text);

/// Formats rows of cells as columns: the first `leftColumns` left-aligned, the others right-aligned.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t leftColumns);

/// "cpu:scalar on AMD Ryzen 9 9950X (one thread, no SIMD)", "gpu:best on llvmpipe (software, not a GPU)".
std::string fullName(const LaneSpec& spec, const MachineInfo& machine);

} // namespace lockstep::demos
