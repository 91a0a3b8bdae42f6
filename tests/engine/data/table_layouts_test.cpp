// Tables as people have them: how each is understood, and what is refused. The layouts follow public
// descriptions of well-known data sets; their numbers are made up.
#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "engine/data/csv_dataset.h"
#include "engine/data/data_source.h"
#include "engine/data/table_scaling.h"
#include "engine/net/random.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

using Names = std::vector<std::string>;

struct Understood {
    const char* layout;
    std::string file;
    TableOptions options;
    Names targets;
    std::size_t classes; ///< 0: values
    std::size_t inputs;
    InputScale scale;
    Names ignored = {};
    std::size_t rows = 0; ///< 0: as many as the text has lines, less the header
};

/// `count` lines, each made from its number.
std::string lines(int count, const std::function<std::string(int)>& line) {
    std::string text;
    for (int i = 0; i < count; ++i) text += line(i) + "\n";
    return text;
}

std::string text(double value) { return shortestText(value); }

/// A number between 0 and 1 that depends on both.
double some(int row, int column) {
    return uniform01(randomWords(7, RandomStream::data, static_cast<std::uint64_t>(row),
                                 static_cast<std::uint32_t>(column))
                         .x);
}
double tenths(int row, int column, double most) { return std::round(some(row, column) * most * 10) / 10; }
int whole(int row, int column, int most) { return static_cast<int>(some(row, column) * most); }

std::string pixelRow(int row, int count, const std::string& separator) {
    std::string all;
    for (int i = 0; i < count; ++i) all += (i > 0 ? separator : "") + std::to_string(whole(row, i, 256));
    return all;
}

std::string utf16(const std::string& ascii) {
    std::string bytes = "\xFF\xFE";
    for (const char letter : ascii) bytes += letter, bytes += '\0';
    return bytes;
}

std::string names(const std::string& stem, int count) {
    std::string all;
    for (int i = 0; i < count; ++i) all += (i > 0 ? "," : "") + stem + std::to_string(i);
    return all;
}

const char* kinds[] = {"setosa", "versicolor", "virginica"};

Dataset load(const std::string& file, const TableOptions& options = {}) {
    Dataset data = parseCsvDataset(file, "t.csv", {.table = options});
    scaleInputs(data, options.scale, nullptr);
    return data;
}

std::string complaintAbout(const std::string& file, const TableOptions& options = {}) {
    return complaint([&] { load(file, options); });
}

Names titles(const TableSchema& table, ColumnRole role) {
    Names found;
    for (std::size_t column = 0; column < table.columns.size(); ++column)
        if (table.columns[column].role == role) found.push_back(table.title(column));
    return found;
}

