// A Markdown document as its readers copy from it: fenced blocks, and code within its sentences.
#pragma once

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace lockstep::test {

struct FencedBlock {
    std::string place;   ///< "README.md:14", the fence's line
    std::string heading; ///< the title above it
    std::string before;  ///< the last paragraph below that title, as one line
    std::string info;    ///< "sh"
    std::vector<std::string> lines;

    std::string text() const {
        std::string all;
        for (const std::string& line : lines) all += line + '\n';
        return all;
    }
};

struct CodeSpan {
    std::string place; ///< its paragraph's first line
    std::string text;
};

struct Document {
    std::vector<FencedBlock> blocks;
    std::vector<CodeSpan> spans;
};

namespace detail {

inline std::size_t ticksAt(const std::string& text, std::size_t at) {
    const std::size_t end = text.find_first_not_of('`', at);
    return (end == std::string::npos ? text.size() : end) - at;
}

/// A span ends at a run of as many ticks as it begins with.
inline void addSpans(Document& document, const std::string& place, const std::string& paragraph) {
    std::size_t at = paragraph.find('`');
    while (at != std::string::npos) {
        const std::size_t ticks = ticksAt(paragraph, at);
        const std::size_t begin = at + ticks;
        std::size_t end = paragraph.find('`', begin);
        while (end != std::string::npos && ticksAt(paragraph, end) != ticks)
            end = paragraph.find('`', end + ticksAt(paragraph, end));
        if (end == std::string::npos) return;
        document.spans.push_back({place, paragraph.substr(begin, end - begin)});
        at = paragraph.find('`', end + ticks);
    }
}

} // namespace detail

/// `name` is how places call it.
inline Document readDocument(const std::filesystem::path& file, const std::string& name) {
    std::ifstream stream(file);
    REQUIRE(stream);
    Document document;
    std::string heading, paragraph, last, line, fence;
    std::size_t begin = 0; // the paragraph's line
    const auto endParagraph = [&] {
        if (paragraph.empty()) return;
        detail::addSpans(document, name + ":" + std::to_string(begin), paragraph);
        last = std::exchange(paragraph, {});
    };
    for (std::size_t number = 1; std::getline(stream, line); ++number) {
        const std::size_t ticks = line.starts_with('`') ? detail::ticksAt(line, 0) : 0;
        if (!fence.empty()) {
            if (line == fence)
                fence.clear();
            else
                document.blocks.back().lines.push_back(line);
        } else if (ticks >= 3) {
            endParagraph();
            fence = line.substr(0, ticks);
            const std::string place = name + ":" + std::to_string(number);
            document.blocks.push_back({place, heading, last, line.substr(ticks), {}});
        } else if (line.empty() || line.starts_with('#')) {
            endParagraph();
            last = line.empty() ? last : "";
            if (!line.empty()) heading = line.substr(line.find_first_not_of("# "));
        } else {
            if (paragraph.empty()) begin = number;
            paragraph += (paragraph.empty() ? "" : " ") + line;
        }
    }
    endParagraph();
    CHECK(fence.empty());
    return document;
}

} // namespace lockstep::test
