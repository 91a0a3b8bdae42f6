#include "engine/data/csv.h"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/data/csv_dataset.h"
#include "engine/data/table_text.h"
#include "engine/files/file_bytes.h"
#include "engine/net/names.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rowsOf(std::string_view text) {
    CsvReader reader(text, "t.csv");
    Rows rows;
    for (std::vector<CsvField> fields; reader.next(fields);) {
        rows.emplace_back();
        for (const CsvField& field : fields) rows.back().push_back(field.text());
    }
    return rows;
}

Dataset parse(std::string_view text, const CsvOptions& options = {}) {
    return parseCsvDataset(text, "t.csv", options);
}

std::string parseComplaint(std::string_view text, const CsvOptions& options = {}) {
    return complaint([&] { parse(text, options); });
}

std::string textComplaint(std::string_view text) {
    return complaint([&] { TableText(asBytes(text), "t.csv"); });
}

std::string rowsComplaint(std::string_view text) {
    return complaint([&] { rowsOf(text); });
}

using Names = std::vector<std::string>;
using Labels = std::vector<std::uint32_t>;
using Values = std::vector<float>;

} // namespace

TEST_CASE("rows and fields as RFC 4180 says") {
    CHECK(rowsOf("a,b\nc,d\n") == Rows{{"a", "b"}, {"c", "d"}});
    CHECK(rowsOf("a,b\r\nc,d") == Rows{{"a", "b"}, {"c", "d"}});
    CHECK(rowsOf("a,b\rc,d\r") == Rows{{"a", "b"}, {"c", "d"}});
    CHECK(rowsOf("a,,\n,\n") == Rows{{"a", "", ""}, {"", ""}});
    CHECK(rowsOf("\n\r\na\n\nb\n\n") == Rows{{"a"}, {"b"}});
    CHECK(rowsOf(" a , b") == Rows{{" a ", " b"}});
    CHECK(rowsOf("\"a,b\",\"c\"\"d\",\"e\r\nf\"\n\"\",\"\"\"\",g") ==
          Rows{{"a,b", "c\"d", "e\r\nf"}, {"", "\"", "g"}});
    CHECK(rowsOf("\n\n").empty());
}

TEST_CASE("fields know the line on which they begin") {
    CsvReader reader("a,\"b\n\r\nb\",c\r\nd\re\n", "t.csv");
    std::vector<CsvField> fields;
    REQUIRE(reader.next(fields));
    CHECK(fields[1].line == 1);
    CHECK(fields[2].line == 3);
    REQUIRE(reader.next(fields));
    CHECK(fields[0].line == 4);
    REQUIRE(reader.next(fields));
    CHECK(fields[0].line == 5);
    CHECK_FALSE(reader.next(fields));
}

TEST_CASE("quotation marks in the wrong place") {
    CHECK(rowsComplaint("a\nb,c\"d\n") == "t.csv:2:2: a quotation mark inside an unquoted field; quote the "
                                          "whole field, and double the mark inside it");
    CHECK(rowsComplaint("\"a\"b,c\n") ==
          "t.csv:1:1: text after the closing quotation mark; double any mark that belongs to the text");
    CHECK(rowsComplaint("a\nb,\"c\nd\ne") ==
          "t.csv:2:2: the quotation mark that opens this field is never closed");
}

TEST_CASE("text that is not UTF-8") {
    CHECK(textComplaint("") == "t.csv: the file is empty");
    CHECK(textComplaint("a,b\nc,\xE9t\xE9\x81\n") ==
          "t.csv:2: bytes that are not UTF-8; save the table as UTF-8 text");
    CHECK(textComplaint(std::string("a\r\r") + '\0') == "t.csv:3: a zero byte; save the table as UTF-8 text");
    CHECK(textComplaint("\xFF\xFE"
                        "a") == "t.csv: UTF-16 text with an odd number of bytes");
    CHECK(textComplaint(std::string("\xFE\xFF\xDC\x00\x00\x61", 6)) ==
          "t.csv: byte 2: half a character of UTF-16");
    CHECK(textComplaint("\x1F\x8B\x08\x00") != "nothing was thrown");
}

