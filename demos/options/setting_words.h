// The rows of engine/net/setting_table.h in words: how options and controls name and explain them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "engine/net/setting_table.h"

namespace lockstep::demos {

struct SettingWords {
    std::string_view key;         ///< of the row
    std::string help;             ///< of the option, without who uses it
    std::string_view usual;       ///< its default, where that is not the field's
    std::string_view control;     ///< the control's name after the form's prefix
    const char* title;            ///< above the control
    std::string_view explanation; ///< of the control
    float from = 0, to = 0;       ///< its slider
    const char* format = "%.3g";
    bool logarithmic = false;
};

/// One for each row of the table, in its order.
std::span<const SettingWords> settingWords();
/// Throws std::logic_error for a key that is in no row.
const SettingWords& settingWords(std::string_view key);
const SettingRow& settingRow(std::string_view key);

/// "--weight-decay"
std::string optionOf(const SettingRow& row);

} // namespace lockstep::demos
