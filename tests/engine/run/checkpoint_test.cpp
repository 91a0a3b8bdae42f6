// Checkpoints and files of weights: what is saved comes back to the bit, and what was damaged is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "engine/data/csv_dataset.h"
#include "engine/data/table_scaling.h"
#include "engine/files/atomic_file.h"
#include "engine/files/file_bytes.h"
#include "engine/files/safetensors.h"
#include "engine/net/param_layout.h"
#include "engine/run/checkpoint.h"
#include "engine/run/settings_json.h"

using namespace lockstep;
namespace fs = std::filesystem;

namespace {

// A folder that is gone at the end of the test.
struct Folder {
    fs::path path = fs::temp_directory_path() / ("lockstep-checkpoint-test-" + std::to_string(std::rand()));
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

Checkpoint sample(Optimizer optimizer) {
    Checkpoint checkpoint;
    checkpoint.dataSpec = "csv:sets/\"odd\" n\xC3\xA4me.csv";
    checkpoint.dataOptions.noise = 0.1;
    checkpoint.dataOptions.classNames = {"setosa", "virginica"};
    checkpoint.lane = "cpu:best";
    checkpoint.shape = {
        {5, 7, 2}, Activation::gelu, Activation::identity, Loss::crossEntropy, InitScheme::xavier};
    checkpoint.settings.optimizer.kind = optimizer;
    checkpoint.settings.optimizer.learningRate = 0.1 + 0.2; // no short decimal number
    checkpoint.settings.optimizer.schedule = Schedule::cosine;
    checkpoint.settings.seed = ~std::uint64_t{0} - 4;
    checkpoint.settings.shuffle = false;
    checkpoint.state.step = (std::uint64_t{1} << 53) + 1; // not a double
    checkpoint.state.parameters = initialWeights(checkpoint.shape, 1);
    for (std::size_t i = 0; i < checkpoint.settings.optimizer.stateArrays(); ++i)
        checkpoint.state.optimizerState.push_back(initialWeights(checkpoint.shape, 2 + i));
    return checkpoint;
}

TensorFile tensorsOf(const fs::path& path) { return parseSafetensors(readFileBytes(path), path.string()); }

// The file with another run, and the checksum that belongs to it.
TensorFile withRun(TensorFile file, const std::string& text) {
    std::uint32_t sum = crc32(std::as_bytes(std::span(text)));
    for (const Tensor& tensor : file.tensors) sum = crc32(std::as_bytes(std::span(tensor.values)), sum);
    file.metadata = {{"lockstep", text}, {"lockstep.crc32", fmt::format("{:08x}", sum)}};
    return file;
}

void write(const fs::path& path, const TensorFile& file) {
    writeFileAtomically(path, safetensorsBytes(file));
}

} // namespace

TEST_CASE("a checkpoint of every optimizer comes back to the bit") {
    const Folder folder;
    const fs::path path = folder.path / "run.safetensors";
    for (const Optimizer optimizer : allOptimizers) {
        CAPTURE(name(optimizer));
        const Checkpoint saved = sample(optimizer);
        saveCheckpoint(path, saved);
        const Checkpoint loaded = loadCheckpoint(path);
        CHECK(loaded.dataSpec == saved.dataSpec);
        CHECK(toJson(loaded.dataOptions) == toJson(saved.dataOptions));
        CHECK(loaded.lane == saved.lane);
        CHECK(loaded.shape == saved.shape);
        CHECK(toJson(loaded.settings) == toJson(saved.settings));
        CHECK(loaded.settings.seed == saved.settings.seed);
        CHECK(loaded.settings.optimizer.learningRate == 0.1 + 0.2);
        CHECK(loaded.state.step == saved.state.step);
        CHECK(loaded.state.parameters == saved.state.parameters);
        CHECK(loaded.state.optimizerState == saved.state.optimizerState);
        CHECK(loaded.state.wholeSteps == std::nullopt); // as in files from before it was recorded
    }
}

TEST_CASE("a checkpoint keeps the choice between whole steps and single operations") {
    const Folder folder;
    Checkpoint checkpoint = sample(Optimizer::sgd);
    for (const bool whole : {false, true}) {
        checkpoint.state.wholeSteps = whole;
        saveCheckpoint(folder.path / "run", checkpoint);
        CHECK(loadCheckpoint(folder.path / "run").state.wholeSteps == whole);
    }
}

TEST_CASE("parameters have PyTorch's names and shapes, without padding") {
    const Folder folder;
    saveCheckpoint(folder.path / "run", sample(Optimizer::momentum));
    const TensorFile file = tensorsOf(folder.path / "run");
    REQUIRE(file.find("0.weight") != nullptr);
    CHECK(file.find("0.weight")->shape == std::vector<std::size_t>{7, 5});
    CHECK(file.find("0.bias")->shape == std::vector<std::size_t>{7});
    CHECK(file.find("2.weight")->shape == std::vector<std::size_t>{2, 7});
    CHECK(file.find("optimizer.momentum_buffer.2.bias")->shape == std::vector<std::size_t>{2});
    CHECK(file.tensors.size() == 8);
    const ParamLayout layout(sample(Optimizer::momentum).shape);
    const std::vector<float> arena = sample(Optimizer::momentum).state.parameters;
    CHECK(file.find("0.weight")->values[5] ==
          arena[layout.layer(0).weightOffset + layout.layer(0).rowStride]);
}

TEST_CASE("a checkpoint cut off or changed at any byte is refused") {
    const Folder folder;
    saveCheckpoint(folder.path / "run", sample(Optimizer::momentum));
    std::vector<std::byte> bytes = readFileBytes(folder.path / "run");
    for (std::size_t length = 0; length < bytes.size(); ++length)
        CHECK_THROWS_WITH_AS(parseCheckpoint(std::span(bytes).first(length), "run"),
                             doctest::Contains("run: "), std::runtime_error);

    std::uint64_t header = 0;
    std::memcpy(&header, bytes.data(), sizeof(header));
    const std::string_view text = asText(bytes).substr(8, static_cast<std::size_t>(header));
    const std::size_t padding = 8 + text.find_last_not_of(' ') + 1;
    for (std::size_t at = 0; at < bytes.size(); ++at) {
        if (at >= padding && at < 8 + header) continue; // blanks after the header mean nothing
        CAPTURE(at);
        bytes[at] ^= std::byte{1};
        CHECK_THROWS_WITH_AS(parseCheckpoint(bytes, "run"), doctest::Contains("run: "), std::runtime_error);
        bytes[at] ^= std::byte{1};
    }
    CHECK_NOTHROW(parseCheckpoint(bytes, "run"));
}

TEST_CASE("a network with NaN is not saved, and the file stays as it was") {
    const Folder folder;
    const fs::path path = folder.path / "run";
    Checkpoint checkpoint = sample(Optimizer::adam);
    saveCheckpoint(path, checkpoint);
    checkpoint.state.parameters[ParamLayout(checkpoint.shape).layer(1).biasOffset] = std::nanf("");
    CHECK_THROWS_WITH_AS(saveCheckpoint(path, checkpoint), doctest::Contains("'2.bias'"), std::runtime_error);
    CHECK(loadCheckpoint(path).state.parameters == sample(Optimizer::adam).state.parameters);
    checkpoint = sample(Optimizer::adam);
    checkpoint.state.optimizerState.pop_back();
    CHECK_THROWS_AS(saveCheckpoint(path, checkpoint), std::invalid_argument);
}

TEST_CASE("an infinite second moment is saved, NaN is not") {
    const Folder folder;
    const fs::path path = folder.path / "run";
    Checkpoint checkpoint = sample(Optimizer::adam);
    float& moment = checkpoint.state.optimizerState[1][ParamLayout(checkpoint.shape).layer(1).biasOffset];
    moment = std::numeric_limits<float>::infinity();
    saveCheckpoint(path, checkpoint);
    CHECK(loadCheckpoint(path).state.optimizerState == checkpoint.state.optimizerState);
    moment = std::nanf("");
    CHECK_THROWS_WITH_AS(saveCheckpoint(path, checkpoint), doctest::Contains("'optimizer.exp_avg_sq.2.bias'"),
                         std::runtime_error);
}

TEST_CASE("how the model reads tables, and what its data were, come back") {
    const Folder folder;
    const fs::path path = folder.path / "run";
    Checkpoint checkpoint = sample(Optimizer::adam);
    Dataset table =
        parseCsvDataset("id;size;colour;price\n1;1,5;red;100,25\n2;2,5;blue;200,5\n3;?;green;150,5\n",
                        "t.csv", {.table = {.missing = MissingCells::mean}});
    scaleInputs(table, InputScale::automatic, nullptr);
    checkpoint.dataOptions.model = table.table;
    checkpoint.fingerprint = fingerprintOf(table);
    saveCheckpoint(path, checkpoint);
    const Checkpoint again = loadCheckpoint(path);
    CHECK(again.fingerprint == checkpoint.fingerprint);
    REQUIRE(again.dataOptions.model);
    CHECK(*again.dataOptions.model == *table.table);
}

TEST_CASE("options of versions that did not scale tables mean what they meant there") {
    nlohmann::ordered_json older = toJson(DataOptions());
    for (const char* name : {"separator", "decimal", "missing", "ignore", "scale"}) older.erase(name);
    const DataOptions read = dataOptionsFromJson(older);
    CHECK(read.table.scale == InputScale::none);
    CHECK(read.table.target == "last");
    CHECK(read.table.ignore == std::vector<std::string>{"none"});
    CHECK(dataOptionsFromJson(toJson(DataOptions())) == DataOptions());
    older["label"] = "kind";
    CHECK(dataOptionsFromJson(older).table.target == "kind");
}

TEST_CASE("a run whose JSON is wrong is refused with the field's name, even with a right checksum") {
    const Folder folder;
    const fs::path path = folder.path / "run";
    saveCheckpoint(path, sample(Optimizer::adam));
    const TensorFile good = tensorsOf(path);
    struct Case {
        const char* pointer;
        nlohmann::ordered_json value;
        const char* message;
    };
    const Case cases[] = {
        {"/format", 2, "format is 2"},
        {"/net/widths", {5, -7, 2}, "'widths'"},
        {"/net/widths", {5}, "output width"},
        {"/net/activation", "rleu", "did you mean 'relu'"},
        {"/settings/lr", "fast", "'lr'"},
        {"/settings/batch", 0, "'batch'"},
        {"/settings/beta1", 1.5, "beta1"},
        {"/settings/seed", -1, "'seed'"},
        {"/step", 1.5, "'step'"},
        {"/whole_steps", "yes", "'whole_steps'"},
        {"/net", nullptr, "'widths'"},
        {"/data/options/header", "no", "header"},
        {"/settings/shuffle", 1, "'shuffle'"},
        {"/net/widths", {5, 8, 2}, "'0.weight': its shape is [7, 5], this network's is [8, 5]"},
        {"/net/widths", {5, 7, 2, 2}, "'4.weight': it is missing"},
        {"/settings/optimizer", "sgd", "optimizer.exp_avg"},
        {"/settings/optimizer", "rmsprop", "optimizer.square_avg"},
    };
    for (const Case& wrong : cases) {
        CAPTURE(wrong.pointer);
        nlohmann::ordered_json run = nlohmann::ordered_json::parse(good.metadata.at("lockstep"));
        run[nlohmann::ordered_json::json_pointer(wrong.pointer)] = wrong.value;
        const std::vector<std::byte> bytes = safetensorsBytes(withRun(good, run.dump()));
        CHECK_THROWS_WITH_AS(parseCheckpoint(bytes, "run"), doctest::Contains(wrong.message),
                             std::runtime_error);
    }
    for (const char* text : {"", "[", "null", "[[[[", "{\"format\":1}"})
        CHECK_THROWS_WITH_AS(parseCheckpoint(safetensorsBytes(withRun(good, text)), "run"),
                             doctest::Contains("run: __metadata__, 'lockstep': "), std::runtime_error);
    CHECK_THROWS_WITH_AS(parseCheckpoint(safetensorsBytes(withRun(good, std::string(100'000, '['))), "run"),
                         doctest::Contains("nested brackets"), std::runtime_error);
}

TEST_CASE("weights of a checkpoint and of another program's file") {
    const Folder folder;
    const fs::path path = folder.path / "weights";
    const Checkpoint checkpoint = sample(Optimizer::adam);
    saveCheckpoint(path, checkpoint);
    CHECK(hasRun(path));
    CHECK(loadWeights(path, checkpoint.shape).parameters == checkpoint.state.parameters);
    CHECK(loadWeights(path, checkpoint.shape).notes.empty());

    TensorFile foreign = tensorsOf(path);
    foreign.metadata = {{"format", "pt"}};
    std::erase_if(foreign.tensors,
                  [](const Tensor& tensor) { return tensor.name.starts_with("optimizer."); });
    write(path, foreign);
    CHECK(!hasRun(path));
    CHECK(loadWeights(path, checkpoint.shape).parameters == checkpoint.state.parameters);
    CHECK(loadWeights(path, checkpoint.shape).notes.empty());
    CHECK(hiddenWidthsIn(path, 5, 2) == std::vector<std::size_t>{7});
    CHECK_THROWS_WITH_AS(loadCheckpoint(path), doctest::Contains("--init"), std::runtime_error);

    // The same under other names, transposed: the same arena, padding and all.
    const auto transposed = [](const Tensor& tensor, const std::string& name) {
        const std::size_t rows = tensor.shape[0];
        const std::size_t columns = tensor.shape[1];
        Tensor result{name, {columns, rows}, std::vector<float>(tensor.values.size())};
        for (std::size_t row = 0; row < rows; ++row)
            for (std::size_t column = 0; column < columns; ++column)
                result.values[column * rows + row] = tensor.values[row * columns + column];
        return result;
    };
    TensorFile keras;
    keras.tensors = {{"dense/bias", {7}, foreign.find("0.bias")->values},
                     transposed(*foreign.find("0.weight"), "dense/kernel"),
                     {"dense_1/bias", {2}, foreign.find("2.bias")->values},
                     transposed(*foreign.find("2.weight"), "dense_1/kernel")};
    write(path, keras);
    const LoadedWeights loaded = loadWeights(path, checkpoint.shape);
    CHECK(loaded.parameters == checkpoint.state.parameters);
    CHECK(loaded.notes.size() == 2);
}

TEST_CASE("weights that do not fit the network are refused with the file's layers") {
    const Folder folder;
    const fs::path path = folder.path / "weights";
    const Checkpoint checkpoint = sample(Optimizer::sgd);
    saveCheckpoint(path, checkpoint);
    TensorFile good = tensorsOf(path);
    good.metadata.clear();
    const auto refused = [&](const TensorFile& file, const NetShape& shape, const char* message) {
        write(path, file);
        CHECK_THROWS_WITH_AS(loadWeights(path, shape), doctest::Contains(message), std::runtime_error);
    };
    NetShape shape = checkpoint.shape;
    shape.widths = {5, 7, 7, 2};
    refused(good, shape,
            "its layers are 5-7-2, not 5-7-7-2; use the layers of the saved network: --layers 7; "
            "the file has '0.weight' [7, 5], '0.bias' [7], '2.weight' [2, 7], '2.bias' [2]; wanted "
            "are '0.weight' [7, 5], '0.bias' [7], '2.weight' [7, 7], '2.bias' [7], '4.weight' [2, 7]");
    shape.widths = {5, 7};
    refused(good, shape, "its layers are 5-7-2, not 5-7; the data need other inputs or outputs");
    TensorFile file = good;
    file.tensors[0].values[3] = std::numeric_limits<float>::infinity();
    refused(file, checkpoint.shape, "'0.weight': its value 3 is inf");
    file = good;
    std::erase_if(file.tensors, [](const Tensor& tensor) { return tensor.name == "2.bias"; });
    refused(file, checkpoint.shape,
            "tensor '2.bias' is missing: '2.weight' [2, 7] has no bias beside it; the file "
            "has '0.weight' [7, 5], '0.bias' [7], '2.weight' [2, 7]; wanted are ");
    file = good;
    file.tensors[0].shape = {5, 7};
    refused(file, checkpoint.shape,
            "its layers do not follow each other, from inputs to outputs, in any order; "
            "the file has '0.weight' [5, 7]");
}
