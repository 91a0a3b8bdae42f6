#include "demos/words/html.h"

#include <fmt/format.h>

#include "demos/words/language.h"

namespace lockstep::demos {

std::string htmlText(std::string_view text) {
    std::string html;
    for (const char letter : text) {
        if (letter == '<')
            html += "&lt;";
        else if (letter == '>')
            html += "&gt;";
        else if (letter == '&')
            html += "&amp;";
        else if (letter == '"')
            html += "&quot;";
        else
            html += letter;
    }
    return html;
}

std::string htmlPage(std::string_view title, std::string_view body) {
    return fmt::format(
        "<!doctype html><html lang=\"{}\"><meta charset=\"utf-8\"><title>{}</title>\n"
        "<style>body{{font-family:sans-serif;max-width:60em;margin:auto;padding:1em;line-height:1.5}}"
        "img{{max-width:100%}}aside{{border-left:3px solid "
        "#888;padding-left:1em}}table{{border-collapse:collapse}}"
        "h2{{break-after:avoid}}.question{{break-inside:avoid}}.head{{display:flex;gap:2em}}.head "
        "span{{flex:1;"
        "border-bottom:1px solid;height:2em}}th,td{{border-bottom:1px solid #888;padding:.2em .8em .2em "
        "0;text-align:left}}section{{break-inside:avoid}}code,pre{{background:#eee;border-radius:3px}}"
        "pre{{padding:.5em}}.right{{font-weight:bold}}.line{{border-bottom:1px solid;height:2em}}</style>\n"
        "<h1>{}</h1>\n{}</html>\n",
        spokenLanguage(), htmlText(title), htmlText(title), body);
}

} // namespace lockstep::demos
