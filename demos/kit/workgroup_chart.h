// When each workgroup of a dispatch ran, as a chart of rows: every workgroup is drawn in the first row that
// is free when it begins, so that there are as many rows as workgroups ran at once.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "demos/draw/ui.h"

namespace lockstep::demos {

/// When a workgroup ran: ticks of the device, or microseconds.
struct GroupTimes {
    double begin = 0;
    double end = 0;
};

/// Something that took place from `begin` to `end`, drawn in a row.
struct GroupSpan {
    std::uint32_t row = 0;
    double begin = 0;
    double end = 0;
    std::uint32_t item = 0; ///< what it was: the number of a workgroup
};

/// From the words that shaders note: the device's clock at the begin and at the end of each workgroup, low
/// and high word of each. Counts from the first begin on.
std::vector<GroupTimes> groupTimes(std::span<const std::uint32_t> words);

/// Puts each into the first row that is free by then. In the order of their begins.
std::vector<GroupSpan> inRows(std::span<const GroupTimes> times);
std::uint32_t rowsOf(std::span<const GroupSpan> spans);
double lastEnd(std::span<const GroupSpan> spans);
/// Share of the rows' time until the last end in which a group ran; 0 if there is none.
double busyShare(std::span<const GroupSpan> spans);

/// Draws the title in small letters, and the chart below it; only its ground without spans.
///   shown   share of the whole time up to which spans are drawn: 0 to 1
void drawWorkgroups(const Ui& ui, std::span<const GroupSpan> spans, ImU32 colour, const std::string& title,
                    Place place, double shown = 1);

} // namespace lockstep::demos
