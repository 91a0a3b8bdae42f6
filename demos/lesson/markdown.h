// Markdown as lessons use it: paragraphs, headings, lists, code and quotations, with strong, emphasized and
// code words in them.
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

enum class BlockKind { paragraph, heading, item, code, quote };

struct TextBlock {
    BlockKind kind = BlockKind::paragraph;
    std::vector<TextSpan> spans = {};
    std::size_t depth = 0;   ///< of an item, 0 for the outermost list
    std::string bullet = {}; ///< of an item: "•" or "2."
};

/// Throws std::invalid_argument for what lessons cannot show: tables, pictures and HTML.
std::vector<TextBlock> markdownBlocks(std::string_view markdown);

/// The text of its spans, without their styles.
std::string plainText(const TextBlock& block);

} // namespace lockstep::demos
