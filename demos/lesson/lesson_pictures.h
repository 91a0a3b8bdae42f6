// The pictures of a lesson: PNG files beside it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "demos/draw/picture.h"
#include "demos/draw/png.h"

namespace lockstep::demos {

/// Reads one. Throws std::invalid_argument for a name that leaves the folder or is no PNG's,
/// std::runtime_error for a file that is missing, larger than 4 MB, or refused by decodePng().
Pixels readLessonPicture(const std::filesystem::path& folder, const std::string& name);

/// Those of the step that is on the screen, at most 16 million pixels of them.
class LessonPictures {
  public:
    /// Null: the file cannot be shown, or there are too many.
    const Picture* find(Graphics& graphics, const std::filesystem::path& folder, const std::string& name);
    /// Forgets all of them: another step is shown, a file has changed, or the device goes.
    void clear() {
        pictures_.clear();
        pixels_ = 0;
    }

  private:
    std::map<std::filesystem::path, std::unique_ptr<Picture>> pictures_; // null: not shown
    std::uint64_t pixels_ = 0;                                           // of all
};

} // namespace lockstep::demos
