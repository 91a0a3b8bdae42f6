// Lets C++ and GLSL read the same headers: both compile every file of this folder. Such a file has only scalars and
// structs of scalars, writes `uint` for unsigned 32-bit integers, marks functions SHARED_FN, and has no overloads that
// differ between the languages.
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
