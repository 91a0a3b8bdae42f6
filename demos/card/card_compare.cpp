// Several machines' cards side by side: as text, as a page, for a spreadsheet.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "demos/card/card_rows.h"
#include "demos/words/html.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::size_t terminal = 80; // characters
constexpr std::size_t longestLabel = 20;

/// One thing measured on one of the machines: a column where machines are rows.
struct CardColumn {
    std::size_t line; ///< of the part
    bool gpu;
};

/// Columns of a part in which any card has a number.
std::vector<CardColumn> columnsOf(const std::vector<Card>& cards, const CardPart& part) {
    std::vector<CardColumn> columns;
    for (std::size_t line = 0; line < part.rows.size(); ++line)
        for (const bool gpu : {false, true})
            if (std::ranges::any_of(cards, [&](const Card& card) {
                    const CardRow* row = rowIn(card, part.id, part.rows[line].name);
                    return row != nullptr && (gpu ? row->gpu : row->cpu) > 0;
                }))
                columns.push_back({line, gpu});
    return columns;
}

/// What the machines are, three lines each.
std::string machineLines(const std::vector<Card>& cards, const std::vector<std::string>& labels) {
    constexpr std::size_t room = terminal - longestLabel - 7;
    std::vector<std::vector<std::string>> rows;
    for (std::size_t i = 0; i < cards.size(); ++i) {
        const Card& card = cards[i];
        rows.push_back({labels[i], "GPU",
                        card.gpu.device.empty() ? cut(card.gpuName(), room) : honestDevice(card.gpu, room)});
        rows.push_back({"", "CPU", honestDevice(card.cpu, room)});
        rows.push_back(
            {"", "",
             cut(fmt::format("{}, {}{}", card.date, card.program, card.quick ? ": quick run, too low" : ""),
                 room)});
    }
    return table(rows, 3);
}

/// A line for each thing measured, the processor's number and the GPU's below each machine's name.
std::string linesText(const std::vector<Card>& cards, const std::vector<std::string>& labels,
                      const CardPart& part) {
    const auto pair = [](std::string_view cpu, std::string_view gpu) {
        return fmt::format("{:>6} {:>6}", cpu, gpu);
    };
    std::vector<std::vector<std::string>> rows{{""}, {headText(part)}};
    for (const std::string& label : labels) {
        rows[0].push_back(label);
        rows[1].push_back(pair("CPU", "GPU"));
    }
    for (const std::vector<std::string>& cells : comparisonRows(cards, part)) {
        std::vector<std::string>& row = rows.emplace_back();
        row.push_back("  " + cells[0]);
        for (std::size_t i = 1; i + 1 < cells.size(); i += 2) row.push_back(pair(cells[i], cells[i + 1]));
    }
    return table(rows, 1);
}

/// A line for each machine, below columns whose names stand above them.
std::string machinesText(const std::vector<Card>& cards, const std::vector<std::string>& labels,
                         const CardPart& part) {
    constexpr std::size_t columnWidth = 9; // "0.0123*", and what separates columns
    const std::vector<std::vector<std::string>> cells = comparisonRows(cards, part);
    const std::vector<CardColumn> columns = columnsOf(cards, part);
    std::string text = headText(part) + "\n";
    if (columns.empty()) return text + "  not measured\n";
    for (std::size_t line = 0; line < part.rows.size(); ++line)
        if (std::ranges::find(columns, line, &CardColumn::line) != columns.end())
            text += fmt::format("  {:>2}  {}\n", line + 1, cut(part.rows[line].name, terminal - 6));
    constexpr std::size_t most = (terminal - longestLabel) / columnWidth;
    const std::size_t tables = (columns.size() + most - 1) / most;
    const std::size_t each = (columns.size() + tables - 1) / tables;
    for (std::size_t from = 0; from < columns.size(); from += each) {
        std::vector<std::vector<std::string>> rows{{"machine"}};
        for (const std::string& label : labels) rows.push_back({label});
        for (std::size_t at = from; at < std::min(from + each, columns.size()); ++at) {
            const CardColumn& column = columns[at];
            rows[0].push_back(fmt::format("{} {}", column.gpu ? "GPU" : "CPU", column.line + 1));
            for (std::size_t card = 0; card < cards.size(); ++card)
                rows[card + 1].push_back(cells[column.line][1 + 2 * card + (column.gpu ? 1 : 0)]);
        }
        text += "\n" + table(rows, 1);
    }
    return text;
}

/// A card may come from anyone: a spreadsheet must not take its texts for formulas.
std::string cardField(const std::string& text) {
    const bool formula =
        !text.empty() && std::string_view("=+-@").find(text.front()) != std::string_view::npos;
    return csvField(formula ? "'" + text : text);
}