std::vector<Understood> layouts() {
    using enum InputScale;
    const auto iris = [](int i, const char* separator, bool comma) {
        std::string row;
        for (int column = 0; column < 4; ++column) row += text(0.1 + tenths(i, column, 7)) + separator;
        if (comma) std::ranges::replace(row, '.', ',');
        return row;
    };
    const std::string irisHead = "sepal_length,sepal_width,petal_length,petal_width,species\n";
    const auto digits = [](int i) { return std::to_string(i % 10) + "," + pixelRow(i, 64, ","); };
    return {
        {"digits of Kaggle: the label first",
         "label," + names("pixel", 64) + "\n" + lines(40, digits),
         {},
         {"'label'"},
         10,
         64,
         pixels},
        {"digits of scikit-learn, exported: 64 columns from 0 to 16, the target last",
         names("pixel_", 64) + ",target\n" +
             lines(40,
                   [](int i) {
                       std::string row;
                       for (int p = 0; p < 64; ++p) row += std::to_string(whole(i, p, 17)) + ",";
                       return row + std::to_string(i % 10);
                   }),
         {},
         {"'target'"},
         10,
         64,
         standard},
        {"iris of UCI: no header, words last",
         lines(30, [&](int i) { return iris(i, ",", false) + kinds[i % 3]; }),
         {},
         {"column 5"},
         3,
         4,
         standard},
        {"iris of Kaggle: numbered rows",
         "Id,SepalLengthCm,SepalWidthCm,PetalLengthCm,PetalWidthCm,Species\n" +
             lines(30,
                   [&](int i) { return std::to_string(i + 1) + "," + iris(i, ",", false) + kinds[i % 3]; }),
         {},
         {"'Species'"},
         3,
         4,
         standard,
         {"'Id'"}},
        {"wine of UCI: no header, the class first",
         lines(30,
               [](int i) {
                   return std::to_string(1 + i % 3) + "," + text(11 + tenths(i, 1, 3)) + "," +
                          text(tenths(i, 2, 5)) + "," + std::to_string(300 + 41 * i);
               }),
         {},
         {"column 1"},
         3,
         3,
         standard},
        {"winequality: semicolons, quoted names",
         "\"fixed acidity\";\"density\";\"quality\"\n" + lines(20,
                                                               [](int i) {
                                                                   return text(7 + tenths(i, 0, 3)) +
                                                                          ";0.99" + std::to_string(60 + i) +
                                                                          ";" + std::to_string(4 + i % 4);
                                                               }),
         {},
         {"'quality'"},
         4,
         2,
         standard},
        {"abalone: no header, words among the features",
         lines(40,
               [](int i) {
                   return std::string(i % 3 == 0   ? "M"
                                      : i % 3 == 1 ? "F"
                                                   : "I") +
                          "," + text(0.1 + some(i, 1)) + "," + text(some(i, 2)) + "," +
                          std::to_string(5 + i % 12);
               }),
         {},
         {"column 4"},
         12,
         5,
         standard},
        {"banknote: no header, classes 0 and 1",
         lines(20,
               [](int i) {
                   return text(tenths(i, 0, 8) - 4) + "," + text(tenths(i, 1, 20) - 8) + "," +
                          std::to_string(i % 2);
               }),
         {},
         {"column 3"},
         2,
         2,
         standard},
        {"titanic: words, gaps, a name in each row",
         "PassengerId,Survived,Pclass,Name,Sex,Age,Embarked\n" +
             lines(60,
                   [](int i) {
                       return std::to_string(i + 1) + "," + std::to_string(i % 2) + "," +
                              std::to_string(1 + i % 3) + ",\"Name" + std::to_string(i) + ", Mr. A\"," +
                              (i % 2 ? "male" : "female") + "," + (i % 5 == 0 ? "" : text(20 + i % 40)) +
                              "," +
                              (i % 3 == 0   ? "S"
                               : i % 3 == 1 ? "C"
                                            : "Q");
                   }),
         {.missing = MissingCells::drop, .ignore = {"Name"}},
         {"'Survived'"},
         2,
         6,
         standard,
         {"'PassengerId'", "'Name'"},
         48},
        {"ozone: NA among the numbers of the target",
         "wind,temp,ozone\n" + lines(12,
                                     [](int i) {
                                         return text(tenths(i, 0, 12)) + "," + std::to_string(60 + i) + "," +
                                                (i == 3 ? "NA" : text(8 + tenths(i, 2, 90)));
                                     }),
         {.missing = MissingCells::drop},
         {"'ozone'"},
         0,
         2,
         standard,
         {},
         11},
        {"pandas with its index",
         ",0,1,kind\n0,1.5,2,a\n1,3,4,b\n2,2,2,a\n",
         {},
         {"'kind'"},
         2,
         2,
         standard,
         {"column 1"}},
        {"write.csv of R: quoted names of rows",
         "\"\",\"x1\",\"x2\",\"class\"\n" + lines(10,
                                                  [](int i) {
                                                      return "\"" + std::to_string(i + 1) + "\"," +
                                                             text(tenths(i, 0, 9)) + "," +
                                                             text(tenths(i, 1, 9)) + ",\"" +
                                                             (i % 2 ? "a" : "b") + "\"";
                                                  }),
         {},
         {"'class'"},
         2,
         2,
         standard,
         {"column 1"}},
        {"write.table of R: a header without the names' column",
         "mpg cyl am\n" + lines(10,
                                [](int i) {
                                    return "\"Car " + std::to_string(i) + "\" " + text(15 + tenths(i, 0, 9)) +
                                           " " + std::to_string(4 + i % 3) + " " + std::to_string(i % 2);
                                }),
         {},
         {"'am'"},
         2,
         2,
         standard,
         {"column 1"}},
        {"Excel in German: semicolons, decimal commas, sep=",
         "sep=;\r\nL\xE4nge;Breite;Art\r\n" + lines(12,
                                                    [](int i) {
                                                        return std::to_string(i % 7) + ",5;" +
                                                               std::to_string(i % 5) + ",25;" +
                                                               (i % 2 ? "rund" : "eckig") + "\r";
                                                    }),
         {},
         {"'Art'"},
         2,
         2,
         standard},
        {"a text file of Excel: UTF-16 and tabs",
         utf16("a\tb\tclass\n" + lines(8,
                                       [](int i) {
                                           return text(tenths(i, 0, 9)) + "\t" + text(tenths(i, 1, 9)) +
                                                  "\t" + (i % 2 ? "x" : "y");
                                       })),
         {},
         {"'class'"},
         2,
         2,
         standard,
         {},
         8},
        {"labels of -1 and 1, as of libsvm",
         "x,y,label\n" + lines(10,
                               [](int i) {
                                   return text(tenths(i, 0, 3) - 1) + "," + text(tenths(i, 1, 3) - 1) + "," +
                                          (i % 2 ? "1" : "-1");
                               }),
         {},
         {"'label'"},
         2,
         2,
         standard},
        {"one-hot labels",
         "a,b,is_red,is_green,is_blue\n" + lines(12,
                                                 [](int i) {
                                                     return text(tenths(i, 0, 9)) + "," +
                                                            text(tenths(i, 1, 9)) + "," +
                                                            (i % 3 == 0   ? "1,0,0"
                                                             : i % 3 == 1 ? "0,1,0"
                                                                          : "0,0,1");
                                                 }),
         {},
         {"'is_red'", "'is_green'", "'is_blue'"},
         3,
         2,
         standard},
        {"several targets",
         "x1,x2,heating,cooling\n" + lines(12,
                                           [](int i) {
                                               return text(tenths(i, 0, 9)) + "," + text(tenths(i, 1, 9)) +
                                                      "," + text(10 + tenths(i, 2, 30)) + "," +
                                                      text(10 + tenths(i, 3, 30));
                                           }),
         {.target = "heating,cooling"},
         {"'heating'", "'cooling'"},
         0,
         2,
         standard},
        {"mushrooms: letters alone, no header",
         lines(24,
               [](int i) {
                   return std::string(i % 2 ? "p" : "e") + "," + (i % 3 ? "x" : "b") + "," +
                          (i % 4 ? "s" : "y");
               }),
         {.target = "first"},
         {"column 1"},
         2,
         2,
         none},
        {"seeds of UCI: blanks and tabs",
         lines(21,
               [](int i) {
                   return "  " + text(11 + tenths(i, 0, 9)) + "\t " + text(13 + tenths(i, 1, 4)) + "   " +
                          std::to_string(1 + i % 3) + " ";
               }),
         {},
         {"column 3"},
         3,
         2,
         standard},
        {"breast cancer: identifiers, the diagnosis second",
         "id,diagnosis,radius_mean,texture_mean\n" + lines(20,
                                                           [](int i) {
                                                               return std::to_string(842302 + 7919 * i) +
                                                                      "," + (i % 2 ? "M" : "B") + "," +
                                                                      text(10 + tenths(i, 0, 9)) + "," +
                                                                      text(10 + tenths(i, 1, 20));
                                                           }),
         {},
         {"'diagnosis'"},
         2,
         2,
         standard,
         {"'id'"}},
        {"numbers from 0 to 1",
         "a,b,c\n" +
             lines(12,
                   [](int i) { return text(some(i, 0)) + "," + text(some(i, 1)) + "," + text(some(i, 2)); }),
         {},
         {"'c'"},
         0,
         2,
         none},
        {"a comma at the end of each row",
         "x,y,species,\n" + lines(6,
                                  [](int i) {
                                      return std::to_string(i) + "," + text(tenths(i, 1, 9)) + "," +
                                             (i % 2 ? "a," : "b,");
                                  }),
         {},
         {"'species'"},
         2,
         2,
         standard,
         {"column 4"}},
        {"gzip",
         gzipped("a,b,q\n" + lines(6,
                                   [](int i) {
                                       return text(tenths(i, 0, 9)) + "," + text(tenths(i, 1, 9)) + "," +
                                              (i % 2 ? "x" : "y");
                                   })),
         {},
         {"'q'"},
         2,
         2,
         standard,
         {},
         6},
        {"missing numbers as question marks, filled in",
         "age,weight,class\n" + lines(12,
                                      [](int i) {
                                          return std::string(i % 4 == 0 ? "?" : std::to_string(20 + i)) +
                                                 "," + std::to_string(60 + i) + "," + (i % 2 ? "yes" : "no");
                                      }),
         {.missing = MissingCells::mean},
         {"'class'"},
         2,
         2,
         standard},
    };
}

} // namespace

