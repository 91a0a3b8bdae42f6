#include "engine/files/foreign_weights.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <utility>

#include "engine/files/file_bytes.h"
#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr std::size_t mostNamed = 10;      // tensors in a message
constexpr std::size_t mostLayers = 1000;   // of a network; the search recurses once per layer
constexpr std::size_t mostTrials = 100000; // of the search for an order

struct NamedLayer {
    std::string name; ///< without the last part of its tensors' names: "net.0"; empty for a single layer
    const Tensor* weight = nullptr;
    const Tensor* bias = nullptr;
    bool kernel = false; ///< named as Keras and Flax name theirs

    // The name without its numbers, and the numbers. A last one may be missing: "dense", "dense_1".
    std::string pattern;
    std::vector<std::uint64_t> numbers;
};

std::string shapeText(const Tensor& tensor) {
    std::string text = "[";
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) text += concat(i > 0 ? ", " : "", tensor.shape[i]);
    return text + "]";
}

std::string described(const Tensor& tensor) {
    return quotedForMessage(tensor.name) + " " + shapeText(tensor);
}

std::string widthsText(std::span<const std::size_t> widths) {
    std::string text;
    for (const std::size_t width : widths) text += concat(text.empty() ? "" : "-", width);
    return text;
}

/// The names up to "fc1" and from "weight" on: at the last dot or slash, without TensorFlow's ":0".
std::pair<std::string_view, std::string_view> splitName(std::string_view name) {
    if (name.ends_with(":0")) name.remove_suffix(2);
    const std::size_t cut = name.find_last_of("./");
    if (cut == std::string_view::npos) return {{}, name};
    return {name.substr(0, cut), name.substr(cut + 1)};
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

void readNumbers(NamedLayer& layer) {
    const std::string& name = layer.name;
    for (std::size_t at = 0; at < name.size();) {
        if (!isDigit(name[at])) {
            layer.pattern += name[at++];
            continue;
        }
        std::size_t end = at;
        while (end < name.size() && isDigit(name[end])) ++end;
        std::uint64_t number = std::numeric_limits<std::uint64_t>::max(); // of too many digits
        std::from_chars(name.data() + at, name.data() + end, number);
        layer.numbers.push_back(number);
        layer.pattern += '#';
        at = end;
    }
    for (const std::string_view last : {"_#", "#"})
        if (layer.pattern.size() > last.size() && layer.pattern.ends_with(last)) {
            layer.pattern.resize(layer.pattern.size() - last.size());
            break;
        }
}

/// A search for the orders in which layers follow each other.
class OrderSearch {
  public:
    ///   byNumbers   whether names that differ in numbers alone keep their order
    OrderSearch(const std::vector<NamedLayer>& layers, const WantedLayers& wanted, bool transposed,
                bool byNumbers)
        : layers_(layers), wanted_(wanted), transposed_(transposed) {
        std::map<std::string_view, std::vector<std::size_t>> byPattern;
        for (std::size_t i = 0; i < layers.size(); ++i) byPattern[layers[i].pattern].push_back(i);
        for (auto& [pattern, row] : byPattern) {
            std::ranges::stable_sort(row, {}, [&](std::size_t i) { return layers[i].numbers; });
            // Layers with equal numbers ("fc1", "fc01") are not ordered by them.
            const auto equal = [&](std::size_t a, std::size_t b) {
                return layers[a].numbers == layers[b].numbers;
            };
            if (byNumbers && std::ranges::adjacent_find(row, equal) == row.end())
                rows_.push_back({row, 0});
            else
                for (const std::size_t i : row) rows_.push_back({{i}, 0});
        }
    }

    /// The first order that was found; empty if there is none. Ambiguous if there are two, or too many to
    /// try.
    std::vector<std::size_t> run(std::optional<std::size_t> inputs) {
        extend(inputs);
        return first_;
    }
    bool ambiguous() const { return found_ > 1 || trials_ >= mostTrials; }

    std::size_t inputsOf(std::size_t i) const { return layers_[i].weight->shape[transposed_ ? 0 : 1]; }
    std::size_t outputsOf(std::size_t i) const { return layers_[i].weight->shape[transposed_ ? 1 : 0]; }

  private:
    struct Row {
        std::vector<std::size_t> layers; ///< in the order of their numbers
        std::size_t used = 0;
    };

    // Puts one more layer behind the last, which has `width` outputs.
    void extend(std::optional<std::size_t> width) {
        if (order_.size() == layers_.size()) {
            if (found_++ == 0) first_ = order_;
            return;
        }
        for (Row& row : rows_) {
            if (found_ > 1 || ++trials_ >= mostTrials || row.used == row.layers.size()) continue;
            const std::size_t next = row.layers[row.used];
            if ((width && inputsOf(next) != *width) || !fits(next)) continue;
            ++row.used;
            order_.push_back(next);
            extend(outputsOf(next));
            order_.pop_back();
            --row.used;
        }
    }

    bool fits(std::size_t next) const {
        const std::size_t outputs = outputsOf(next);
        if (layers_[next].bias->shape[0] != outputs) return false;
        if (wanted_.outputs == 0) return true; // any network
        if (order_.size() + 1 == layers_.size()) return outputs == wanted_.outputs;
        return !wanted_.hidden || outputs == (*wanted_.hidden)[order_.size()];
    }

    const std::vector<NamedLayer>& layers_;
    const WantedLayers& wanted_;
    bool transposed_;
    std::vector<Row> rows_; ///< each has to be kept in order; any may come next
    std::vector<std::size_t> order_;
    std::vector<std::size_t> first_;
    std::size_t found_ = 0;
    std::size_t trials_ = 0;
};

class LayerFinder {
  public:
    LayerFinder(const TensorFile& file, const WantedLayers& wanted, std::string_view fileName)
        : file_(file), wanted_(wanted), fileName_(fileName) {}

    ForeignWeights find() {
        collect();
        if (wanted_.hidden && layers_.size() != wanted_.hidden->size() + 1) refuseWidths();
        const bool kernels = std::ranges::all_of(layers_, &NamedLayer::kernel);
        for (const bool transposed : {kernels, !kernels})
            for (const bool byNumbers : {true, false}) {
                OrderSearch search(layers_, wanted_, transposed, byNumbers);
                const std::vector<std::size_t> order = search.run(wanted_.inputs);
                if (search.ambiguous()) refuseAmbiguous();
                if (!order.empty()) return taken(order, transposed, byNumbers);
            }
        refuseWidths();
    }

  private:
    template <class... Reason> [[noreturn]] void refuse(const Reason&... reason) const {
        throw std::runtime_error(concat(fileName_, ": ", reason..., "; ", contentText(), "; ", wantedText()));
    }

    std::string contentText() const {
        if (file_.tensors.empty()) return "the file has no tensors";
        std::string text = "the file has ";
        for (std::size_t i = 0; i < std::min(file_.tensors.size(), mostNamed); ++i)
            text += (i == 0 ? "" : ", ") + described(file_.tensors[i]);
        if (file_.tensors.size() > mostNamed)
            text += concat(" and ", file_.tensors.size() - mostNamed, " more");
        return text;
    }

    std::string wantedText() const {
        if (!wanted_.hidden)
            return concat("wanted are dense layers from ", wanted_.inputs, " inputs to ", wanted_.outputs,
                          " outputs, each with a weight [outputs, inputs] and a bias [outputs]");
        std::vector<std::size_t> widths = wantedWidths();
        std::string text = "wanted are ";
        for (std::size_t layer = 0; layer + 1 < std::min(widths.size(), mostNamed / 2 + 1); ++layer)
            text += concat(layer == 0 ? "'" : ", '", 2 * layer, ".weight' [", widths[layer + 1], ", ",
                           widths[layer], "], '", 2 * layer, ".bias' [", widths[layer + 1], "]");
        if (widths.size() > mostNamed / 2 + 1) text += ", and so on";
        return text + ", or other names for the same layers";
    }

    std::vector<std::size_t> wantedWidths() const {
        std::vector<std::size_t> widths{wanted_.inputs};
        if (wanted_.hidden) widths.insert(widths.end(), wanted_.hidden->begin(), wanted_.hidden->end());
        widths.push_back(wanted_.outputs);
        return widths;
    }

    /// Groups the tensors by layer.
    void collect() {
        std::map<std::string_view, std::size_t> places;
        for (const Tensor& tensor : file_.tensors) {
            const auto [name, last] = splitName(tensor.name);
            const auto [place, isNew] = places.emplace(name, layers_.size());
            if (isNew) layers_.push_back({std::string(name), nullptr, nullptr, false, {}, {}});
            NamedLayer& layer = layers_[place->second];
            const std::size_t dimensions = tensor.shape.size();
            const Tensor*& role = dimensions == 2 ? layer.weight : layer.bias;
            if ((dimensions != 1 && dimensions != 2) || role != nullptr)
                refuse("tensor ", described(tensor),
                       " belongs to no dense layer, which has one weight of two "
                       "dimensions and one bias");
            role = &tensor;
            // Keras 3 saves a layer's variables as "vars/0" and "vars/1".
            if (dimensions == 2) layer.kernel = last == "kernel" || layer.name.ends_with("/vars");
        }
        if (layers_.size() > mostLayers) refuse("it has ", layers_.size(), " layers, more than ", mostLayers);
        for (NamedLayer& layer : layers_) {
            requireWhole(layer);
            readNumbers(layer);
        }
        if (layers_.empty()) refuse("there are no weights in it");
    }

    void requireWhole(const NamedLayer& layer) const {
        const Tensor* there = layer.weight != nullptr ? layer.weight : layer.bias;
        if (layer.weight == nullptr || layer.bias == nullptr) {
            const char* missing = layer.weight == nullptr ? "weight" : "bias";
            const std::string stem = layer.name.empty() ? "" : layer.name + there->name[layer.name.size()];
            refuse("tensor ", quotedForMessage(stem + missing), " is missing: ", described(*there),
                   " has no ", missing, " beside it");
        }
        for (const Tensor* tensor : {layer.weight, layer.bias})
            for (std::size_t at = 0; at < tensor->values.size(); ++at)
                if (!std::isfinite(tensor->values[at]))
                    throw std::runtime_error(concat(
                        fileName_, ": tensor ", quotedForMessage(tensor->name), ": its value ", at, " is ",
                        std::to_string(tensor->values[at]), "; a network with that cannot be trained"));
    }

    [[noreturn]] void refuseAmbiguous() const {
        refuse(
            "the order of its layers is not clear: several fit, and the names do not number them; rename the "
            "layers, such as '0', '2', '4'");
    }

    /// The layers fit another network, or none.
    [[noreturn]] void refuseWidths() const {
        const WantedLayers any;
        for (const bool transposed : {false, true}) {
            OrderSearch search(layers_, any, transposed, true);
            const std::vector<std::size_t> order = search.run(std::nullopt);
            if (order.empty()) continue;
            std::vector<std::size_t> widths{search.inputsOf(order.front())};
            for (const std::size_t layer : order) widths.push_back(search.outputsOf(layer));
            const std::size_t hidden = widths.size() - 2;
            std::string text;
            for (std::size_t i = 0; i < hidden; ++i) text += concat(i == 0 ? "" : ",", widths[i + 1]);
            const bool ends = widths.front() == wanted_.inputs && widths.back() == wanted_.outputs;
            refuse(
                "its layers are ", widthsText(widths), ", not ",
                wanted_.hidden ? widthsText(wantedWidths())
                               : concat(wanted_.inputs, "-...-", wanted_.outputs),
                ends ? concat("; use the layers of the saved network: --layers ", hidden == 0 ? "none" : text)
                     : std::string("; the data need other inputs or outputs than the file has"));
        }
        refuse("its layers do not follow each other, from inputs to outputs, in any order");
    }

    ForeignWeights taken(const std::vector<std::size_t>& order, bool transposed, bool byNumbers) const {
        ForeignWeights found;
        for (const std::size_t i : order) {
            const NamedLayer& layer = layers_[i];
            const std::size_t inputs = layer.weight->shape[transposed ? 0 : 1];
            const std::size_t outputs = layer.weight->shape[transposed ? 1 : 0];
            DenseWeights dense{inputs, outputs, layer.weight->values, layer.bias->values};
            if (transposed)
                for (std::size_t o = 0; o < outputs; ++o)
                    for (std::size_t in = 0; in < inputs; ++in)
                        dense.weight[o * inputs + in] = layer.weight->values[in * outputs + o];
            found.layers.push_back(std::move(dense));
        }
        noteNames(order, byNumbers, found.notes);
        noteOrientation(transposed, found.notes);
        std::set<std::string_view> types;
        for (const Tensor& tensor : file_.tensors)
            if (tensor.type != "F32") types.insert(tensor.type);
        for (const std::string_view type : types)
            found.notes.push_back(concat("values of type ", type, " were converted to float"));
        return found;
    }

    /// Names that are not those of this program's own files.
    void noteNames(const std::vector<std::size_t>& order, bool byNumbers,
                   std::vector<std::string>& notes) const {
        std::string names;
        bool own = true;
        std::set<std::string_view> patterns;
        for (std::size_t i = 0; i < order.size(); ++i) {
            const NamedLayer& layer = layers_[order[i]];
            own = own && layer.name == std::to_string(2 * i);
            patterns.insert(layer.pattern);
            if (i < mostNamed) names += (i == 0 ? "" : ", ") + quotedForMessage(layer.name);
        }
        if (own || order.size() == 1) return;
        if (order.size() > mostNamed) names += concat(" and ", order.size() - mostNamed, " more");
        const bool numbered = byNumbers && patterns.size() == 1;
        notes.push_back(concat("layers were put in the order of ",
                               numbered ? "the numbers in their names: " : "their shapes: ", names));
    }

    void noteOrientation(bool transposed, std::vector<std::string>& notes) const {
        const bool square = std::ranges::all_of(layers_, [](const NamedLayer& layer) {
            return layer.weight->shape[0] == layer.weight->shape[1];
        });
        if (transposed)
            notes.push_back(
                concat("weights were transposed: the file has them as [inputs, outputs], as Keras does",
                       square ? " (they are square; their names say so)" : ""));
        else if (square && splitName(layers_.front().weight->name).second != "weight")
            notes.emplace_back(
                "all weights are square, so that their shapes do not tell rows from columns: taken "
                "as [outputs, inputs], as PyTorch has them");
    }

    const TensorFile& file_;
    const WantedLayers& wanted_;
    std::string_view fileName_;
    std::vector<NamedLayer> layers_; ///< in the order of the file
};

} // namespace

ForeignWeights findDenseLayers(const TensorFile& file, const WantedLayers& wanted,
                               std::string_view fileName) {
    return LayerFinder(file, wanted, fileName).find();
}

} // namespace lockstep
