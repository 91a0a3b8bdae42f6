// Writes small right files, from which the fuzz targets start: seeds FOLDER makes FOLDER/<reader>/*.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>

#include "engine/files/file_bytes.h"
#include "engine/files/safetensors.h"
#include "tests/data_files.h"

using namespace lockstep;
using namespace lockstep::test;

namespace {

void writeSeed(const std::filesystem::path& path, std::string_view content) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary).write(content.data(), static_cast<std::streamsize>(content.size()));
}

void writeIdxSeeds(const std::filesystem::path& folder) {
    const std::string images = idxImages(2, 2, 2);
    const std::string labels = idxLabels({1, 9});
    writeSeed(folder / "images", images);
    writeSeed(folder / "labels", labels);
    writeSeed(folder / "images.gz", gzipped(images));
    writeSeed(folder / "labels.gz", gzipped(labels));
    writeSeed(folder / "both", images + labels);
    writeSeed(folder / "rows", idxIntegerRows({1, 9}, 3));
}

void writeGzipSeeds(const std::filesystem::path& folder) {
    writeSeed(folder / "text",
              gzipped("the quick brown fox jumps over the lazy dog, again and again and again"));
    writeSeed(folder / "zeros", gzipped(std::string(20000, '\0')));
    writeSeed(folder / "members", gzipped("one") + gzipped("") + gzipped("two"));
}

void writeCsvSeeds(const std::filesystem::path& folder) {
    const std::string text = "a,\"b\",kind\r\n1.5,-2,\"x, \"\"y\"\"\"\r\n3e1, 4 ,y\r\n";
    const std::string numbers = "\xEF\xBB\xBF"
                                "0.5,1\n1.5,2\n2.5,1\n";
    for (char options : {'\x00', '\x01', '\x02', '\x20', '\x42', '\x80'}) {
        const std::string number = std::to_string(static_cast<unsigned char>(options));
        writeSeed(folder / ("text" + number), options + text);
        writeSeed(folder / ("numbers" + number), options + numbers);
    }
}

void writeSafetensorsSeeds(const std::filesystem::path& folder) {
    const TensorFile file{
        {{"0.weight", {2, 3}, {1, 2, 3, 4, 5, 6}}, {"0.bias", {2}, {7, 8}}, {"step", {}, {9}}},
        {{"format", "pt"}}};
    writeSeed(folder / "three", asText(safetensorsBytes(file)));
    writeSeed(folder / "none", asText(safetensorsBytes({})));
    const TensorFile keras{{{"d_1/bias:0", {2}, {1, 2}},
                            {"d_1/kernel:0", {3, 2}, {1, 2, 3, 4, 5, 6}},
                            {"d/bias:0", {3}, {1, 2, 3}},
                            {"d/kernel:0", {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}},
                           {}};
    writeSeed(folder / "keras", asText(safetensorsBytes(keras)));
    writeSeed(folder / "pointer", "version https://git-lfs.github.com/spec/v1\nsize 9\n");
}

void writePictureSeeds(const std::filesystem::path& folder) {
    writeSeed(folder / "small", pngFile(4, 4, 4 * 17));
    writeSeed(folder / "large", pngFile(1024, 512, 512 * 4097));
}

void writeWordsSeeds(const std::filesystem::path& folder) {
    writeSeed(folder / "words", "language: Deutsch\nwords:\n  Run: Los\n  \"{} of {}\": \"{} von {}\"\n"
                                "  \"{:.1f} s\": \"{:.2f} s\"\n");
    writeSeed(folder / "flow", "{language: X, words: {a: &a b, c: *a}}");
}

void writeAnswersSeeds(const std::filesystem::path& folder) {
    writeSeed(
        folder / "new",
        R"({"lockstep_answers":1,"learner":"A","pupil":"0a","lesson":"P","lesson_name":"p",)"
        R"("language":"de","date":"2026","machine":"C","answers":[{"number":1,"step":"S","question":"Q",)"
        R"("prediction":"a","prediction_choice":1,"prediction_verdict":"open","answer":"b","choice":2,)"
        R"("verdict":"right"}],"values":[{"name":"1:r","number":2.5,"unit":"s"},)"
        R"({"name":"1:f","text":"GPU","unit":""}]})");
    writeSeed(folder / "old",
              R"({"lockstep_answers":1,"learner":"A","lesson":"P","date":"2026","machine":"C",)"
              R"("answers":[{"step":"S","question":"Q","answer":"b","verdict":"none"}]})");
}

void writeCardSeeds(const std::filesystem::path& folder) {
    const std::string head = R"({"card":1,"program":"lockstep 0.9.0","date":"2026-03-01","owner":"Ana",)"
                             R"("cpu":{"device":"C","driver":"","software":false,"threads":2},)";
    const std::string foot =
        R"("facts":[{"name":"memory","value":"12.0 GiB"}],"parts":[{"id":"roofs",)"
        R"("title":"Roofs","unit":"Gop/s","rows":[{"name":"fp32","cpu":1.5,"gpu":null,)"
        R"("note":"no GPU","unchecked":false}],"remark":"R"}],"seconds":5,"quick":true})";
    writeSeed(folder / "both", head + R"("gpu":{"device":"G","driver":"D","software":true,"threads":0},)" +
                                   R"("no_gpu":"",)" + foot);
    writeSeed(folder / "alone", head + R"("gpu":null,"no_gpu":"none found",)" + foot);
}

} // namespace

int main(int count, char** arguments) {
    if (count != 2) {
        std::cerr << "usage: seeds FOLDER\n";
        return 2;
    }
    const std::filesystem::path folder = arguments[1];
    writeIdxSeeds(folder / "idx");
    writeGzipSeeds(folder / "gzip");
    writeCsvSeeds(folder / "csv");
    writeSafetensorsSeeds(folder / "safetensors");
    writePictureSeeds(folder / "picture");
    writeWordsSeeds(folder / "words");
    writeAnswersSeeds(folder / "answers");
    writeCardSeeds(folder / "card");
}