TEST_CASE("real layouts are understood") {
    for (const Understood& each : layouts()) {
        CAPTURE(each.layout);
        Dataset data;
        REQUIRE(complaint([&] { data = load(each.file, each.options); }) == "nothing was thrown");
        REQUIRE(data.table);
        const TableSchema& table = *data.table;
        CHECK(titles(table, ColumnRole::target) == each.targets);
        CHECK(data.classes == each.classes);
        CHECK(data.inputs == each.inputs);
        CHECK(nameOf(inputScales, table.scale) == nameOf(inputScales, each.scale));
        CHECK(titles(table, ColumnRole::ignored) == each.ignored);
        const auto breaks = static_cast<std::size_t>(std::ranges::count(each.file, '\n'));
        const bool separatorLine = each.file.starts_with("sep=");
        CHECK(data.train.count ==
              (each.rows > 0 ? each.rows : breaks - (table.header ? 1 : 0) - (separatorLine ? 1 : 0)));
        // Why each was inferred is never left open.
        for (const std::string* why : {&table.why.separator, &table.why.decimal, &table.why.header,
                                       &table.why.target, &table.why.task, &table.why.scale})
            CHECK_FALSE(why->empty());
        for (const TableColumn& column : table.columns)
            CHECK(column.why.empty() == (column.role == ColumnRole::feature));
        for (const float value : data.train.values) REQUIRE(std::isfinite(value));
    }
}

