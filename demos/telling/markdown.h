// Markdown as lessons use it: paragraphs, headings, lists, code, quotations, tables and pictures, with
// strong, emphasized and code words and links in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::demos {

enum class TextStyle { plain, emphasis, strong, code };

struct TextSpan {
    std::string text;
    TextStyle style = TextStyle::plain;
    std::string link = {}; ///< where it leads; empty: nowhere
};

enum class BlockKind { paragraph, heading, item, code, quote, table, picture };

struct TextBlock {
    BlockKind kind = BlockKind::paragraph;
    std::vector<TextSpan> spans = {};
    std::size_t depth = 0;                         ///< of an item, 0 for the outermost list
    std::string bullet = {};                       ///< of an item: "•" or "2."
    std::string file = {};                         ///< of a picture, whose spans describe it
    std::vector<std::vector<TextBlock>> rows = {}; ///< of a table, the header first: cells are paragraphs
};

/// Throws std::invalid_argument for what lessons cannot show: HTML, lines across, and pictures within a text.
std::vector<TextBlock> markdownBlocks(std::string_view markdown);

/// The text of its spans, without their styles.
std::string plainText(const TextBlock& block);

} // namespace lockstep::demos
