// Says everything that is wrong with a lesson, which only the whole program knows.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demos/lesson/lesson_yaml.h"

namespace lockstep::demos {

/// Reads the file, applies every state, and looks for every value that is quoted and every control that is
/// pointed at. Experiments whose numbers are quoted are measured, roughly. In the order of lines. Throws
/// std::runtime_error for a file that cannot be read, gpu::GpuError without a device that can draw.
///   device   as in gpu::DeviceOptions
std::vector<LessonProblem> checkLesson(const std::filesystem::path& file, const std::string& device);

} // namespace lockstep::demos
