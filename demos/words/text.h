// Numbers and names as people read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "engine/run/trainer.h"

namespace lockstep::demos {

/// 1234567 as "1,234,567".
std::string grouped(std::uint64_t value);
/// A rate in three digits: "412", "30.8k", "1.25M".
std::string shortRate(double perSecond);
/// An amount or a rate in three digits: "412 B", "1.50 GFLOP", "435 kFLOP/s".
std::string amountText(double amount, const char* unit);
/// Three significant digits, never as a power of ten where that can be read: "0.0123", "1.23", "7,580"; "-"
/// when it is NaN.
std::string threeDigits(double value);
/// A loss: four decimals, or three digits where it has grown large.
std::string lossText(double loss);
/// "0:07", "12:30", "1:02:05".
std::string clockTime(double seconds);
/// What something took: two digits below ten seconds ("23 ms", "0.71 s", "4.2 s"), then as clockTime has it.
std::string timeTaken(double seconds);
/// "1 network", "1,024 networks".
std::string counted(std::uint64_t count, std::string_view thing);
/// "88.32 %"; "-" when it is NaN.
std::string percent(double share);
/// With `digits` decimals; "-" when it is NaN.
std::string fixed(double value, int digits);

/// At most `width` characters, the last one being "…" where something was cut off.
std::string cut(std::string_view text, std::size_t width);

/// The device without what only specialists read: "AMD Ryzen 9 9950X", "Intel Xeon", "llvmpipe".
std::string shortDevice(const MachineInfo& machine);
/// Device, and what must not be left out when its numbers are shown: "AMD Ryzen 9 9950X, 16 threads",
/// "llvmpipe: software, not a GPU". In at most `width` characters, if that leaves some of the name.
std::string honestDevice(const MachineInfo& machine, std::size_t width = 110);

/// Line breaks instead of blanks, so that no line is longer than `width` where that can be.
std::string wrapped(const std::string& text, std::size_t width = 110);

/// As a field of a CSV file: quoted where it holds a comma, a quote or a line break (a device's name may).
std::string csvField(std::string text);

/// Rows of cells as lines of aligned columns. The first `leftColumns` are aligned left, the others right.
std::string table(const std::vector<std::vector<std::string>>& rows, std::size_t leftColumns);

} // namespace lockstep::demos