std::string tableHtml(const std::vector<Card>& cards, const std::vector<std::string>& labels,
                      const CardPart& part) {
    const std::vector<CardColumn> columns = columnsOf(cards, part);
    const auto number = [&](const Card& card, const CardColumn& column) {
        const CardRow* row = rowIn(card, part.id, part.rows[column.line].name);
        return row == nullptr ? 0 : column.gpu ? row->gpu : row->cpu;
    };
    std::string html = fmt::format("<section><h2>{}</h2>\n", htmlText(headText(part)));
    if (columns.empty()) return html + "<p>Not measured.</p></section>\n";
    html += "<div style=\"overflow-x:auto\"><table>\n<tr><th></th>";
    for (const CardColumn& column : columns)
        html += fmt::format("<th>{}<br>{}</th>", htmlText(part.rows[column.line].name),
                            column.gpu ? "GPU" : "CPU");
    html += "</tr>\n";
    for (std::size_t i = 0; i < cards.size(); ++i) {
        html += fmt::format("<tr><th>{}</th>", htmlText(labels[i]));
        for (const CardColumn& column : columns) {
            const double value = number(cards[i], column);
            const bool best = value > 0 && std::ranges::all_of(cards, [&](const Card& card) {
                                  return number(card, column) <= value;
                              });
            const CardRow* row = rowIn(cards[i], part.id, part.rows[column.line].name);
            const std::string cell = row == nullptr ? "-" : htmlText(cardCell(*row, value));
            html += fmt::format("<td style=\"text-align:right\">{}</td>",
                                best ? fmt::format("<strong>{}</strong>", cell) : cell);
        }
        html += "</tr>\n";
    }
    return html + "</table></div></section>\n";
}

} // namespace

std::vector<std::string> cardLabels(const std::vector<Card>& cards) {
    std::vector<std::string> labels;
    std::set<std::string> taken;
    for (const Card& card : cards) {
        const MachineInfo& machine = card.gpu.device.empty() ? card.cpu : card.gpu;
        std::string name = withoutControls(!card.owner.empty()  ? card.owner
                                           : !card.file.empty() ? card.file
                                                                : shortDevice(machine));
        std::string label = cut(name, longestLabel);
        for (std::size_t number = 2; !taken.insert(label).second; ++number)
            label = fmt::format("{} {}", cut(name, longestLabel - 3), number);
        labels.push_back(label);
    }
    return labels;
}

std::string comparisonText(const std::vector<Card>& cards) {
    const std::vector<std::string> labels = cardLabels(cards);
    const std::vector<CardPart> parts = allParts(cards);
    std::vector<std::string> texts;
    texts.reserve(parts.size());
    for (const CardPart& part : parts) texts.push_back(linesText(cards, labels, part));
    // The names are the first line, and as long as all others.
    if (std::ranges::any_of(texts, [](const std::string& text) { return text.find('\n') > terminal; }))
        std::ranges::transform(parts, texts.begin(),
                               [&](const CardPart& part) { return machinesText(cards, labels, part); });
    std::string text = machineLines(cards, labels);
    for (const std::string& part : texts) text += "\n" + part;
    return text + "\n" + cardSigns(cards) + "\n";
}

std::string comparisonHtml(const std::vector<Card>& cards) {
    const std::vector<std::string> labels = cardLabels(cards);
    std::string html = "<table>\n<tr><th></th><th>GPU</th><th>CPU</th><th>measured</th></tr>\n";
    for (std::size_t i = 0; i < cards.size(); ++i)
        html += fmt::format("<tr><th>{}</th><td>{}</td><td>{}</td><td>{}</td></tr>\n", htmlText(labels[i]),
                            htmlText(cards[i].gpuName()), htmlText(cards[i].cpuName()),
                            htmlText(cardOrigin(cards[i])));
    html += "</table>\n";
    for (const CardPart& part : allParts(cards)) html += tableHtml(cards, labels, part);
    html += fmt::format("<p>{} Bold: the best of a column.</p>\n", htmlText(cardSigns(cards)));
    return htmlPage(fmt::format("What {} can do", counted(cards.size(), "machine")), html);
}

std::string comparisonCsv(const std::vector<Card>& cards) {
    const std::vector<std::string> labels = cardLabels(cards);
    const auto number = [](double value) { return value > 0 ? fmt::format("{}", value) : ""; };
    std::string csv = "machine,gpu_device,cpu_device,program,date,quick,part,row,unit,cpu,gpu,unchecked\n";
    for (std::size_t i = 0; i < cards.size(); ++i) {
        const Card& card = cards[i];
        const std::string machine =
            fmt::format("{},{},{},{},{},{}", cardField(labels[i]),
                        card.gpu.device.empty() ? "" : cardField(honestDevice(card.gpu)),
                        cardField(honestDevice(card.cpu)), cardField(card.program), cardField(card.date),
                        card.quick ? 1 : 0);
        for (const CardPart& part : card.parts)
            for (const CardRow& row : part.rows)
                csv += fmt::format("{},{},{},{},{},{},{}\n", machine, cardField(part.id), cardField(row.name),
                                   cardField(part.unit), number(row.cpu), number(row.gpu),
                                   row.unchecked ? 1 : 0);
    }
    return csv;
}

} // namespace lockstep::demos
