// The pictures of a lesson: PNG files beside it.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "demos/draw/picture.h"
#include "demos/draw/png.h"

namespace lockstep::demos {

/// Reads one. Throws std::invalid_argument for a name that leaves the folder or is no PNG's,
/// std::runtime_error for a file that is missing, larger than 4 MB or 4,096 pixels a side, or broken.
Pixels readLessonPicture(const std::filesystem::path& folder, const std::string& name);

/// Those that are on the screen.
class LessonPictures {
  public:
    /// Null: the file cannot be shown.
    const Picture* find(Graphics& graphics, const std::filesystem::path& folder, const std::string& name);
    /// Forgets all of them: another lesson is open, a file has changed, or the device goes.
    void clear() { pictures_.clear(); }

  private:
    std::map<std::filesystem::path, std::unique_ptr<Picture>> pictures_; // null: not readable
};

} // namespace lockstep::demos
