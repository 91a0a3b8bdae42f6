// The terms of the field that the window uses, explained for people who meet them here.
#pragma once

#include <span>
#include <string_view>
#include <vector>

namespace lockstep::demos {

struct Term {
    std::string_view name;         ///< singular, as it stands within a sentence
    std::string_view text;         ///< one to three sentences
    std::string_view formula = {}; ///< empty: none
    std::string_view other = {};   ///< another spelling or a synonym; empty: none
};

/// All terms, by name.
std::span<const Term> glossary();

/// The terms that occur in `text` as whole words, singular or plural, in the order of the glossary; at most
/// `most`, and only the longest of those that overlap ("learning rate", not "rate").
std::vector<const Term*> termsIn(std::string_view text, std::size_t most);

/// Whether the term's name, synonym or text contains `letters`, in either case, as they are shown:
/// translated.
bool mentions(const Term& term, std::string_view letters);

} // namespace lockstep::demos
