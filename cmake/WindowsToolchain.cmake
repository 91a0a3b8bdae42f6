# Programs for Windows (x86-64), built on Debian by MinGW-w64. scripts/windows.sh builds the libraries that this looks for, in
# the folder LOCKSTEP_WINDOWS_LIBRARIES of the environment or the cache.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)

if(NOT LOCKSTEP_WINDOWS_LIBRARIES)
  set(LOCKSTEP_WINDOWS_LIBRARIES $ENV{LOCKSTEP_WINDOWS_LIBRARIES})
endif()
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LOCKSTEP_WINDOWS_LIBRARIES)
set(CMAKE_FIND_ROOT_PATH ${LOCKSTEP_WINDOWS_LIBRARIES} /usr/x86_64-w64-mingw32 ${CMAKE_PREFIX_PATH})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

# GCC does not align the stack to more than 16 bytes here (its bug 54412), but moves vectors of 32 and 64 as if it had: the
# assembler makes these moves ones that need no alignment. They are as fast where the address is aligned.
set(unaligned_moves "-Wa,-muse-unaligned-vector-move")
set(CMAKE_C_FLAGS_INIT "${unaligned_moves}")
set(CMAKE_CXX_FLAGS_INIT "${unaligned_moves}")
# The compiler's own libraries are in the program: nothing is to be installed.
# And no time of linking: the same sources make the same file.
set(CMAKE_EXE_LINKER_FLAGS_INIT "-static -Wl,--no-insert-timestamp")
set(CMAKE_SHARED_LINKER_FLAGS_INIT "-static -Wl,--no-insert-timestamp")
# Tests run here, too: tests/windows.sh, which installs Wine where it is missing. Searched for here, it would not be found by
# the first configuration on a machine, and every test would be started as a shell script.
set(CMAKE_CROSSCOMPILING_EMULATOR wine)
