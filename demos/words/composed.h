// Translates texts that were put together in English: those of errors, and those that a file keeps.
#pragma once

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demos/words/language.h"

namespace lockstep::demos {

/// Finds the formats of a table that a text was made from.
class ComposedTexts {
  public:
    /// `words` must outlive this.
    explicit ComposedTexts(const WordTable& words);

    /// The text's translation; else the translation of the format that it was made from, with its parts
    /// translated likewise (but for quoted ones) and its numbers as the language writes them; else that of
    /// its sentences and of what stands before and behind ": " and "; ". What none of these know stays as it
    /// is.
    std::string translated(std::string_view text) const;

  private:
    static constexpr int deepest = 6; // parts of parts

    /// "the field '{}' must be from 0 to {}" as what stands around its placeholders.
    struct Format {
        std::vector<std::string_view> english;
        std::vector<std::string_view> other;
        std::size_t letters = 0; ///< of the English one
    };

    std::string translated(std::string_view text, int depth) const;
    std::optional<std::string> byFormat(std::string_view text, int depth) const;
    std::optional<std::string> number(std::string_view text) const;

    const WordTable& words_;
    std::vector<Format> formats_; // those with the most letters first

    mutable std::mutex looking_;
    mutable std::map<std::string, std::string, std::less<>>
        found_; // a frame asks for the same as the last one
};

} // namespace lockstep::demos