TEST_CASE("guesses can be overruled") {
    const std::string labelFirst = "label,a,b\n1,2,3\n0,4,5\n1,6,7\n0,8,9\n";
    CHECK(titles(*load(labelFirst).table, ColumnRole::target) == Names{"'label'"});
    CHECK(titles(*load(labelFirst, {.target = "last"}).table, ColumnRole::target) == Names{"'b'"});
    CHECK(titles(*load(labelFirst, {.target = "2"}).table, ColumnRole::target) == Names{"'a'"});
    CHECK(load(labelFirst, {.task = TableTask::values}).classes == 0);
    CHECK(load(labelFirst, {.ignore = {"a"}}).inputs == 1);
    CHECK(load(labelFirst, {.scale = InputScale::none}).train.values ==
          std::vector<float>{2, 3, 4, 5, 6, 7, 8, 9});
    const std::string numbered = "id,a,class\n1,2.5,x\n2,3.5,y\n3,4.5,x\n";
    CHECK(load(numbered).inputs == 1);
    CHECK(load(numbered, {.ignore = {"none"}}).inputs == 2);
    CHECK(load("1.5;a\n2.5;b\n", {.separator = TableSeparator::semicolon}).inputs == 1);
    CHECK(load("1,2;0\n3,4;1\n", {.separator = TableSeparator::semicolon,
                                  .decimal = TableDecimal::comma,
                                  .scale = InputScale::none})
              .train.values == std::vector<float>{1.2F, 3.4F});
    CHECK(refusal([&] { load(labelFirst, {.ignore = {"c"}}); }).starts_with("unknown column of t.csv 'c'"));
}

