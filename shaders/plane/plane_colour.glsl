// Colours of a plane map. Words are 0xAABBGGRR, as unpackUnorm4x8 reads them. The including shader declares colours[].
#include "math.glsl"
#include "params.h"

vec4 colourAt(uint index) { return unpackUnorm4x8(colours[index]); }

// A signed value, clamped to [-1, 1]: from the negative colour over zero's to the positive one.
vec4 signedColour(float value, bool discretise) {
    if (isNotFinite(value)) return colourAt(colourBackground);
    vec4 side = colourAt(value < 0.0 ? colourNegative : colourPositive);
    return discretise ? side : mix(colourAt(colourZero), side, min(abs(value), 1.0));
}
