#include "demos/exhibits/race/own_input.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "engine/data/csv_dataset.h"
#include "engine/data/table_scaling.h"
#include "engine/net/plain_ops.h"

namespace lockstep::demos {

namespace {

TableSeparator separatorIn(std::string_view typed, const TableSchema& table) {
    if (typed.find('\t') != std::string_view::npos) return TableSeparator::tab;
    if (typed.find(';') != std::string_view::npos) return TableSeparator::semicolon;
    if (typed.find(',') != std::string_view::npos && table.decimal == '.') return TableSeparator::comma;
    return table.features.size() == 1 ? TableSeparator::semicolon : TableSeparator::blanks;
}

char letterOf(TableSeparator separator) {
    switch (separator) {
    case TableSeparator::tab: return '\t';
    case TableSeparator::semicolon: return ';';
    case TableSeparator::comma: return ',';
    case TableSeparator::blanks: return ' ';
    default: throw std::logic_error("a separator that is never typed");
    }
}

std::string quoted(const std::string& name) {
    std::string text = "\"";
    for (const char letter : name) text += letter == '"' ? std::string("\"\"") : std::string(1, letter);
    return text + "\"";
}

/// The mean grey of the outermost pixels of an image, 0 to 1.
template <class At> double edgeOf(std::size_t width, std::size_t height, const At& at) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t y = 0; y < height; ++y)
        for (std::size_t x = 0; x < width; ++x)
            if (x == 0 || y == 0 || x + 1 == width || y + 1 == height) sum += at(x, y), ++count;
    return sum / static_cast<double>(count);
}

double edgeOfData(const Dataset& data) {
    const Examples& train = data.train;
    const std::size_t images = std::min<std::size_t>(train.count, 100);
    double sum = 0;
    for (std::size_t image = 0; image < images; ++image)
        sum += edgeOf(data.imageWidth, data.imageHeight, [&](std::size_t x, std::size_t y) {
            const std::size_t at = image * data.inputs + y * data.imageWidth + x;
            return data.bytes() ? train.pixels[at] / 255.0 : static_cast<double>(train.values[at]);
        });
    return sum / static_cast<double>(images);
}

/// Grey of one pixel on white, 0 to 1 (ITU-R BT.709).
double greyAt(const Pixels& pixels, std::size_t x, std::size_t y) {
    const std::uint8_t* rgba = pixels.rgba.data() + 4 * (y * pixels.width + x);
    const double grey = (0.2126 * rgba[0] + 0.7152 * rgba[1] + 0.0722 * rgba[2]) / 255;
    const double alpha = rgba[3] / 255.0;
    return grey * alpha + (1 - alpha);
}

} // namespace

OwnInput inputFromRow(const Dataset& data, std::string_view typed) {
    const TableSchema& table = *data.table;
    TableOptions options;
    options.separator = separatorIn(typed, table);
    options.decimal = table.decimal == ',' ? TableDecimal::comma : TableDecimal::point;
    options.header = table.header ? TableHeader::present : TableHeader::absent;
    options.missing = table.missing == MissingCells::drop ? MissingCells::error : table.missing;
    std::string text;
    if (table.header)
        for (std::size_t i = 0; i < table.features.size(); ++i)
            text += (i > 0 ? std::string(1, letterOf(options.separator)) : "") +
                    quoted(table.columns[table.features[i]].name);
    text += (table.header ? "\n" : "") + std::string(typed) + "\n";
    const std::string expected =
        translatedFormat("type {} values, separated by commas, semicolons or blanks: {}",
                         table.features.size(), rowHint(data));
    Dataset row;
    try {
        row = parseCsvDataset(text, "the row", {options, data.classNames, &table, true});
    } catch (const std::runtime_error& error) {
        throw std::runtime_error(fmt::format("{}; {}", error.what(), expected));
    }
    scaleInputs(row, InputScale::automatic, &table);
    OwnInput input{{}, row.notes, false};
    for (std::string& note : strangeRanges(*row.table, table)) input.notes.push_back(std::move(note));
    if (row.bytes())
        for (const std::uint8_t pixel : row.train.pixels)
            input.inputs.push_back(static_cast<float>(pixel) / 255.0F);
    else
        input.inputs = row.train.values;
    if (input.inputs.size() != data.inputs) throw std::runtime_error(expected);
    return input;
}

std::string rowHint(const Dataset& data) {
    const TableSchema& table = *data.table;
    std::string text;
    for (const std::size_t column : table.features) {
        const std::string& name = table.columns[column].name;
        text +=
            (text.empty() ? "" : ", ") + (name.empty() ? translatedFormat("column {}", column + 1) : name);
    }
    return text;
}

OwnInput inputFromPicture(const Dataset& data, const Pixels& pixels) {
    OwnInput input{std::vector<float>(data.inputs), {}, true};
    const double edge = edgeOf(pixels.width, pixels.height,
                               [&](std::size_t x, std::size_t y) { return greyAt(pixels, x, y); });
    const bool inverted = (edge > 0.5) != (edgeOfData(data) > 0.5);
    if (inverted) input.notes.emplace_back("inverted: the training images have the other background");
    if (pixels.width != data.imageWidth || pixels.height != data.imageHeight)
        input.notes.push_back(translatedFormat("averaged from {}×{} to {}×{} pixels", pixels.width,
                                               pixels.height, data.imageWidth, data.imageHeight));
    for (std::size_t y = 0; y < data.imageHeight; ++y)
        for (std::size_t x = 0; x < data.imageWidth; ++x) {
            const auto span = [](std::size_t at, std::size_t of, std::size_t from) {
                const std::size_t begin = at * from / of;
                return std::pair(begin, std::max((at + 1) * from / of, begin + 1));
            };
            const auto [left, right] = span(x, data.imageWidth, pixels.width);
            const auto [top, bottom] = span(y, data.imageHeight, pixels.height);
            double sum = 0;
            for (std::size_t row = top; row < bottom; ++row)
                for (std::size_t column = left; column < right; ++column) sum += greyAt(pixels, column, row);
            const double grey = sum / static_cast<double>((right - left) * (bottom - top));
            input.inputs[y * data.imageWidth + x] = static_cast<float>(inverted ? 1 - grey : grey);
        }
    return input;
}

std::vector<OwnAnswer> answersTo(const Dataset& data, Inference& network, const OwnInput& input) {
    const std::vector<float> outputs = network.outputs(input.inputs);
    std::vector<OwnAnswer> answers;
    constexpr double none = std::numeric_limits<double>::quiet_NaN();
    if (data.classes == 0) {
        for (std::size_t i = 0; i < outputs.size(); ++i)
            answers.push_back({translatedFormat("{:.6g}", unscaledTarget(data, i, outputs[i])), none});
        return answers;
    }
    const std::vector<double> shares = plain::probabilities(network.shape(), outputs.data());
    if (shares.empty()) {
        const std::size_t answer =
            plain::predictedClass(outputs.data(), outputs.size(), network.shape().outputActivation);
        return {{data.classNames[answer], none}};
    }
    for (std::size_t i = 0; i < shares.size(); ++i) answers.push_back({data.classNames[i], shares[i]});
    std::ranges::stable_sort(answers,
                             [](const OwnAnswer& a, const OwnAnswer& b) { return a.share > b.share; });
    return answers;
}

} // namespace lockstep::demos
