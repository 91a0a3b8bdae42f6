#include "engine/data/table_scaling.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace lockstep {

namespace {

constexpr std::size_t fewestPixels = 16;
constexpr std::size_t fewestNamedPixels = 4;
constexpr double brightPixel = 128;
constexpr double leastFull = 0.1; ///< of numbers that need no scaling

bool isPixel(double value) { return value >= 0 && value <= 255 && value == std::floor(value); }

bool isSquare(std::size_t count) {
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(count))));
    return side * side == count;
}

// "pixel12", "px3", "pix_7", "28x28".
bool namesPixel(std::string_view name) {
    const auto digits = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
    };
    for (const std::string_view stem : {"pixel_", "pixel", "pix_", "pix", "px"})
        if (name.starts_with(stem) && digits(name.substr(stem.size()))) return true;
    const std::size_t cross = name.find('x');
    return cross != std::string_view::npos && digits(name.substr(0, cross)) && digits(name.substr(cross + 1));
}

struct Range {
    double least = std::numeric_limits<double>::infinity();
    double most = -std::numeric_limits<double>::infinity();
};

Range rangeOf(const TableSchema& table, const std::vector<std::size_t>& columns) {
    Range range;
    for (const std::size_t index : columns)
        if (const TableColumn& column = table.columns[index];
            column.kind == ColumnKind::numbers && column.mostLine > 0) {
            range.least = std::min(range.least, column.least);
            range.most = std::max(range.most, column.most);
        }
    return range;
}

template <class Fits> bool everyValue(const Dataset& data, const Fits& fits) {
    return std::ranges::all_of(data.train.values, fits) && std::ranges::all_of(data.test.values, fits);
}

bool looksLikePixels(const Dataset& data, const std::vector<std::size_t>& features) {
    const TableSchema& table = *data.table;
    const auto numbers = [&](std::size_t column) {
        return table.columns[column].kind == ColumnKind::numbers;
    };
    if (!std::ranges::all_of(features, numbers)) return false;
    const std::size_t count = features.size();
    const bool named = count >= fewestNamedPixels && std::ranges::all_of(features, [&](std::size_t column) {
                           return namesPixel(table.columns[column].name);
                       });
    const bool square = count >= fewestPixels && (isSquare(count) || (count % 3 == 0 && isSquare(count / 3)));
    const Range range = rangeOf(table, features);
    return (named || square) && range.least >= 0 && range.most >= brightPixel && range.most <= 255 &&
           everyValue(data, isPixel);
}

void inferScale(const Dataset& data, const std::vector<std::size_t>& features, TableSchema& table) {
    const Range range = rangeOf(table, features);
    const double largest = std::max(std::abs(range.least), std::abs(range.most));
    if (looksLikePixels(data, features)) {
        table.scale = InputScale::pixels;
        table.why.scale = "all are whole numbers from 0 to 255";
    } else if (!(range.least <= range.most)) {
        table.scale = InputScale::none;
        table.why.scale = "no column has numbers";
    } else if (largest <= 1 && largest >= leastFull) {
        table.scale = InputScale::none;
        table.why.scale = "no number exceeds 1";
    } else {
        table.scale = InputScale::standard;
        table.why.scale = largest > 1 ? "numbers exceed 1" : "all numbers are small";
    }
}

// Mean and deviation (over n) of every `width`th value from `first` on that is there.
void measure(TableColumn& column, const std::vector<float>& values, std::size_t first, std::size_t width) {
    double sum = 0;
    std::size_t count = 0;
    for (std::size_t i = first; i < values.size(); i += width)
        if (!std::isnan(values[i])) sum += values[i], ++count;
    if (count == 0) return;
    column.mean = sum / static_cast<double>(count);
    double squares = 0;
    for (std::size_t i = first; i < values.size(); i += width)
        if (!std::isnan(values[i])) squares += (values[i] - column.mean) * (values[i] - column.mean);
    column.deviation = std::sqrt(squares / static_cast<double>(count));
    // Rounding leaves a deviation where all numbers are equal.
    if (!(column.deviation > 1e-7 * std::abs(column.mean))) column.deviation = 0;
}

// A number far from all that were trained on stays finite.
float floatWithin(double value) {
    constexpr double most = std::numeric_limits<float>::max();
    return static_cast<float>(std::clamp(value, -most, most));
}

std::uint64_t apply(const TableColumn& column, std::vector<float>& values, std::size_t first,
                    std::size_t width, bool pixels = false) {
    std::uint64_t filled = 0;
    for (std::size_t i = first; i < values.size(); i += width) {
        if (std::isnan(values[i])) {
            values[i] =
                column.scaled ? 0.0F : static_cast<float>(pixels ? std::round(column.mean) : column.mean);
            ++filled;
        } else if (column.scaled) {
            values[i] =
                column.deviation > 0 ? floatWithin((values[i] - column.mean) / column.deviation) : 0.0F;
        }
    }
    return filled;
}

[[noreturn]] void throwNoPixel(const Dataset& data, double value) {
    throw std::runtime_error(concat(data.name, ": ", sixDigits(value),
                                    " is not a pixel, a whole number from 0 to 255; choose another --scale"));
}

