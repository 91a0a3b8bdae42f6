// Any bytes as an answer sheet; what could be read is written and read again.
#include <nlohmann/json.hpp>

#include "demos/lesson/answer_sheet.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = asText(std::as_bytes(std::span(data, size)));
    fuzz::expectDocumented(
        "a.json",
        [&] {
            const nlohmann::ordered_json json = parseJson(text, "a.json");
            if (!demos::isAnswerSheet(json)) return;
            const demos::AnswerSheet sheet = demos::sheetFromJson(json);
            const nlohmann::ordered_json written = demos::sheetJson(sheet);
            const std::string again = written.dump();
            fuzz::require(demos::sheetJson(demos::sheetFromJson(parseJson(again, "again"))) == written,
                          "the same sheet");
            for (const char letter : sheet.learner)
                fuzz::require(static_cast<unsigned char>(letter) >= 32, "nothing that a terminal obeys");
        },
        true);
    return 0;
}
