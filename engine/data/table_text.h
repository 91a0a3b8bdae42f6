// The text of a table, whatever a program saved it as: gzip, UTF-16, Windows-1252, with a byte-order mark or
// Excel's line that names the separator.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// UTF-8 text without zero bytes. Text that needed no conversion is not copied.
class TableText {
  public:
    /// file   the whole file; must outlive the object
    /// name   the file, for messages
    /// Throws std::runtime_error "NAME: reason" or "NAME:LINE: reason" for an empty file, damaged gzip data,
    /// zero bytes, and bytes that are neither UTF-8 nor Windows-1252.
    TableText(std::span<const std::byte> file, std::string_view name);

    /// Without byte-order mark and `sep=` line.
    std::string_view text() const { return (converted_ ? std::string_view(own_) : given_).substr(skip_); }
    std::size_t firstLine() const { return firstLine_; } ///< the file's line at which text() begins
    char separator() const { return separator_; }        ///< from a `sep=` line; 0 without one
    /// What was converted, for people: "it was read as Windows-1252 text".
    const std::vector<std::string>& notes() const { return notes_; }

  private:
    void convert(std::string text, const char* note);

    std::string own_;
    std::string_view given_;
    bool converted_ = false;
    std::size_t skip_ = 0;
    std::size_t firstLine_ = 1;
    char separator_ = 0;
    std::vector<std::string> notes_;
};

} // namespace lockstep