TEST_CASE("one odd cell does not change what a column is") {
    std::string numbers = "a,b\n";
    for (int i = 0; i < 20; ++i) numbers += text(1.5 + i) + "," + text(0.25 * i) + "\n";
    CHECK(load(numbers).classes == 0);
    CHECK(complaintAbout(numbers + "3,n.a.\n") ==
          "t.csv:22:2: column 'b': the target 'n.a.' is not a number; most of "
          "this column are (--task classes takes all as classes)");
    CHECK(complaintAbout(numbers + "3,NA\n")
              .starts_with("t.csv:22:2: column 'b': 'NA' stands for a missing value (1 of 21 rows"));
    CHECK(complaintAbout(numbers + "x,1\n").starts_with("t.csv:22:1: column 'a': 'x' is not a number"));
    CHECK(complaintAbout(numbers + "\"1,5\",1\n").find("is the comma a decimal sign") != std::string::npos);
}

TEST_CASE("a class may be called NA among other words") {
    const Dataset data = load("x,country\n1.5,DE\n2.5,NA\n3.5,DE\n4.5,NA\n");
    CHECK(data.classNames == Names{"DE", "NA"});
    CHECK(data.train.count == 4);
}

TEST_CASE("a comma between three digits is taken for nothing where it could be either") {
    const std::string tabs = "a\tb\n1,234\t950\n2,345\t870\n";
    CHECK(complaintAbout(tabs).starts_with("t.csv:3: the comma of '2,345' may be a decimal sign"));
    CHECK(load(tabs, {.decimal = TableDecimal::comma}).train.count == 2);
    CHECK(load("a\tb\n1,234\t950\n2,3\t870\n").table->decimal == ',');
    CHECK(load("a;b\n1,234;950\n2,345;870\n").table->decimal == ',');
}

TEST_CASE("a column of numbers with another decimal sign than the rest is not taken for words") {
    const std::string mixed = "area;price\n62.5;223,9\n70.0;310,5\n55.5;199,0\n";
    CHECK(complaintAbout(mixed).starts_with(
        "t.csv:4:2: column 'price': '199,0' is a number only if its ',' is the decimal sign"));
    CHECK(load(mixed, {.task = TableTask::classes}).classes == 3);
    CHECK(complaintAbout("size,kind\n\"1,234\",a\n\"2,345\",b\n\"2,945\",b\n")
              .starts_with("t.csv:4:1: column 'size'"));
    CHECK(complaintAbout("w,size,kind\n1.5,\"1,234\",a\n2.5,\"2,345\",b\n")
              .starts_with("t.csv:3:2: column 'size'"));
}

TEST_CASE("a cell more in every row is a name of the row only where names differ") {
    CHECK(load("a,kind\nr1,1.5,x\nr2,2.5,y\n").inputs == 1);
    CHECK(complaintAbout("town,area,kind\nA,80,5,x\nB,70,5,y\nA,60,5,x\n").find("comes again") !=
          std::string::npos);
    CHECK(complaintAbout("a,b,kind\n1,2,x\n1,2,3,x\n") == "t.csv:3: this row has 4 fields, the first row 3");
}

TEST_CASE("years and wavelengths are names over numbers where the target's name stands beside them") {
    const Dataset data =
        load("400,410,430,class\n0.1,0.2,0.3,a\n0.2,0.3,0.4,b\n0.3,0.1,0.2,a\n0.5,0.1,0.3,b\n");
    CHECK(data.train.count == 4);
    CHECK(data.classNames == Names{"a", "b"});
    CHECK(data.table->columns.front().name == "400");
}

