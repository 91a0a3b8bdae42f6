#version 450
#extension GL_GOOGLE_include_directive : require

// ranking[r] = the member with the r-th smallest key, equals by their number. A member's rank is the number of those before it:
// counted, not sorted, as n^2 comparisons of four at a time are few for the n of a population. keys [members], padded to a
// multiple of four with the largest.
// x: members.
#include "population.h"

layout(local_size_x_id = 0) in;
layout(set = 0, binding = 0) readonly buffer Keys { uvec4 keys[]; };
layout(set = 0, binding = 1) writeonly buffer Ranking { uint ranking[]; };
layout(push_constant) uniform Params { PopulationRankParams params; };

void main() {
    uint member = params.first + gl_GlobalInvocationID.x;
    if (member >= params.networks) return;
    uint own = keys[member / 4][member % 4];
    uvec4 before = uvec4(0);
    uint quad = 0;
    for (; quad < member / 4; ++quad) before += uvec4(lessThanEqual(keys[quad], uvec4(own)));
    for (uint j = 4 * quad; j < member; ++j) before.x += uint(keys[j / 4][j % 4] <= own);
    for (uint j = member + 1; j < 4 * quad + 4 && j < params.networks; ++j) before.x += uint(keys[j / 4][j % 4] < own);
    for (++quad; 4 * quad < params.networks; ++quad) before += uvec4(lessThan(keys[quad], uvec4(own)));
    ranking[before.x + before.y + before.z + before.w] = member;
}
