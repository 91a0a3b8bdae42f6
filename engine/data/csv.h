// A reader of separated values (RFC 4180, with any separator): rows of fields, with quoting.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// Maximum number of fields in a row: as many as a network can have inputs, plus the target.
inline constexpr std::size_t mostCsvFields = 65537;

/// A field as written in the file, without the quotation marks around it.
struct CsvField {
    std::string_view raw;
    bool doubledQuotes = false; ///< raw has "" where the text has "
    std::size_t line = 0;       ///< where the field begins, counted from 1

    std::string text() const;
};

/// Splits a text into rows without copying it. One character separates fields; LF, CR LF or CR separate rows.
/// A quoted field may contain separators, line breaks, and quotation marks if they are doubled. Skips empty
/// lines.
class CsvReader {
  public:
    /// text        UTF-8 (table_text.h); must outlive the reader and its fields
    /// name        the file, for messages
    /// separator   ' ' stands for any run of blanks and tabs; blanks at both ends of a line then separate
    ///             nothing
    /// firstLine   the file's line at which the text begins
    CsvReader(std::string_view text, std::string_view name, char separator = ',', std::size_t firstLine = 1);

    /// Reads the next row into `fields`. Returns false at the end of the text.
    /// Throws std::runtime_error "NAME:LINE:FIELD: reason" (both counted from 1) for a quotation mark inside
    /// an unquoted field, text after a closing mark, a mark that is never closed, and over mostCsvFields
    /// fields.
    bool next(std::vector<CsvField>& fields);

  private:
    CsvField readField(std::size_t number);
    CsvField readQuoted(std::size_t number);
    bool atLineBreak() const;
    void skipLineBreak();
    void skipBlanks();
    [[noreturn]] void fail(std::size_t line, std::size_t field, const std::string& reason) const;

    std::string_view text_;
    std::string_view name_;
    char separator_;
    std::array<bool, 256> ends_{}; // by byte: whether it ends an unquoted field, or cannot be in one
    std::size_t at_ = 0;
    std::size_t line_;
};

} // namespace lockstep
