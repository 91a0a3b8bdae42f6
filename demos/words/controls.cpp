// Apart from the other formatting: readers of files need nothing else of it.
#include "demos/words/text.h"

namespace lockstep::demos {

std::string withoutControls(std::string_view text) {
    std::string kept;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto byte = static_cast<unsigned char>(text[i]);
        const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
        if (byte == 0xC2 && next >= 0x80 && next < 0xA0) // U+0080 to U+009F in UTF-8
            ++i;
        else if (byte >= 0x80 && byte < 0xA0 && kept.ends_with('\xC2')) // what was between them is gone
            kept.pop_back();
        else if ((byte >= ' ' && byte != 127) || byte == '\n' || byte == '\t')
            kept += text[i];
    }
    return kept;
}

} // namespace lockstep::demos