void makePixels(Examples& examples) {
    examples.pixels.reserve(examples.values.size());
    for (const float value : examples.values) examples.pixels.push_back(static_cast<std::uint8_t>(value));
    examples.values = {};
}

void usePixels(Dataset& data) {
    for (const Examples* examples : {&data.train, &data.test})
        for (const float value : examples->values)
            if (!isPixel(value)) throwNoPixel(data, value);
    makePixels(data.train);
    makePixels(data.test);
    if (!isSquare(data.inputs)) return;
    data.imageWidth = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(data.inputs))));
    data.imageHeight = data.imageWidth;
}

// What the model's table had in the column that is the network's `number`th feature or target.
void copyScale(TableSchema& table, const std::vector<std::size_t>& own, const TableSchema& model,
               const std::vector<std::size_t>& models) {
    for (std::size_t i = 0; i < std::min(own.size(), models.size()); ++i) {
        table.columns[own[i]].mean = model.columns[models[i]].mean;
        table.columns[own[i]].deviation = model.columns[models[i]].deviation;
        table.columns[own[i]].scaled = model.columns[models[i]].scaled;
    }
}

} // namespace

void scaleInputs(Dataset& data, InputScale wanted, const TableSchema* model) {
    if (!data.table) return;
    TableSchema& table = *data.table;
    const std::vector<std::size_t>& features = table.features;
    const std::vector<std::size_t>& targets = table.targets;
    std::vector<std::size_t> first; // input of each feature
    std::size_t inputs = 0;
    for (const std::size_t column : features) {
        first.push_back(inputs);
        inputs += table.columns[column].inputs();
    }
    if (model != nullptr) {
        copyScale(table, features, *model, model->features);
        copyScale(table, targets, *model, model->targets);
        table.scale = model->scale;
        table.why.scale = "as the model was trained";
        // The model's pixels may come as they are, or divided by 255 already.
        if (model->scale == InputScale::pixels && rangeOf(table, features).most <= 1) {
            table.scale = InputScale::none;
            table.why.scale = "the model was trained on pixels / 255, and no number exceeds 1";
            for (const std::size_t feature : features) table.columns[feature].mean /= 255;
        }
    } else {
        table.scale = wanted;
        table.why.scale = "asked for";
        if (wanted == InputScale::automatic) inferScale(data, features, table);
        for (std::size_t i = 0; i < features.size(); ++i) {
            TableColumn& column = table.columns[features[i]];
            if (column.kind == ColumnKind::words) continue;
            measure(column, data.train.values, first[i], data.inputs);
            column.scaled = table.scale == InputScale::standard;
        }
        const Range range = rangeOf(table, targets);
        const bool wide = range.least < -1 || range.most > 1;
        for (std::size_t i = 0; i < targets.size() && data.classes == 0; ++i) {
            TableColumn& column = table.columns[targets[i]];
            measure(column, data.train.targets, i, data.targetWidth);
            column.scaled = wide && (wanted == InputScale::automatic || wanted == InputScale::standard);
        }
    }
    for (std::size_t i = 0; i < features.size(); ++i) {
        const TableColumn& column = table.columns[features[i]];
        if (column.kind == ColumnKind::words) continue;
        for (Examples* examples : {&data.train, &data.test})
            table.filled +=
                apply(column, examples->values, first[i], data.inputs, table.scale == InputScale::pixels);
    }
    for (std::size_t i = 0; i < targets.size() && data.classes == 0; ++i)
        for (Examples* examples : {&data.train, &data.test})
            apply(table.columns[targets[i]], examples->targets, i, data.targetWidth);
    const TableSchema& scales = model != nullptr && targets.empty() ? *model : table;
    data.targetColumns.clear();
    for (const std::size_t column : scales.targets) data.targetColumns.push_back(scales.columns[column]);
    if (table.scale == InputScale::pixels) usePixels(data);
}

float unscaledTarget(const Dataset& data, std::size_t output, float value) {
    if (output >= data.targetColumns.size()) return value;
    const TableColumn& column = data.targetColumns[output];
    if (!column.scaled) return value;
    return static_cast<float>(column.mean + column.deviation * value);
}

std::vector<std::string> strangeRanges(const TableSchema& table, const TableSchema& model) {
    std::vector<std::string> notes;
    std::size_t more = 0;
    for (std::size_t i = 0; i < std::min(table.features.size(), model.features.size()); ++i) {
        const TableColumn& column = table.columns[table.features[i]];
        const TableColumn& trained = model.columns[model.features[i]];
        if (column.kind == ColumnKind::words || column.mostLine == 0 || trained.mostLine == 0) continue;
        const double width = trained.most - trained.least;
        const bool high = column.most > trained.most + width;
        if (!high && column.least >= trained.least - width) continue;
        if (notes.size() == 3) {
            ++more;
            continue;
        }
        notes.push_back(concat(table.title(table.features[i]), " reaches ",
                               sixDigits(high ? column.most : column.least), " in line ",
                               high ? column.mostLine : column.leastLine, "; the model was trained on ",
                               sixDigits(trained.least), " to ", sixDigits(trained.most)));
    }
    if (more > 0) notes.push_back(concat("so do ", counted(more, "more column")));
    return notes;
}

} // namespace lockstep
