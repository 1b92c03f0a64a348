# SPDX-License-Identifier: Apache-2.0
# Warnings, sanitizers, linker and compiler cache: everything that is a property of the build and not of a target.
find_program(SLUICE_CCACHE ccache)
if(SLUICE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${SLUICE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${SLUICE_CCACHE})
endif()
find_program(SLUICE_MOLD mold)
if(SLUICE_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # gcc 12 reports false positives of these kinds inside the standard library and Boost.
  add_compile_options(-Wno-restrict -Wno-maybe-uninitialized -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread
                      -Wno-free-nonheap-object -Wno-dangling-pointer $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
else()
  # The precompiled header must not carry a time stamp, or the compiler cache never hits.
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
  if(SLUICE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
  if(SLUICE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)
  endif()
endif()
if(SLUICE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(SLUICE_MUTATIONS)
  add_compile_definitions(SLUICE_MUTATIONS)
endif()
