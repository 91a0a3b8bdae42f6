#include "demos/kit/random_pixels.h"

#include <algorithm>
#include <cstdint>
#include <string>

#include "engine/net/random.h"

namespace lockstep::demos {

Dataset randomPixels(std::size_t inputs, std::size_t classes, std::size_t count) {
    Dataset data;
    data.name = "random pixels";
    data.inputs = inputs;
    data.classes = classes;
    for (std::size_t label = 0; label < classes; ++label) data.classNames.push_back(std::to_string(label));
    data.train.count = count;
    for (std::size_t at = 0; at < count * inputs; ++at)
        data.train.pixels.push_back(static_cast<std::uint8_t>(randomWords(1, RandomStream::data, at).x));
    for (std::size_t example = 0; example < count; ++example)
        data.train.labels.push_back(static_cast<std::uint32_t>(example % std::max<std::size_t>(classes, 1)));
    return data;
}

} // namespace lockstep::demos