TEST_CASE("text in other encodings becomes UTF-8, and says so") {
    const auto textOf = [](std::string_view bytes) {
        return std::string(TableText(asBytes(bytes), "t").text());
    };
    const auto notesOf = [](std::string_view bytes) { return TableText(asBytes(bytes), "t").notes(); };
    CHECK(textOf("\xEF\xBB\xBF"
                 "a,b") == "a,b");
    CHECK(textOf("gr\xF6\xDF"
                 "e;\x80") == "gr\xC3\xB6\xC3\x9F"
                              "e;\xE2\x82\xAC");
    CHECK(notesOf("gr\xF6\xDF"
                  "e")
              .front()
              .find("Windows-1252") != std::string::npos);
    CHECK(textOf(std::string("\xFF\xFE"
                             "a\0,\0\x3D\xD8\x00\xDE",
                             10)) == "a,\xF0\x9F\x98\x80");
    CHECK(textOf(std::string("\xFE\xFF\0a\0\n", 6)) == "a\n");
    CHECK(textOf(gzipped("a,b\n1,2\n")) == "a,b\n1,2\n");
    CHECK(textOf("sep=;\r\na;b\n") == "a;b\n");
    CHECK(TableText(asBytes("sep=;\na;b\n"), "t").separator() == ';');
    CHECK(TableText(asBytes("sep=;\na;b\n"), "t").firstLine() == 2);
    CHECK(notesOf("a,b").empty());
    const std::string whole = gzipped("a,b\n1,2\n");
    for (std::size_t size = 2; size < whole.size(); ++size)
        CHECK(textComplaint(whole.substr(0, size)) != "nothing was thrown");
}

TEST_CASE("other separators") {
    const auto rowsBy = [](std::string_view text, char separator) {
        CsvReader reader(text, "t.csv", separator);
        Rows rows;
        for (std::vector<CsvField> fields; reader.next(fields);) {
            rows.emplace_back();
            for (const CsvField& field : fields) rows.back().push_back(field.text());
        }
        return rows;
    };
    CHECK(rowsBy("1,5;2\n\"a;b\";c", ';') == Rows{{"1,5", "2"}, {"a;b", "c"}});
    CHECK(rowsBy("a\t\tb\n", '\t') == Rows{{"a", "", "b"}});
    CHECK(rowsBy("  1   2\t3  \n \n4 \"5 6\" 7", ' ') == Rows{{"1", "2", "3"}, {"4", "5 6", "7"}});
}

