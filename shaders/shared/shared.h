// What C++ and GLSL need to read one header: every file named *.h in this folder is compiled by both.
// Rules for such a file: scalars and structs of scalars only, `uint` for unsigned 32-bit integers, functions
// marked SHARED_FN, and no overloads that differ between the languages.
#ifndef LOCKSTEP_SHARED_H
#define LOCKSTEP_SHARED_H

#ifdef __cplusplus
#include <cstdint>
namespace lockstep::shared {
using uint = std::uint32_t;
}
#define SHARED_BEGIN namespace lockstep::shared {
#define SHARED_END }
#define SHARED_FN inline
#define SHARED_CONST inline constexpr
#else
#define SHARED_BEGIN
#define SHARED_END
#define SHARED_FN
#define SHARED_CONST const
#endif

#endif