TEST_CASE("a column 'split' that is ignored splits nothing") {
    const std::string table = "a,split,kind\n1.5,train,x\n2.5,train,y\n3.5,test,x\n4.5,train,y\n";
    CHECK(load(table).test.count == 1);
    CHECK(load(table, {.ignore = {"split"}}).test.count == 0);
}

TEST_CASE("a table of numbers without a header keeps its first row") {
    CHECK(load("1,2,3.5\n2,4,6.5\n3,6,9.5\n").train.count == 3);
    CHECK(load("2019,2020,0.5\n1,2,1.5\n").train.count == 2);
    const Dataset years = load("x,2019\n1.5,2\n2.5,3.5\n");
    CHECK(years.train.count == 2);
    CHECK(titles(*years.table, ColumnRole::target) == Names{"'2019'"});
}

TEST_CASE("names and dates are refused, all of them at once") {
    std::string people = "name,born,height,kind\n";
    for (int i = 0; i < 30; ++i)
        people += "n" + std::to_string(i) + ",2001-02-" + std::to_string(i) + "," + text(1 + some(i, 0)) +
                  "," + (i % 2 ? "a" : "b") + "\n";
    CHECK(complaintAbout(people) ==
          "t.csv: 'name', 'born' have more than 20 different words (names, dates?), too many "
          "for one input per word; leave them out with --ignore name,born");
    CHECK(load(people, {.ignore = {"name", "born"}}).inputs == 1);
}

TEST_CASE("words become one input each, two words a single one") {
    const Dataset data = load("colour,size,kind\nred,big,a\ngreen,small,b\nblue,big,a\nred,small,b\n");
    CHECK(data.inputNames == Names{"colour=blue", "colour=green", "colour=red", "size=small"});
    CHECK(data.train.values == std::vector<float>{0, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 0, 1, 1});
    CHECK(data.table->columns[0].words == Names{"blue", "green", "red"});
}

TEST_CASE("inputs are standardised by the training rows") {
    Dataset data = parseCsvDataset("a,b,c\n1,10,x\n3,10,y\n5,10,x\n100,10,y\n", "t.csv", {});
    data.test = {1, {}, {100, 10}, {1}, {}};
    data.train = {3, {}, {1, 10, 3, 10, 5, 10}, {0, 1, 0}, {}};
    scaleInputs(data, InputScale::automatic, nullptr);
    const TableColumn& a = data.table->columns[0];
    CHECK(a.mean == 3);
    CHECK(a.deviation == doctest::Approx(std::sqrt(8.0 / 3)));
    CHECK(data.train.values[0] == doctest::Approx(-2 / a.deviation));
    CHECK(data.train.values[1] == 0); // all equal
    CHECK(data.test.values[0] == doctest::Approx(97 / a.deviation));
}

TEST_CASE("targets of a regression are standardised where they are large, and predictions come back in their "
          "units") {
    Dataset data = parseCsvDataset("a,price\n1,100000.5\n2,200000.5\n3,300000.5\n", "t.csv", {});
    scaleInputs(data, InputScale::automatic, nullptr);
    CHECK(data.train.targets[1] == doctest::Approx(0));
    CHECK(unscaledTarget(data, 0, data.train.targets[2]) == doctest::Approx(300000.5));
    Dataset small = parseCsvDataset("a,y\n1,0.5\n2,-0.25\n3,0.125\n", "t.csv", {});
    scaleInputs(small, InputScale::automatic, nullptr);
    CHECK(small.train.targets == std::vector<float>{0.5F, -0.25F, 0.125F});
    CHECK(unscaledTarget(small, 0, 0.5F) == 0.5F);
    Dataset raw = parseCsvDataset("a,y\n1,5.5\n2,7.25\n", "t.csv", {});
    scaleInputs(raw, InputScale::none, nullptr);
    CHECK(raw.train.targets == std::vector<float>{5.5F, 7.25F});
}