TEST_CASE("detection of invalid UTF-8") {
    const std::size_t none = std::string_view::npos;
    for (const char* good :
         {"", "a", "\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x98\x80", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
        CHECK(findInvalidUtf8(good) == none);
    for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE2\x82", "\xE0\x80\xAF", "\xED\xA0\x80",
                            "\xF0\x80\x80\xAF", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80", "\xF0\x9F\x98"})
        CHECK(findInvalidUtf8("ab" + std::string(bad)) == 2);
}

TEST_CASE("a row with too many fields") {
    CHECK(rowsComplaint(std::string(mostCsvFields, ',')) == "t.csv:1:65538: more than 65537 fields in a row");
    CHECK(rowsOf(std::string(mostCsvFields - 1, ',')).front().size() == mostCsvFields);
}

TEST_CASE("numbers") {
    for (const char* text : {"1", "-1.5", "+2", ".5", "1e3", "1E-3", "0"})
        CHECK(parseNumber(text).kind == NumberKind::finite);
    CHECK(parseNumber("-1.5e1").value == -15);
    CHECK(parseNumber("+.25").value == 0.25);
    for (const char* text : {"nan", "NaN", "inf", "-Infinity", "1e39", "-1e400"})
        CHECK(parseNumber(text).kind == NumberKind::notFinite);
    for (const char* text : {"", "+", "-", "1,5", "0x10", "1e", "1 2", "+-1", "++1", "abc", " 1"})
        CHECK(parseNumber(text).kind == NumberKind::text);
    CHECK(shortestText(3) == "3");
    CHECK(shortestText(-0.0) == "0");
    CHECK(shortestText(0.1) == "0.1");
}

TEST_CASE("a table with header and text classes") {
    const Dataset data = parse("width,height,kind\n1,2,rose\n3, 4 ,\"iris, blue\"\n\"5\",6, rose \n");
    CHECK(data.name == "t.csv");
    CHECK(data.inputs == 2);
    CHECK(data.inputNames == Names{"width", "height"});
    CHECK(data.classes == 2);
    CHECK(data.classNames == Names{"iris, blue", "rose"});
    CHECK(data.train.count == 3);
    CHECK(data.train.values == Values{1, 2, 3, 4, 5, 6});
    CHECK(data.train.labels == Labels{1, 0, 1});
    CHECK(data.train.targets.empty());
    CHECK(data.test.count == 0);
    CHECK_FALSE(data.bytes());
}

TEST_CASE("small whole numbers are classes, others are values") {
    const Dataset classes = parse("0.5,7\n1.5,2\n2.5,10.0\n3.5,2\n");
    CHECK(classes.inputNames.empty());
    CHECK(classes.classNames == Names{"2", "7", "10"});
    CHECK(classes.train.labels == Labels{1, 0, 2, 0});
    for (const char* text : {"1,0.5\n2,1\n", "1,100\n2,1\n", "1,-1\n2,1\n"}) {
        const Dataset values = parse(text);
        CHECK(values.classes == 0);
        CHECK(values.targetWidth == 1);
        CHECK(values.train.targets.size() == 2);
        CHECK(values.train.labels.empty());
    }
}

TEST_CASE("the kind of target can be chosen") {
    CHECK(parse("1,3\n2,4\n", {.table = {.task = TableTask::values}}).train.targets == Values{3, 4});
    const Dataset years = parse("1,2024\n2,1999\n3,2024\n", {.table = {.task = TableTask::classes}});
    CHECK(years.classNames == Names{"1999", "2024"});
    CHECK(years.train.labels == Labels{1, 0, 1});
    CHECK(parseComplaint("1,3\n2,x\n", {.table = {.task = TableTask::values}}) ==
          "t.csv:2:2: the target 'x' is not a finite number; regression needs numbers");
}

TEST_CASE("the target's column by name or number") {
    const char* text = "a,b,c\n1,2,3.5\n4,5,6.5\n";
    CHECK(parse(text, {.table = {.target = "b"}}).train.values == Values{1, 3.5F, 4, 6.5F});
    CHECK(parse(text, {.table = {.target = "b"}}).inputNames == Names{"a", "c"});
    CHECK(parse(text, {.table = {.target = "1"}}).train.labels == Labels{0, 1});
    CHECK(parse("1,2,3.5\n4,5,6.5\n", {.table = {.target = "2"}}).train.count == 2);
    CHECK(parse("1,2,b\n4,5,6\n7,8,9\n", {.table = {.target = "b"}}).inputNames == Names{"1", "2"});
    CHECK(refusal([&] { parse(text, {.table = {.target = "d"}}); }) ==
          "unknown column of t.csv 'd'; did you mean 'a'? (known: a, b, c)");
    CHECK(refusal([&] { parse("1,2\n", {.table = {.target = "kind"}}); }) ==
          "t.csv has no header, so there is no column 'kind'; give the target's number, from 1 to 2");
    CHECK(refusal([&] { parse("1,2\n", {.table = {.target = "3"}}); }) ==
          "t.csv has no header, so there is no column '3'; give the target's number, from 1 to 2");
    CHECK(parseComplaint("a,b,a\n1,2,3\n", {.table = {.target = "a"}}) ==
          "t.csv: two columns are called 'a'; give the target's number, from 1 to 3");
}

TEST_CASE("the header can be chosen") {
    CHECK(parse("2019,2020,kind\n1,2,a\n3,4,b\n", {.table = {.header = TableHeader::present}}).inputNames ==
          Names{"2019", "2020"});
    CHECK(parse("2019,2020,kind\n1,2,a\n3,4,b\n").train.count == 3);
    CHECK(parseComplaint("x,y,kind\n1,2,a\n", {.table = {.header = TableHeader::absent}}) ==
          "t.csv:1:1: 'x' is not a number; is this row a header?");
}

TEST_CASE("cells that are not valid features") {
    CHECK(parseComplaint("a,b,c\n1,2,x\n1,abc,y\n") ==
          "t.csv:3:2: column 'b': 'abc' is not a number; this column is read as numbers (option --ignore "
          "leaves a column out)");
    CHECK(parseComplaint("a,b,c\n1,2,x\n1, ,y\n") == "t.csv:3:2: column 'b': the cell is empty (1 of 2 rows "
                                                     "has such cells); --missing drop leaves these rows "
                                                     "out, --missing mean fills in the column's mean");
    for (const std::string cell : {"nan", "NaN"})
        CHECK(parseComplaint("1,2,x\n" + cell + ",2,y\n")
                  .starts_with("t.csv:2:1: '" + cell + "' stands for a missing value (1 of 2 rows"));
    for (const std::string cell : {"-inf", "1e39"})
        CHECK(parseComplaint("1,2,x\n" + cell + ",2,y\n") ==
              "t.csv:2:1: '" + cell + "' is not a finite number that a float can hold");
    CHECK(parseComplaint("1,x\n" + std::string(50, 'z') + ",y\n")
              .starts_with("t.csv:2:1: '" + std::string(40, 'z') + "...' is"));
}

TEST_CASE("cells that are not valid targets") {
    CHECK(parseComplaint("a,b\n1,x\n2,\n") == "t.csv:3:2: column 'b': the cell is empty (1 of 2 rows has "
                                              "such cells); --missing drop leaves these rows "
                                              "out, --missing mean fills in the column's mean");
    CHECK(parseComplaint("1,0.5\n2,inf\n") ==
          "t.csv:2:2: the target 'inf' is not a finite number that a float can hold");
    CHECK(parseComplaint("1,x\n2,x\n") ==
          "t.csv: all 2 rows have the class 'x'; classification needs at least two classes");
}

TEST_CASE("a column of names is not mistaken for classes") {
    std::string text;
    for (int i = 0; i < 1001; ++i) text += "1,name" + std::to_string(i) + "\n";
    CHECK(parseComplaint(text) == "t.csv:1001:2: more than 1000 distinct classes; is this the right "
                                  "target column? Choose another with --target");
    CHECK(parse(text, {.table = {.task = TableTask::classes}}).classes == 1001);
}

TEST_CASE("labels of a trained network") {
    const CsvOptions options{.classNames = {"rose", "iris", "3"}};
    const Dataset data = parse("1,iris\n2,3.0\n3,iris\n", options);
    CHECK(data.classNames == options.classNames);
    CHECK(data.train.labels == Labels{1, 2, 1});
    CHECK(
        parseComplaint("1,iris\n2,irs\n", options) ==
        "t.csv:2:2: the label 'irs' is not one of the 3 known classes (rose, iris, 3); did you mean 'iris'?");
    CHECK(parseComplaint("1,iris\n2,4\n3,rose\n", options)
              .starts_with("t.csv:2:2: the label '4' is not one of the 3 known classes (rose, iris, 3)"));
    CHECK(parse("1,iris\n", options).classes == 3);
}

TEST_CASE("tables without anything to learn from") {
    CHECK(parseComplaint("\n\n") == "t.csv: the table has no rows");
    CHECK(parseComplaint("a,b\n") == "t.csv: the table has a header but no rows");
    CHECK(parseComplaint("a\n1\n") ==
          "t.csv: the table has only one column; it needs at least one feature and a target");
    CHECK(parse("1;2\n3;4\n").inputs == 1);
    CHECK(parseComplaint("1,2\n\n3,4,5\n") == "t.csv:3: this row has 3 fields, the first row 2");
}

TEST_CASE("a table truncated at any byte is a shorter table or an error with its position") {
    const std::string text =
        "a,\"b \"\"c\"\"\",kind\r\n1.5,2,\"red, or so\"\r\n-3,4e1,blue\r\n5,6,\"blue\"\r\n";
    const Dataset whole = parse(text);
    REQUIRE(whole.train.count == 3);
    int errors = 0;
    for (std::size_t size = 0; size < text.size(); ++size) {
        CAPTURE(size);
        const std::string cut = text.substr(0, size);
        const std::string message = parseComplaint(cut);
        if (message == "nothing was thrown") {
            CHECK(parse(cut).train.count <= 3);
            CHECK(size > text.find("blue")); // two rows with a class each
        } else {
            CHECK(message.starts_with("t.csv:"));
            ++errors;
        }
    }
    CHECK(errors > 40);
}
