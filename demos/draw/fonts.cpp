#include "demos/draw/fonts.h"

#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "engine/platform/folders.h"

namespace lockstep::demos {

namespace {

namespace fs = std::filesystem;

// Inter has all of these but ∇ ⊙ ⊗ and some arrows, which DejaVu Sans brings.
constexpr ImWchar textRanges[] = {
    0x0020, 0x00FF, // Latin
    0x0100, 0x017F, // names of people
    0x0391, 0x03C9, // Greek
    0x2010, 0x2027, // dashes, quotes, ellipsis
    0x2030, 0x203A, // per mille, primes, angle quotes
    0x2070, 0x209C, // superscripts and subscripts
    0x20AC, 0x20AC, // euro
    0x2190, 0x21D4, // arrows
    0x2200, 0x22C5, // mathematics
    0x25A0, 0x25FF, // shapes
    0x2713, 0x2717, // ticks and crosses
    0,
};

std::string firstThatExists(const std::vector<std::string>& names) {
    std::vector<fs::path> folders{
        "/usr/share/fonts/opentype/inter", "/usr/share/fonts/truetype/dejavu",   "/usr/share/fonts/TTF",
        "/usr/share/fonts/inter",          "/usr/share/fonts/dejavu-sans-fonts", "/Library/Fonts"};
    const fs::path program = platform::programFolder();
    folders.insert(folders.begin(), {program / "assets/fonts", program / "../share/lockstep/fonts"});
    std::error_code ignored;
    for (const std::string& name : names)
        for (const fs::path& folder : folders)
            if (fs::exists(folder / name, ignored)) return (folder / name).string();
    return {};
}

const std::vector<std::string> regularNames{"Inter-Regular.otf", "Inter-Regular.ttf", "DejaVuSans.ttf"};
const std::vector<std::string> strongNames{"Inter-SemiBold.otf", "Inter-SemiBold.ttf", "DejaVuSans-Bold.ttf"};
const std::vector<std::string> signNames{"DejaVuSans.ttf"};
const std::vector<std::string> monoNames{"DejaVuSansMono.ttf"};

// A face merged with DejaVu Sans; ImGui's own pixel font where no file is found.
ImFont* addFace(ImFontAtlas& atlas, const std::vector<std::string>& names, const std::string& signs,
                float pixels, int oversample = 2) {
    const std::string file = firstThatExists(names);
    ImFontConfig config;
    config.OversampleH = oversample;
    config.OversampleV = 1;
    config.PixelSnapH = true;
    if (file.empty()) {
        config.SizePixels = pixels;
        return atlas.AddFontDefault(&config);
    }
    ImFont* font = atlas.AddFontFromFileTTF(file.c_str(), pixels, &config, textRanges);
    if (!signs.empty() && signs != file) {
        config.MergeMode = true;
        config.GlyphMinAdvanceX = 0;
        atlas.AddFontFromFileTTF(signs.c_str(), pixels, &config, textRanges);
    }
    return font;
}

} // namespace

std::string fontFiles() {
    std::string lines;
    for (const auto& names : {regularNames, strongNames, signNames, monoNames}) {
        const fs::path file = firstThatExists(names);
        std::error_code ignored;
        if (!file.empty())
            lines += file.filename().string() + " " + std::to_string(fs::file_size(file, ignored)) + "\n";
    }
    return lines;
}

ImFont* addBodyFont(ImFontAtlas& atlas, float pixels, int oversample) {
    return addFace(atlas, regularNames, firstThatExists(signNames), pixels, oversample);
}

Fonts bakeFonts(Graphics& graphics, float pixels, std::unique_ptr<Picture>& letters) {
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    Fonts fonts;
    fonts.body = addBodyFont(atlas, pixels, 2);
    fonts.strong = addFace(atlas, strongNames, firstThatExists(signNames), pixels);
    fonts.title = addFace(atlas, strongNames, {}, pixels * 1.4f);
    fonts.headline = addFace(atlas, strongNames, {}, pixels * 1.9f);
    fonts.small = addBodyFont(atlas, std::round(pixels * 0.875f), 2);
    fonts.mono = addFace(atlas, monoNames, {}, pixels * 0.92f);
    unsigned char* rgba = nullptr;
    int width = 0;
    int height = 0;
    atlas.GetTexDataAsRGBA32(&rgba, &width, &height);
    std::vector<std::uint32_t> words(static_cast<std::size_t>(width) * static_cast<std::size_t>(height));
    std::memcpy(words.data(), rgba, words.size() * 4);
    letters = std::make_unique<Picture>(graphics, static_cast<std::uint32_t>(width),
                                        static_cast<std::uint32_t>(height), true);
    letters->upload(words);
    atlas.SetTexID(letters->id());
    atlas.ClearTexData();
    ImGui::GetIO().FontDefault = fonts.body;
    return fonts;
}

} // namespace lockstep::demos
