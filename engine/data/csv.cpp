#include "engine/data/csv.h"

#include <algorithm>
#include <stdexcept>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep {

std::string CsvField::text() const {
    std::string result(raw);
    if (!doubledQuotes) return result;
    result.clear();
    for (std::size_t i = 0; i < raw.size(); ++i) {
        result += raw[i];
        if (raw[i] == '"') ++i; // the second of a pair
    }
    return result;
}

CsvReader::CsvReader(std::string_view text, std::string_view name, char separator, std::size_t firstLine)
    : text_(text), name_(name), separator_(separator), line_(firstLine) {
    for (const char letter : {separator, '\r', '\n', '"', separator == ' ' ? '\t' : '"'})
        ends_[static_cast<unsigned char>(letter)] = true;
}

bool CsvReader::next(std::vector<CsvField>& fields) {
    fields.clear();
    do {
        while (at_ < text_.size() && atLineBreak()) skipLineBreak();
        skipBlanks();
    } while (at_ < text_.size() && atLineBreak());
    if (at_ == text_.size()) return false;
    while (true) {
        if (fields.size() == mostCsvFields)
            fail(line_, fields.size() + 1, concat("more than ", mostCsvFields, " fields in a row"));
        fields.push_back(readField(fields.size() + 1));
        skipBlanks();
        if (at_ == text_.size()) return true;
        if (atLineBreak()) {
            skipLineBreak();
            return true;
        }
        if (separator_ != ' ') ++at_;
    }
}

// Where blanks separate fields, any run of them is one separator.
void CsvReader::skipBlanks() {
    if (separator_ == ' ')
        while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
}

// Leaves at_ on the separator or line break that ends the field, or at the end of the text.
CsvField CsvReader::readField(std::size_t number) {
    if (at_ < text_.size() && text_[at_] == '"') return readQuoted(number);
    std::size_t end = at_;
    while (end < text_.size() && !ends_[static_cast<unsigned char>(text_[end])]) ++end;
    if (end < text_.size() && text_[end] == '"')
        fail(line_, number,
             "a quotation mark inside an unquoted field; quote the whole field, and double the mark inside "
             "it");
    const CsvField field{text_.substr(at_, end - at_), false, line_};
    at_ = end;
    return field;
}

CsvField CsvReader::readQuoted(std::size_t number) {
    CsvField field{{}, false, line_};
    const std::size_t begin = ++at_;
    while (true) {
        at_ = std::min(text_.find_first_of("\r\n\"", at_), text_.size());
        if (at_ == text_.size())
            fail(field.line, number, "the quotation mark that opens this field is never closed");
        if (text_[at_] != '"') {
            skipLineBreak();
        } else if (text_.substr(at_).starts_with("\"\"")) {
            field.doubledQuotes = true;
            at_ += 2;
        } else {
            break;
        }
    }
    field.raw = text_.substr(begin, at_ - begin);
    ++at_; // the closing mark
    const bool separated = at_ == text_.size() || text_[at_] == separator_ || atLineBreak() ||
                           (separator_ == ' ' && text_[at_] == '\t');
    if (!separated)
        fail(line_, number,
             "text after the closing quotation mark; double any mark that belongs to the text");
    return field;
}

bool CsvReader::atLineBreak() const { return text_[at_] == '\n' || text_[at_] == '\r'; }

void CsvReader::skipLineBreak() {
    at_ += text_.substr(at_).starts_with("\r\n") ? 2 : 1;
    ++line_;
}

void CsvReader::fail(std::size_t line, std::size_t field, const std::string& reason) const {
    throw std::runtime_error(concat(name_, ":", line, ":", field, ": ", reason));
}

} // namespace lockstep
