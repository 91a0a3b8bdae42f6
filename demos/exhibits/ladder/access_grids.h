// The arrays that a kernel touches, as grids of words: where they stand, how large, and who touches what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "demos/draw/ui.h"
#include "demos/exhibits/ladder/access_record.h"

namespace lockstep::demos {

/// An array as it lies in memory: rows of neighbouring elements.
struct ArrayGrid {
    std::uint32_t id = 0;
    std::string title; // "inputs 32×16"
    std::size_t rows = 0;
    std::size_t columns = 0;   // in words
    std::size_t wordsEach = 1; // of an element: 4 where vec4s are read
};

/// The arrays of a record that are touched by it, those in memory first.
std::vector<ArrayGrid> gridsOf(const AccessRecord& record);

/// Pixels of a word. Arrays need not have square cells: they are stretched to fill the room.
struct CellSize {
    float x = 0;
    float y = 0;
};

/// Where arrays stand: matrices side by side, and below them single rows and shared memory.
struct GridPlaces {
    std::vector<std::pair<float, std::size_t>> corners; // x, and the line of arrays
    std::vector<std::size_t> rows;                      // of the highest array, by line
    bool fit = true;

    /// Pixels above this line of arrays, with cells this high.
    float top(const Ui& ui, std::size_t line, float cell) const;
    float height(const Ui& ui, float cell) const { return top(ui, rows.size(), cell); }
};

GridPlaces placesOf(const Ui& ui, const AccessRecord& record, const std::vector<ArrayGrid>& grids,
                    float width, float cell);

/// Cells as large as the room allows, but never smaller than can be told apart: what does not fit is scrolled
/// to.
CellSize cellsFor(const Ui& ui, const AccessRecord& record, const std::vector<ArrayGrid>& grids, ImVec2 room);

/// The array with its title above it, bright while it is touched. Below what was touched, where there is
/// room, stands how often its words were read so far, or how many were written.
void drawGrid(Ui& ui, const AccessRecord& record, const ArrayGrid& grid, std::size_t moment, ImVec2 at,
              CellSize cell);

ImU32 colourOfInvocation(std::size_t invocation, std::size_t count);
/// The colour of a word that one invocation touched earlier: a trail behind what is touched now.
inline ImU32 touchedBefore(const Theme& theme, ImU32 who) { return mixed(theme.raised, who, 0.5f); }
/// What is read from memory, and from shared memory: counters, and words that several invocations have read.
inline ImU32 memoryColour(const Theme& theme) { return theme.gpu; }
inline ImU32 sharedColour(const Theme& theme) { return seriesColour(theme, 3); }

} // namespace lockstep::demos