TEST_CASE("missing numbers become the mean of the training rows") {
    const Dataset data = load("a,b,c\n1,0.5,x\n?,0.25,y\n3,0.5,x\n,1,y\n",
                              {.missing = MissingCells::mean, .scale = InputScale::none});
    CHECK(data.train.values == std::vector<float>{1, 0.5F, 2, 0.25F, 3, 0.5F, 2, 1});
    CHECK(data.table->filled == 2);
    const Dataset dropped = load("a,b,c\n1,0.5,x\n?,0.25,y\n3,0.5,x\n4,1,y\n",
                                 {.missing = MissingCells::drop, .scale = InputScale::none});
    CHECK(dropped.train.count == 3);
    CHECK(dropped.table->dropped == 1);
    CHECK(dropped.train.lines == std::vector<std::uint32_t>{2, 4, 5});
    CHECK(complaintAbout("a,b,c\n?,1,x\n,2,y\n", {.missing = MissingCells::drop})
              .starts_with("t.csv: none of the 2 rows is complete"));
}

TEST_CASE("pixels in a table are those of an image file") {
    const std::string table = "label," + names("pixel", 16) + "\n" + lines(10, [](int i) {
                                  return std::to_string(i % 2) + "," + pixelRow(i, 16, ",");
                              });
    const Dataset data = load(table);
    CHECK(data.bytes());
    CHECK(data.imageWidth == 4);
    CHECK(data.train.pixels[17] == whole(1, 1, 256));
    CHECK_FALSE(load(table, {.scale = InputScale::standard}).bytes());
    CHECK(
        complaintAbout("a,b,c\n1,0.5,x\n2,1,y\n", {.scale = InputScale::pixels}).find("0.5 is not a pixel") !=
        std::string::npos);
}

