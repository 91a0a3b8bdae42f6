// Comma-separated values, RFC 4180: rows of fields, with quoting.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

/// The most fields in a row: as many inputs as a network may have, and a target.
inline constexpr std::size_t mostCsvFields = 65537;

/// A field as it stands in the file, without the quotation marks around it.
struct CsvField {
    std::string_view raw;
    bool doubledQuotes = false; ///< raw has "" where the text has "
    std::size_t line = 0;       ///< where the field begins, counted from 1

    std::string text() const;
};

/// Splits a text into rows, without copying it. Fields are separated by commas; rows by LF, CR LF or CR. A
/// field in quotation marks may hold commas, line breaks and, doubled, quotation marks. A byte-order mark of
/// UTF-8 is skipped, and so are lines with nothing in them.
class CsvReader {
  public:
    /// text   has to live as long as the reader and its fields
    /// name   the file, for messages
    /// Throws std::runtime_error "NAME:LINE: reason" for text that is no UTF-8 (with a hint for UTF-16) or
    /// holds a zero byte, and "NAME: ..." for an empty one.
    CsvReader(std::string_view text, std::string_view name);

    /// The next row into `fields`; false at the end of the text.
    /// Throws std::runtime_error "NAME:LINE:FIELD: reason" (both counted from 1) for a quotation mark inside
    /// an unquoted field, text after a closing one, one that is never closed, and more than mostCsvFields
    /// fields.
    bool next(std::vector<CsvField>& fields);

  private:
    CsvField readField(std::size_t number);
    CsvField readQuoted(std::size_t number);
    bool atLineBreak() const;
    void skipLineBreak();
    [[noreturn]] void fail(std::size_t line, std::size_t field, const std::string& reason) const;

    std::string_view text_;
    std::string_view name_;
    std::size_t at_ = 0;
    std::size_t line_ = 1;
};

} // namespace lockstep
