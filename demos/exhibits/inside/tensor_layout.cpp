#include "demos/exhibits/inside/tensor_layout.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

namespace lockstep::demos {

namespace {

constexpr float mostStretch = 2;     // of a cell, in width
constexpr float leastStretch = 0.4f; // likewise, where it is stretched in height
constexpr float narrowest = 0.4f;    // width of a picture for its height, before it is stretched
constexpr float widest = 2.5f;       // likewise
constexpr float rowBeside = 0.3f;    // likewise, of a single row beside matrices
constexpr float shareOfRows = 0.25f; // what a single row's size counts for

bool isRow(const TensorPlace& place) { return place.rows <= 1; }

float naturalWidth(const TensorPlace& place) {
    return isRow(place) ? rowBeside : std::clamp(place.columns / place.rows, narrowest, widest);
}

/// By how much natural widths are multiplied to fill `width`, none narrower than its caption; at most `most`.
/// Negative where the captions alone take more.
float fillFactor(std::span<const TensorPlace> row, float width, float most) {
    const auto taken = [&](float factor) {
        return std::accumulate(row.begin(), row.end(), 0.0f, [&](float sum, const TensorPlace& place) {
            return sum + std::max(place.caption, naturalWidth(place) * factor);
        });
    };
    if (taken(0) > width) return -1;
    if (taken(most) <= width) return most;
    float low = 0, high = most;
    for (int i = 0; i < 12; ++i) {
        const float middle = (low + high) / 2;
        (taken(middle) <= width ? low : high) = middle;
    }
    return low;
}

/// A group placed in so many rows.
struct GroupLayout {
    std::vector<TensorPlace> places;
    float height = 0;
    float worth = 0; ///< the larger the pictures
};

class Group {
  public:
    Group(std::span<const TensorPlace> places, ImVec2 room, const TensorLengths& lengths)
        : lengths_(lengths), room_(room), layout_{{places.begin(), places.end()}} {}

    /// The first `beside` tensors in `rows` rows, the others below. False where their captions do not fit.
    bool place(std::size_t beside, std::size_t rows) {
        const std::span<TensorPlace> all = layout_.places;
        const std::size_t below = all.size() - beside;
        std::size_t strips = below > 0 ? 1 : 0;
        while (strips < below && !stripsFit(all.subspan(beside), strips)) ++strips;
        const auto lines = static_cast<float>(rows + strips);
        const float words = lines * lengths_.caption + (lines - 1) * lengths_.gap;
        const float free = room_.y - words - static_cast<float>(strips) * lengths_.least;
        const float high = std::max(free / static_cast<float>(rows), lengths_.least);
        float top = 0;
        for (std::size_t i = 0; i < rows; ++i)
            if (!placeRow(all.subspan(i * beside / rows, (i + 1) * beside / rows - i * beside / rows), high,
                          top))
                return false;
        for (std::size_t i = 0; i < strips; ++i)
            placeStrip(all.subspan(beside).subspan(i * below / strips,
                                                   (i + 1) * below / strips - i * below / strips),
                       top);
        layout_.height = top - lengths_.gap;
        layout_.worth = -1000 * std::max(layout_.height - room_.y - 0.5f, 0.0f);
        for (const TensorPlace& each : all) layout_.worth -= 1000 * std::max(each.caption - room_.x, 0.0f);
        for (const TensorPlace& each : all)
            layout_.worth += (isRow(each) ? shareOfRows : 1) * std::sqrt(each.size.x * each.size.y);
        return true;
    }
    const GroupLayout& layout() const { return layout_; }

  private:
    float widthFor(std::size_t count) const { return room_.x - lengths_.gap * static_cast<float>(count - 1); }
    bool stripsFit(std::span<const TensorPlace> all, std::size_t strips) const {
        for (std::size_t i = 0; i < strips; ++i) {
            const std::size_t begin = i * all.size() / strips;
            const std::size_t count = (i + 1) * all.size() / strips - begin;
            if (fillFactor(all.subspan(begin, count), widthFor(count), 0) < 0) return false;
        }
        return true;
    }
    bool placeRow(std::span<TensorPlace> row, float high, float& top) {
        const float most = mostStretch * high;
        const float factor = fillFactor(row, widthFor(row.size()), most);
        if (factor < 0 && row.size() > 1) return false;
        // Where the row is full of narrow pictures, a lower one keeps their forms.
        high = std::clamp(factor / leastStretch, std::min(lengths_.least, high), high);
        float x = 0;
        float highest = 0;
        for (TensorPlace& place : row) {
            const float wide = std::max(place.caption, naturalWidth(place) * factor);
            place.at = {x, top};
            place.size = {std::round(std::min(wide, room_.x)),
                          std::round(isRow(place) ? high : std::min(high, place.rows * lengths_.cell))};
            x += wide + lengths_.gap;
            highest = std::max(highest, place.size.y);
        }
        top += lengths_.caption + highest + lengths_.gap;
        return true;
    }
    // Wide ones: their columns are all there is to see.
    void placeStrip(std::span<TensorPlace> strip, float& top) {
        const float width = widthFor(strip.size());
        const float captions =
            std::accumulate(strip.begin(), strip.end(), 0.0f,
                            [](float sum, const auto& place) { return sum + place.caption; });
        const float more = std::max(0.0f, width - captions) / static_cast<float>(strip.size());
        float x = 0;
        for (TensorPlace& place : strip) {
            place.at = {x, top};
            place.size = {std::round(std::min(place.caption + more, room_.x)), std::round(lengths_.least)};
            x += place.caption + more + lengths_.gap;
        }
        top += lengths_.caption + lengths_.least + lengths_.gap;
    }

    const TensorLengths& lengths_;
    ImVec2 room_;
    GroupLayout layout_;
};

GroupLayout bestOf(std::span<const TensorPlace> places, ImVec2 room, const TensorLengths& lengths) {
    GroupLayout best;
    best.worth = -1e30f;
    if (places.empty()) return {};
    const auto matrices = static_cast<std::size_t>(
        std::ranges::find_if(places, [](const TensorPlace& place) { return isRow(place); }) - places.begin());
    for (const std::size_t beside : {matrices, places.size()}) {
        if (beside == 0) continue;
        for (std::size_t rows = 1; rows <= beside; ++rows) {
            Group group(places, room, lengths);
            if (!group.place(beside, rows)) continue;
            if (group.layout().worth > best.worth) best = group.layout();
            if (group.layout().height > room.y + 0.5f) break; // more rows are higher still
        }
    }
    return best;
}

} // namespace

float layOutTensors(TensorPlaces& places, ImVec2 room, const TensorLengths& lengths) {
    const bool both = !places[0].empty() && !places[1].empty();
    const float width = room.x - (both ? lengths.between : 0);
    std::array<GroupLayout, 2> best;
    float bestWorth = -1e30f;
    float bestLeft = 0;
    for (int twentieths = both ? 3 : 0; twentieths <= (both ? 17 : 0); ++twentieths) {
        const float share = static_cast<float>(twentieths) / 20;
        const float left = both ? share * width : places[0].empty() ? 0 : width;
        const std::array<GroupLayout, 2> found{bestOf(places[0], {left, room.y}, lengths),
                                               bestOf(places[1], {width - left, room.y}, lengths)};
        if (found[0].worth + found[1].worth <= bestWorth) continue;
        bestWorth = found[0].worth + found[1].worth;
        bestLeft = left;
        best = found;
    }
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = best[i].places;
    for (TensorPlace& place : places[1]) place.at.x += both ? bestLeft + lengths.between : 0;
    return std::max(best[0].height, best[1].height);
}

} // namespace lockstep::demos