TEST_CASE("a model reads other tables as its own") {
    Dataset trained = parseCsvDataset("a,b,kind\n1,10,x\n3,30,y\n5,50,x\n7,70,y\n", "t.csv", {});
    scaleInputs(trained, InputScale::automatic, nullptr);
    const TableSchema model = *trained.table;
    const auto read = [&](const std::string& file, bool newRows = true, TableOptions options = {}) {
        Dataset data = parseCsvDataset(file, "n.csv", {options, trained.classNames, &model, newRows});
        scaleInputs(data, InputScale::automatic, &model);
        return data;
    };
    const std::vector<float> first(trained.train.values.begin(), trained.train.values.begin() + 2);
    SUBCASE("columns in another order, with another separator") {
        const Dataset data = read("b;more;kind;a\n10;?;x;1\n");
        CHECK(data.train.values == first);
        CHECK(data.train.labels == std::vector<std::uint32_t>{0});
        CHECK_FALSE(data.unlabelled);
    }
    SUBCASE("without labels") {
        const Dataset data = read("a,b\n1,10\n");
        CHECK(data.train.values == first);
        CHECK(data.unlabelled == Split::train);
        CHECK(data.classes == 2);
    }
    SUBCASE("without labels and without names") {
        const Dataset data = read("1,10\n3,30\n");
        CHECK(data.train.count == 2);
        CHECK(data.unlabelled == Split::train);
    }
    SUBCASE("labels that the model never saw, and none") {
        const Dataset data = read("a,b,kind\n1,10,x\n1,10,z\n1,10,\n3,30,y\n");
        CHECK(data.train.count == 2);
        CHECK(data.train.lines == std::vector<std::uint32_t>{2, 5});
        CHECK(data.test.lines == std::vector<std::uint32_t>{3, 4});
        CHECK(data.unlabelled == Split::test);
        REQUIRE(data.notes.size() == 1);
        CHECK(data.notes.front().find("'z'") != std::string::npos);
    }
    SUBCASE("a target that was said by its place") {
        CHECK(read("a,b,kind\n1,10,x\n", true, {.target = "last"}).train.labels ==
              std::vector<std::uint32_t>{0});
        const Dataset data = read("id,a,b\n9,1,10\n", true, {.target = "b"}); // which is a feature
        CHECK(data.train.values == first);
        CHECK(data.unlabelled == Split::train);
    }
    SUBCASE("a feature whose name begins like a comment") {
        Dataset own = parseCsvDataset("Id,# of rooms,kind\n1,2.5,x\n2,3.5,y\n3,5.5,x\n", "t.csv", {});
        const TableSchema rooms = *own.table;
        const Dataset data =
            parseCsvDataset("# of rooms\n2.5\n", "n.csv", {{}, own.classNames, &rooms, true});
        CHECK(data.train.values == std::vector<float>{2.5F});
    }
    SUBCASE("without a header, a column more and a column less") {
        Dataset own =
            parseCsvDataset("7,1.5,10,0\n9,3.5,30,1\n7,5.5,50,1\n", "t.csv", {.table = {.ignore = {"1"}}});
        const TableSchema four = *own.table;
        const auto columns = [&](const std::string& file) {
            return parseCsvDataset(file, "n.csv", {{}, own.classNames, &four, true}).train.count;
        };
        CHECK(columns("7,1.5,10,0\n") == 1);
        CHECK(columns("1.5,10\n") == 1);
        CHECK(complaint([&] { columns("1.5,10,0\n"); }).find("it is not clear whether") != std::string::npos);
    }
    SUBCASE("a column is missing") {
        CHECK(complaint([&] { read("a,c,kind\n1,2,x\n2,3,y\n"); }) ==
              "n.csv: the model needs the columns 'b', which this table does not have (it has: a, c, kind)");
        CHECK(complaint([&] { read("a,b\n1,10,5\n"); }) == "n.csv:2: this row has 3 fields, the first row 2");
        CHECK(complaint([&] { read("1\n2\n"); }) ==
              "n.csv: the table has 1 column, the model was trained on 3, of which it reads 2");
        CHECK(complaint([&] { read("a,b\n1,10\n", false); }).find("does not have the target") !=
              std::string::npos);
    }
    SUBCASE("a number that no float holds once it is scaled") {
        CHECK(std::isfinite(read("a,b\n3e38,10\n").train.values.front()));
    }
    SUBCASE("many words that the model never saw are said once") {
        Dataset own = parseCsvDataset("t,kind\nu,x\nv,y\nw,x\nu,y\nv,x\nw,y\n", "t.csv", {});
        const TableSchema words = *own.table;
        const Dataset data =
            parseCsvDataset("t\na\nb\nc\nd\ne\nd\n", "n.csv", {{}, own.classNames, &words, true});
        REQUIRE(data.notes.size() == 4);
        CHECK(data.notes.back().find("more words") != std::string::npos);
    }
    SUBCASE("numbers far from those trained on") {
        const Dataset data = read("a,b\n1,10\n255,30\n");
        const std::vector<std::string> notes = strangeRanges(*data.table, model);
        REQUIRE(notes.size() == 1);
        CHECK(notes.front() == "'a' reaches 255 in line 3; the model was trained on 1 to 7");
        CHECK(strangeRanges(model, model).empty());
    }
}

TEST_CASE("changed data have another fingerprint") {
    TemporaryFolder folder;
    const std::string rows = lines(20, [](int i) {
        return text(tenths(i, 0, 9)) + "," + text(tenths(i, 1, 9)) + "," + (i % 2 ? "x" : "y");
    });
    const std::string spec = "csv:" + folder.write("t.csv", "a,b,c\n" + rows).string();
    const DataFingerprint before = fingerprintOf(loadDataset(spec));
    CHECK(fingerprintOf(loadDataset(spec)) == before);
    folder.write("t.csv", "a,b,c\r\n" + rows); // other line ends, the same rows
    CHECK(fingerprintOf(loadDataset(spec)) == before);
    folder.write("t.csv", "a,b,c\n" + rows.substr(rows.find('\n') + 1));
    CHECK(fingerprintOf(loadDataset(spec)) != before);
}
