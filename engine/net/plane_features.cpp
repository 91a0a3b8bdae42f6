#include "engine/net/plane_features.h"

#include <cmath>

#include "engine/net/names.h"

namespace lockstep {

namespace {

constexpr NameOf<PlaneFeature> featureNames[] = {
    {PlaneFeature::x, "x"},        {PlaneFeature::y, "y"},   {PlaneFeature::xx, "xx"},
    {PlaneFeature::yy, "yy"},      {PlaneFeature::xy, "xy"}, {PlaneFeature::sinX, "sin-x"},
    {PlaneFeature::sinY, "sin-y"},
};

constexpr PlaneFeature all[] = {PlaneFeature::x,  PlaneFeature::y,    PlaneFeature::xx,  PlaneFeature::yy,
                                PlaneFeature::xy, PlaneFeature::sinX, PlaneFeature::sinY};

} // namespace

std::span<const PlaneFeature> allPlaneFeatures() { return all; }

float planeFeature(PlaneFeature feature, float x, float y) {
    switch (feature) {
    case PlaneFeature::x: return x;
    case PlaneFeature::y: return y;
    case PlaneFeature::xx: return x * x;
    case PlaneFeature::yy: return y * y;
    case PlaneFeature::xy: return x * y;
    case PlaneFeature::sinX: return std::sin(x);
    case PlaneFeature::sinY: return std::sin(y);
    }
    return 0;
}

std::vector<float> planeFeatures(float x, float y, std::span<const PlaneFeature> features) {
    std::vector<float> values;
    values.reserve(features.size());
    for (const PlaneFeature feature : features) values.push_back(planeFeature(feature, x, y));
    return values;
}

std::uint32_t packedFeatures(std::span<const PlaneFeature> features) {
    std::uint32_t packed = 0;
    for (std::size_t index = features.size(); index-- > 0;)
        packed = packed << 4 | static_cast<std::uint32_t>(features[index]);
    return packed;
}

std::string_view name(PlaneFeature feature) { return nameOf(featureNames, feature); }

PlaneFeature planeFeatureFromName(std::string_view text) {
    return valueFromName(featureNames, "feature", text);
}

} // namespace lockstep
