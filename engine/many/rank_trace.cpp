#include "engine/many/rank_trace.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "engine/files/atomic_file.h"
#include "engine/files/json_field.h"
#include "engine/files/json_text.h"

namespace lockstep {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::uint64_t version = 1;
constexpr std::size_t mostRanks = 16384;
constexpr std::uint64_t largest = std::uint64_t{256} << 20; // bytes of a file

Json toJson(const RankTrace& trace) {
    double first = 0;
    if (!trace.spans.empty()) first = std::ranges::min(trace.spans, {}, &RankSpan::begin).begin;
    Json spans = Json::array();
    for (const RankSpan& span : trace.spans) {
        Json each = {{"rank", span.rank},           {"step", span.step},
                     {"what", name(span.what)},     {"layer", std::min(span.layer, trace.layers)},
                     {"begin", span.begin - first}, {"end", span.end - first}};
        if (span.what == RankWork::exchange) each["bytes"] = span.bytes, each["messages"] = span.messages;
        spans.push_back(std::move(each));
    }
    return {{"lockstep_trace", version}, {"about", trace.about}, {"ranks", trace.ranks},
            {"layers", trace.layers},    {"unit", "seconds"},    {"spans", std::move(spans)}};
}

RankTrace traceFrom(const Json& json) {
    if (const auto found = jsonValue<std::uint64_t>(json, "lockstep_trace"); found != version)
        throw std::invalid_argument(concat("a trace of version ", found, "; this program reads ", version));
    RankTrace trace{jsonValueOr<std::string>(json, "about", ""),
                    jsonValue<std::size_t>(json, "ranks"),
                    jsonValue<std::size_t>(json, "layers"),
                    {}};
    if (trace.ranks == 0 || trace.ranks > mostRanks)
        throw std::invalid_argument(concat("the field 'ranks' must be 1 to ", mostRanks));
    const Json& spans = jsonField(json, "spans");
    if (!spans.is_array()) throw std::invalid_argument("the field 'spans' must be a list");
    trace.spans.reserve(spans.size());
    for (const Json& each : spans) {
        RankSpan span{.rank = jsonValue<std::size_t>(each, "rank"),
                      .step = jsonValue<std::uint64_t>(each, "step"),
                      .what = rankWorkFromName(jsonValue<std::string>(each, "what")),
                      .layer = jsonValue<std::size_t>(each, "layer"),
                      .begin = jsonValue<double>(each, "begin"),
                      .end = jsonValue<double>(each, "end"),
                      .bytes = jsonValueOr<std::uint64_t>(each, "bytes", 0),
                      .messages = jsonValueOr<std::uint64_t>(each, "messages", 0)};
        if (span.rank >= trace.ranks || span.layer > trace.layers || !std::isfinite(span.begin) ||
            !std::isfinite(span.end) || span.end < span.begin)
            throw std::invalid_argument(
                concat("span ", trace.spans.size(), " has a rank, a layer or times that cannot be"));
        trace.spans.push_back(span);
    }
    std::ranges::stable_sort(trace.spans, {}, &RankSpan::begin);
    return trace;
}

} // namespace

RankTrace gatherTrace(Exchange& exchange, const RankTrace& own) {
    // As numbers of the shared clock: a text of its own would begin at 0 on every rank.
    Json spans = Json::array();
    for (const RankSpan& span : own.spans)
        spans.push_back({span.rank, span.step, static_cast<unsigned>(span.what),
                         std::min(span.layer, own.layers), span.begin, span.end, span.bytes, span.messages});
    RankTrace all{own.about, exchange.ranks(), own.layers, {}};
    for (const std::string& text : exchange.gatherTexts(spans.dump()))
        for (const Json& each : Json::parse(text))
            all.spans.push_back({each[0], each[1], static_cast<RankWork>(each[2].get<unsigned>()), each[3],
                                 each[4], each[5], each[6], each[7]});
    std::ranges::stable_sort(all.spans, {}, &RankSpan::begin);
    return all;
}

void writeRankTrace(const std::filesystem::path& file, const RankTrace& trace) {
    createFoldersFor(file);
    writeFileAtomically(file, toJson(trace).dump() + "\n");
}

RankTrace readRankTrace(const std::filesystem::path& file) {
    const Json json = readJsonFile(file, largest);
    try {
        return traceFrom(json);
    } catch (const std::invalid_argument& error) {
        throw std::runtime_error(concat(file.string(), ": not a trace of ranks: ", error.what()));
    }
}

} // namespace lockstep
