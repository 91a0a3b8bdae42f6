// Shaders that a person has changed: compiled with errors that name their line, and let through only where
// their results are those of the plain twin.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include <nlohmann/json.hpp>

#include "demos/exhibits/inside/inside_model.h"
#include "demos/exhibits/inside/shader_trial.h"
#include "demos/kit/source_text.h"
#include "engine/run/make_trainer.h"
#include "engine/step/shaders.h"
#include "engine/tune/kernel_cache.h"
#include "engine/tune/kernel_choice.h"
#include "tests/data_files.h"
#include "tests/shader_trials.h"
#include "tests/test_device.h"
#include "tests/trainer_jobs.h"

using namespace lockstep;
using namespace lockstep::demos;
using namespace lockstep::test;

namespace {

std::string contents(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

} // namespace

TEST_CASE("every shader of a step compiles as it is") {
    CHECK(stepShaders().size() >= 13);
    for (const std::string& shader : stepShaders()) {
        CAPTURE(shader);
        CHECK(!shaderWords(shader).empty());
        const CompiledShader compiled = compileShader(shader, {});
        CHECK(compiled.errors.empty());
        CHECK(!compiled.words.empty());
    }
}

TEST_CASE("an error has its file, its line and its reason") {
    const auto compiled =
        compileShader("dense_naive", changed("dense_naive.comp", "float sum = 0.0;", "float sum = zero;"));
    CHECK(compiled.words.empty());
    REQUIRE(!compiled.errors.empty());
    const std::vector<std::string_view> lines = linesOf(sourceText("dense_naive.comp"));
    const auto at = std::ranges::find(lines, "    float sum = 0.0;") - lines.begin();
    CHECK(compiled.errors[0].file == "dense_naive.comp");
    CHECK(compiled.errors[0].line == static_cast<std::size_t>(at) + 1);
    CHECK(contains(describe(compiled.errors[0]), "'zero'"));

    const ShaderTexts header = changed("activation.glsl", "{", "{ what;");
    const auto included = compileShader("dense_naive", header);
    REQUIRE(!included.errors.empty());
    CHECK(included.errors[0].file == "activation.glsl");
    CHECK(included.errors[0].line > 0);
}

TEST_CASE("a header that is changed is what its shaders include") {
    const ShaderTexts texts = changed("dense_constants.glsl", "groupN = 8;", "groupN = 8; // as it was");
    CHECK(compileShader("dense_naive", texts).errors.empty());
    CHECK(withIncludes(texts, "dense_naive.comp").size() >= 4);
    CHECK(isStepShaderFile("dense_constants.glsl"));
    CHECK(isStepShaderFile("update.comp"));
    CHECK_FALSE(isStepShaderFile("ui.frag"));
    CHECK_FALSE(isStepShaderFile("plain_ops.cpp"));
    CHECK_FALSE(isStepShaderFile(""));
}

TEST_CASE("foreign and broken texts are errors, and short ones") {
    const auto errorOf = [](const std::string& text) {
        const CompiledShader compiled = compileShader("update", {{"update.comp", text}});
        CHECK(compiled.words.empty());
        REQUIRE(!compiled.errors.empty());
        return compiled.errors[0];
    };
    CHECK(contains(errorOf("").message, "#version 450"));
    CHECK(contains(errorOf("hello").message, "#version 450"));
    CHECK(contains(errorOf("void main() {}\n").message, "#version 450"));
    CHECK(contains(errorOf("#version 100\nvoid main() {}\n").message, "#version 450"));
    CHECK(errorOf("#version 450\nvoid other() {}\n").line == 0); // no main
    CHECK(errorOf("#version 450\nvoid main() {\n").line == 3);
    CHECK(errorOf("#version 450\n#error no\n").line == 2);
    const std::string include = "#version 450\n#extension GL_GOOGLE_include_directive : require\n#include ";
    const CompileError missing = errorOf(include + "\"nothing.glsl\"\nvoid main() {}\n");
    CHECK(missing.line == 3);
    CHECK(contains(missing.message, "nothing.glsl"));
    CHECK(contains(errorOf(include + "\"/etc/passwd\"\nvoid main() {}\n").message, "no file"));
    CHECK(errorOf(include + "\"update.comp\"\nvoid main() {}\n").line > 0); // itself, without an end
    const std::string noise("#version 450\n\0\xFF\x01 void", 24);
    CHECK(!errorOf(noise).message.empty());
}

TEST_CASE("a shader that means the same passes, and trains to the same bits") {
    const Dataset data = classData();
    const TrainJob job = smallJob(data);
    const TrialOutcome outcome =
        tried(job, changed("dense_naive.comp", "float sum = 0.0;", "float sum = 0.0; // from nothing"));
    INFO(outcome.report.message);
    REQUIRE(outcome.report.verdict == Verdict::passed);
    CHECK(outcome.times.size() == job.shape.layers());
    for (const OperationTimes& times : outcome.times) {
        CHECK(times.source == "dense_naive");
        CHECK(times.builtInMs > 0);
        CHECK(times.changedMs > 0);
        CHECK(times.flops > 0);
    }
    const auto builtIn = makeGpuTrainer(job, "naive", testDevice());
    outcome.trainer->restore(builtIn->state());
    const StepTrace trace = outcome.trainer->traceStep({.tensors = false});
    for (const TracedOperation& operation : trace.operations)
        CHECK(operation.replaced == (operation.source == "dense_naive"));
    CHECK(contains(outcome.trainer->machine().kernels, "replaced: dense_naive"));
    outcome.trainer->run(4);
    builtIn->run(5);
    CHECK(sameBits(outcome.trainer->state(), builtIn->state()));
}

TEST_CASE("every shader of a step passes as it is, on every rung") {
    // Each rung with one of the two, all losses and kinds of data being the same to it.
    bool values = false;
    for (const RungRow& row : rungTable) {
        if (!row.gpu() || !row.trains || row.rung == Rung::matrix) continue;
        values = !values;
        CAPTURE(row.lane);
        const Dataset data = values ? valueData() : classData();
        TrainJob job = smallJob(data);
        job.shape.activation = values ? Activation::gelu : Activation::relu;
        if (values) job.shape.loss = Loss::meanSquared;
        if (values) job.settings.optimizer.kind = Optimizer::momentum;
        const ShaderTexts texts = changed("params.h", "#", "// changed\n#"); // in every one of them
        const TrialOutcome outcome = tried(job, texts, row.rung);
        INFO(outcome.report.message);
        CHECK(outcome.report.verdict == Verdict::passed);
        const bool together = row.foldsUpdate || row.rung == Rung::best;
        CHECK(outcome.times.size() >= (together ? 1 : 3 * job.shape.layers()));
    }
}

// Columns of the table of activations may be combined in every way. Here rows that the table calls lengthy
// are brief: one that takes its derivative from the sum, and one that is not 0 at 0, where rows are padded.
TEST_CASE("an activation's code may be brief, whatever its derivative is computed from") {
    const Dataset data = classData();
    const auto check = [&](Activation activation, const std::string& row) {
        CAPTURE(row);
        TrainJob job = jobFor(data, {13});
        job.shape.activation = activation;
        std::string brief = row;
        brief.replace(row.find("lengthy"), std::string_view("lengthy").size(), "brief");
        // One of the rungs that read vec4s: all of them include the same file.
        const TrialOutcome outcome = tried(job, changed("activations.h", row, brief), Rung::blocked);
        INFO(outcome.report.message);
        CHECK(outcome.report.verdict == Verdict::passed);
    };
    check(Activation::silu, "lengthy, z / (1 + exponential(-z)), fromSum");
    check(Activation::sigmoid, "lengthy, sigmoid(z), fromOutput");
}

TEST_CASE("a wrong result is refused, and its tensor named") {
    const Dataset data = classData();
    const TrainJob job = smallJob(data);
    const std::string naive = "dense_naive.comp";
    const auto dropped = refusal(job, changed(naive, "sum += bias[o];", ""));
    CHECK(contains(dropped, "forward, layer 1 of 3: A[1] is "));
    CHECK(contains(dropped, "expected"));
    CHECK(contains(refusal(job, changed(naive, "activate(activation, sum)", "sum")), "A[1]"));
    CHECK(contains(refusal(job, changed(naive, "i < params.inputs;", "i + 1 < params.inputs;")), "A[1]"));
    CHECK(contains(refusal(job, changed(naive, "invocationM() <", "invocationM() + 1 <")), "A[1]"));
    CHECK(contains(refusal(job, changed("dense_backward_inputs_naive.comp", "0.0", "0.01")), "dZ["));
    CHECK(contains(refusal(job, changed("dense_backward_weights_naive.comp", "0.0", "0.01")), "d"));
    const ShaderTexts halved = changed("optimizers.h", "rate * m /", "0.5 * rate * m /");
    CHECK(contains(refusal(job, halved), "update: "));
    CHECK(contains(refusal(job, halved, Rung::fused), "backward: weights, layer 3 of 3: W[2] is "));
    CHECK(contains(refusal(job, halved, Rung::wholeStep), "whole step: W[0] is "));
}

TEST_CASE("only the last, smaller batch goes wrong: found all the same") {
    const Dataset data = classData();
    // 32 rows are a whole batch of this job.
    const auto text =
        changed("dense_naive.comp", "sum += bias[o];", "if (params.rows == 32) sum += bias[o];");
    CHECK(contains(refusal(smallJob(data), text), "A[1]"));
}

TEST_CASE("other parameters and other buffers are refused with a reason") {
    const Dataset data = classData();
    const TrainJob job = smallJob(data);
    const std::string naive = "dense_naive.comp";
    CHECK(contains(
        refusal(job, changed(naive, "{ DenseParams params; }", "{ DenseParams params; uint more; }")),
        "push constants"));
    CHECK(contains(refusal(job, changed(naive, "binding = 4", "binding = 7")), "binding"));
    const auto extra = changed(
        naive, "void main() {",
        "layout(set = 0, binding = 5) buffer More { float more[]; };\nvoid main() {\n more[0] = 1.0;");
    CHECK(contains(refusal(job, extra), "bindings"));
    const auto shared =
        changed(naive, "void main() {",
                "shared float all[1000000];\nvoid main() {\n all[0] = 1.0; if (all[1] > 3.0) return;");
    CHECK(contains(refusal(job, shared), "shared memory"));
}

TEST_CASE("writing far beyond a buffer breaks nothing but the result") {
    const Dataset data = classData();
    const auto text = changed("dense_naive.comp", "outputs[at] = ", "outputs[at * 1000003u] = ");
    CHECK(!refusal(smallJob(data), text).empty());
}

TEST_CASE("shaders that the rung does not run are said to be unused") {
    const Dataset data = classData();
    const TrialOutcome outcome =
        tried(smallJob(data), changed("dense_naive.comp", "sum += bias[o];", ""), Rung::tiled);
    CHECK(outcome.report.verdict == Verdict::notUsed);
    CHECK(contains(outcome.report.message, "dense_naive"));
    CHECK(outcome.trainer == nullptr);
}

TEST_CASE("an abandoned trial ends") {
    const Dataset data = classData();
    TrialWatch watch;
    watch.cancelled = true;
    const TrialOutcome outcome = tryShaders(
        {smallJob(data), Rung::naive, testDeviceOptions(), changed("dense_naive.comp", "0.0;", "0.00;")},
        watch);
    CHECK(outcome.report.verdict != Verdict::passed);
    CHECK(outcome.trainer == nullptr);
}

TEST_CASE("a trainer with replaced shaders: same words, same bits; choice and cache as ever") {
    const Dataset data = classData();
    const TrainJob job = largeJob(data);
    const std::filesystem::path folder = cacheFolder();
    REQUIRE(!folder.empty());
    const auto files = [&] {
        std::map<std::string, std::string> all;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
            if (entry.is_regular_file()) all[entry.path().string()] = contents(entry.path());
        return all;
    };
    ReplacedShaders replaced;
    for (const std::string& shader : stepShaders()) {
        const auto words = shaderWords(shader);
        replaced[shader] = {words.begin(), words.end()};
    }
    constexpr double patience = 300; // seconds: whatever has to be measured is, however slow the machine
    Kernels kernels(testDevice());
    const std::size_t batch = std::min(job.settings.batch, data.train.count);
    chooseKernels(testDevice(), kernels, Rung::best, job.shape, job.settings.optimizer.kind, batch, patience);
    const auto builtIn = makeGpuTrainer(job, "best", testDevice());
    const auto before = files();
    const auto same = makeGpuTrainer(job, "best", testDevice(), replaced);
    CHECK(files() == before);
    builtIn->run(5);
    same->run(5);
    CHECK(sameBits(builtIn->state(), same->state()));
    // Which operations are fused is chosen by time, and only for built-in kernels.
    const std::string products = builtIn->machine().kernels;
    CHECK(contains(same->machine().kernels, products.substr(0, products.find(')'))));
    CHECK_THROWS_AS(makeGpuTrainer(job, "best", testDevice(), {{"no_shader", {}}}), std::invalid_argument);
}

TEST_CASE("replaced shaders neither use nor make the cache's choice of whole steps") {
    const CacheFolder cache;
    gpu::Device device(testDeviceOptions());
    const Dataset data = classData(5, 3, 100);
    const TrainJob job = jobFor(data, {9, 5});
    const auto remembered = [&] { return contains(contents(cache.path() / "kernels.json"), "whole_step"); };
    ReplacedShaders replaced;
    const auto words = shaderWords("dense_naive");
    replaced["dense_naive"] = {words.begin(), words.end()};
    makeGpuTrainer(job, "best", device, replaced);
    CHECK_FALSE(remembered());
    makeGpuTrainer(job, "best", device);
    CHECK(remembered());
}

TEST_CASE("the check finds a wrong loss, and asks for whole tensors") {
    const Dataset data = classData();
    const TrainJob job = smallJob(data);
    StepTrace trace = makeGpuTrainer(job, "naive", testDevice())->traceStep({});
    CHECK_FALSE(firstDifference(job, trace));
    trace.loss *= 1.01f;
    REQUIRE(firstDifference(job, trace));
    CHECK(contains(firstDifference(job, trace)->text, "the loss"));
    trace.tensors.begin()->second.values.clear();
    CHECK_THROWS_AS(firstDifference(job, trace), std::invalid_argument);
}

TEST_CASE("changed texts as JSON come back to the letter; broken ones name their field") {
    using Json = nlohmann::ordered_json;
    for (const std::string text : {"", "a", "a\n", "\n\na\n", "#version 450\n\tfloat ü;\n\n"}) {
        const ShaderTexts texts{{"update.comp", text}};
        CHECK(editedShadersFromJson({{"shaders", toJson(texts)}}) == texts);
    }
    CHECK(editedShadersFromJson(Json::object()).empty());
    const auto refused = [](const char* shaders) {
        try {
            editedShadersFromJson({{"shaders", Json::parse(shaders)}});
        } catch (const std::invalid_argument& error) {
            return contains(error.what(), "'shaders' of 'inside'");
        }
        return false;
    };
    CHECK(refused("3"));
    CHECK(refused("[]"));
    CHECK(refused(R"({"nothing.comp": [""]})"));
    CHECK(refused(R"({"ui.frag": [""]})"));
    CHECK(refused(R"({"update.comp": "text"})"));
    CHECK(refused(R"({"update.comp": []})"));
    CHECK(refused(R"({"update.comp": [1]})"));
    CHECK(refused(R"({"update.comp": ["a\nb"]})"));
    CHECK(refused(R"({"update.comp": ["a\u0000b"]})"));
    CHECK(refused((R"({"update.comp": [")" + std::string(300000, 'a') + "\"]}").c_str()));
}
