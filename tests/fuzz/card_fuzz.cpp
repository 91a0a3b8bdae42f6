// Any bytes as a machine's card, which may come from anyone: what could be read is written and read again,
// and its page and its comparison with itself, as text, HTML and CSV, tell a terminal nothing.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "demos/card/card.h"
#include "demos/words/text.h"
#include "engine/files/file_bytes.h"
#include "engine/files/json_text.h"
#include "tests/fuzz/fuzz_target.h"

using namespace lockstep;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text = asText(std::as_bytes(std::span(data, size)));
    fuzz::expectDocumented("card.json", [&] {
        const demos::Card card = demos::cardFromJson(parseJson(text, "card.json"), "card.json");
        const nlohmann::ordered_json written = demos::cardJson(card);
        fuzz::require(demos::cardJson(demos::cardFromJson(parseJson(written.dump(), "again"), "again")) ==
                          written,
                      "the same card");
        const std::vector<demos::Card> both{card, card};
        for (const std::string& shown : {demos::cardText(card), demos::comparisonText(both)})
            fuzz::require(demos::withoutControls(shown) == shown, "nothing that a terminal obeys");
        const std::string page = demos::comparisonHtml(both);
        fuzz::require(page.find("<script") == std::string::npos, "nothing that a browser runs");
        fuzz::require(std::ranges::count(page, '<') == std::ranges::count(page, '>'), "no text is a tag");
        demos::comparisonCsv(both);
    });
    return 0;
}
