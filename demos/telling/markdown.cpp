#include "demos/telling/markdown.h"

#include <exception>
#include <optional>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>
#include <md4c.h>

namespace lockstep::demos {

namespace {

/// What md4c reports, piece by piece, collected into blocks.
class Collector {
  public:
    std::vector<TextBlock> blocks;
    std::exception_ptr failure;

    void enter(MD_BLOCKTYPE type, void* detail) {
        switch (type) {
        case MD_BLOCK_UL: lists_.push_back(std::nullopt); break;
        case MD_BLOCK_OL: lists_.push_back(static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start); break;
        case MD_BLOCK_LI:
            begin(BlockKind::item);
            blocks.back().depth = lists_.size() - 1;
            blocks.back().bullet = lists_.back() ? fmt::format("{}.", (*lists_.back())++) : "•";
            itemOpen_ = true;
            break;
        case MD_BLOCK_H: begin(BlockKind::heading); break;
        case MD_BLOCK_CODE: begin(BlockKind::code); break;
        case MD_BLOCK_QUOTE: ++quotes_; break;
        case MD_BLOCK_P:
            if (!std::exchange(itemOpen_, false)) // an item has its block already
                begin(quotes_ > 0 ? BlockKind::quote : BlockKind::paragraph);
            break;
        case MD_BLOCK_HTML: throw std::invalid_argument("HTML is not shown; use Markdown");
        case MD_BLOCK_TABLE: begin(BlockKind::table); break;
        case MD_BLOCK_TR: blocks.back().rows.emplace_back(); break;
        case MD_BLOCK_TH:
        case MD_BLOCK_TD: blocks.back().rows.back().emplace_back(); break;
        case MD_BLOCK_HR:
            throw std::invalid_argument("a line across ('---') is not shown; begin a step with '##'");
        default: break;
        }
    }
    void leave(MD_BLOCKTYPE type) {
        if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) lists_.pop_back();
        if (type == MD_BLOCK_QUOTE) --quotes_;
        if (type == MD_BLOCK_LI) itemOpen_ = false;
    }
    void enterSpan(MD_SPANTYPE type, void* detail) {
        if (type == MD_SPAN_IMG) {
            if (blocks.empty() || blocks.back().kind != BlockKind::paragraph || !blocks.back().spans.empty())
                throw std::invalid_argument("a picture is a paragraph by itself: ![what it shows](file.png)");
            const MD_ATTRIBUTE& file = static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src;
            blocks.back().kind = BlockKind::picture;
            blocks.back().file.assign(file.text, file.size);
            pictureOpen_ = true;
        }
        if (type == MD_SPAN_EM) styles_.push_back(TextStyle::emphasis);
        if (type == MD_SPAN_STRONG) styles_.push_back(TextStyle::strong);
        if (type == MD_SPAN_CODE) styles_.push_back(TextStyle::code);
        if (type == MD_SPAN_A) {
            const MD_ATTRIBUTE& link = static_cast<MD_SPAN_A_DETAIL*>(detail)->href;
            link_.assign(link.text, link.size);
        }
    }
    void leaveSpan(MD_SPANTYPE type) {
        if (type == MD_SPAN_IMG)
            pictureOpen_ = false;
        else if (type == MD_SPAN_A)
            link_.clear();
        else if (!styles_.empty())
            styles_.pop_back();
    }
    void text(MD_TEXTTYPE type, std::string_view text) {
        if (type == MD_TEXT_HTML) throw std::invalid_argument("HTML is not shown; use Markdown");
        if (blocks.empty()) begin(BlockKind::paragraph);
        const bool code = blocks.back().kind == BlockKind::code;
        if (type == MD_TEXT_SOFTBR) text = " ";
        if (type == MD_TEXT_BR) text = "\n";
        if (type == MD_TEXT_NULLCHAR) text = "\xEF\xBF\xBD";
        if (blocks.back().kind == BlockKind::picture && !pictureOpen_ &&
            text.find_first_not_of(" \n") != std::string_view::npos)
            throw std::invalid_argument("a picture is a paragraph by itself: an empty line follows it");
        const bool cell = blocks.back().kind == BlockKind::table;
        std::vector<TextSpan>& spans = (cell ? blocks.back().rows.back().back() : blocks.back()).spans;
        const TextStyle style = code ? TextStyle::code : styles_.empty() ? TextStyle::plain : styles_.back();
        if (spans.empty() || spans.back().style != style || spans.back().link != link_)
            spans.push_back({"", style, link_});
        spans.back().text += text;
    }

  private:
    void begin(BlockKind kind) { blocks.push_back({.kind = kind}); }

    std::vector<std::optional<unsigned>> lists_; // next number; none: bullets
    int quotes_ = 0;
    bool itemOpen_ = false;         // its first paragraph belongs to its block
    std::vector<TextStyle> styles_; // the innermost last
    std::string link_;
    bool pictureOpen_ = false; // texts describe it
};

/// md4c is C: exceptions must not pass through it.
template <class Action> int guarded(void* user, Action action) {
    auto& collector = *static_cast<Collector*>(user);
    try {
        action(collector);
        return 0;
    } catch (...) {
        collector.failure = std::current_exception();
        return 1;
    }
}

} // namespace

std::vector<TextBlock> markdownBlocks(std::string_view markdown) {
    MD_PARSER parser = {};
    parser.flags = MD_FLAG_TABLES | MD_FLAG_NOINDENTEDCODEBLOCKS | MD_FLAG_PERMISSIVEURLAUTOLINKS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* user) {
        return guarded(user, [&](Collector& collector) { collector.enter(type, detail); });
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void*, void* user) {
        return guarded(user, [&](Collector& collector) { collector.leave(type); });
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* user) {
        return guarded(user, [&](Collector& collector) { collector.enterSpan(type, detail); });
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* user) {
        return guarded(user, [&](Collector& collector) { collector.leaveSpan(type); });
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* text, MD_SIZE size, void* user) {
        return guarded(user, [&](Collector& collector) { collector.text(type, {text, size}); });
    };
    Collector collector;
    md_parse(markdown.data(), static_cast<MD_SIZE>(markdown.size()), &parser, &collector);
    if (collector.failure) std::rethrow_exception(collector.failure);
    for (TextBlock& block : collector.blocks) // a code block ends with its last line
        if (block.kind == BlockKind::code && !block.spans.empty() && block.spans.back().text.ends_with('\n'))
            block.spans.back().text.pop_back();
    return std::move(collector.blocks);
}

std::string plainText(const TextBlock& block) {
    std::string text;
    for (const TextSpan& span : block.spans) text += span.text;
    for (const std::vector<TextBlock>& row : block.rows) {
        if (!text.empty()) text += '\n';
        for (std::size_t i = 0; i < row.size(); ++i) text += (i > 0 ? "  " : "") + plainText(row[i]);
    }
    return text;
}

} // namespace lockstep::demos
