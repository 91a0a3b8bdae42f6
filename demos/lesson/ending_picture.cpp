// The last page of a lesson as a picture for others, drawn without a device.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "demos/draw/canvas.h"
#include "demos/draw/theme.h"
#include "demos/lesson/lesson_ending.h"
#include "demos/words/language.h"
#include "demos/words/text.h"

namespace lockstep::demos {

namespace {

constexpr std::uint32_t endingWidth = 1200;
constexpr std::uint32_t endingMargin = 56;
constexpr std::uint32_t squareSize = 44;
constexpr std::uint32_t squareGap = 10;
constexpr std::uint32_t barWidth = 6;
constexpr std::uint32_t textLeft = endingMargin + barWidth + 18;
constexpr std::uint32_t textWide = endingWidth - textLeft - endingMargin;

std::uint32_t lineHeight(const Letters& letters) {
    return static_cast<std::uint32_t>(letters.height() * 1.35f);
}

/// A colour, and a sign for those who cannot tell it from the others.
std::pair<ImU32, std::string_view> markOf(const Theme& theme, const EndingRow& row) {
    if (row.verdict == AnswerVerdict::right) return {theme.good, "✓"};
    if (row.verdict == AnswerVerdict::wrong) return {theme.bad, "✗"};
    return {theme.muted, "–"};
}

class EndingDrawing {
  public:
    explicit EndingDrawing(const LessonEnding& ending) : ending_(ending) {}

    Pixels draw() {
        // Measured first, on a canvas without pixels.
        page(nullptr);
        Canvas canvas(endingWidth, y_ + endingMargin, theme_.background);
        page(&canvas);
        return canvas.take();
    }

  private:
    void page(Canvas* canvas) {
        y_ = endingMargin;
        write(canvas, body_, ending_.title, theme_.muted, endingMargin);
        y_ += 6;
        write(canvas, large_, scoreText(ending_), theme_.text, endingMargin);
        y_ += 14;
        squares(canvas);
        for (const EndingRow& each : ending_.rows)
            if (!each.open()) row(canvas, each);
        if (const std::string open = openText(ending_); !open.empty())
            write(canvas, small_, open, theme_.muted, endingMargin);
        y_ += 6;
        write(canvas, small_,
              translatedFormat("Measured with Lockstep on {}, {}", ending_.machine, ending_.date),
              theme_.muted, endingMargin);
    }

    void squares(Canvas* canvas) {
        if (ending_.score.questions == 0) return;
        std::uint32_t x = endingMargin;
        for (const EndingRow& each : ending_.rows) {
            if (!each.asks) continue;
            if (x + squareSize > endingWidth - endingMargin) x = endingMargin, y_ += squareSize + squareGap;
            const auto [colour, sign] = markOf(theme_, each);
            if (canvas != nullptr) {
                canvas->fill(x, y_, squareSize, squareSize, colour);
                canvas->text(body_, static_cast<float>(x) + (squareSize - body_.width(sign)) / 2,
                             static_cast<float>(y_) + (squareSize - body_.height()) / 2, sign,
                             theme_.background);
            }
            x += squareSize + squareGap;
        }
        y_ += squareSize + 30;
    }

    void row(Canvas* canvas, const EndingRow& each) {
        const std::uint32_t top = y_;
        write(canvas, body_, each.title, theme_.text, textLeft);
        const std::string predicted = predictionText(each);
        if (!predicted.empty()) write(canvas, small_, predicted, theme_.muted, textLeft);
        if (const std::string right = rightText(each); !right.empty())
            write(canvas, small_, right, theme_.text, textLeft);
        if (!each.result.empty())
            write(canvas, small_, translatedFormat("Here: {}", each.result), theme_.text, textLeft);
        if (canvas != nullptr)
            canvas->fill(endingMargin, top + 3, barWidth, y_ - top - 6, markOf(theme_, each).first);
        y_ += 18;
    }

    void write(Canvas* canvas, const Letters& letters, std::string_view text, ImU32 colour,
               std::uint32_t left) {
        const auto width =
            static_cast<float>(left == endingMargin ? endingWidth - 2 * endingMargin : textWide);
        const auto widthOf = [&](std::string_view part) { return letters.width(part); };
        for (const std::string_view line : linesAtBlanks(text, width, widthOf)) {
            if (canvas != nullptr)
                canvas->text(letters, static_cast<float>(left), static_cast<float>(y_), line, colour);
            y_ += lineHeight(letters);
        }
    }

    const LessonEnding& ending_;
    Theme theme_ = makeTheme(true);
    Letters large_{64};
    Letters body_{28};
    Letters small_{23};
    std::uint32_t y_ = 0; // where the next line begins
};

} // namespace

Pixels endingPicture(const LessonEnding& ending) { return EndingDrawing(ending).draw(); }

} // namespace lockstep::demos
