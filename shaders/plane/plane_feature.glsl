// What a network of the plane sees of a point (engine/net/plane_features.h).
#include "math.glsl"
#include "params.h"

float feature(uint kind, float x, float y) {
    if (kind == planeX) return x;
    if (kind == planeY) return y;
    if (kind == planeXX) return x * x;
    if (kind == planeYY) return y * y;
    if (kind == planeXY) return x * y;
    return sine(kind == planeSinX ? x : y);
}
