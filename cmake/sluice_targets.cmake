# SPDX-License-Identifier: Apache-2.0
# How a folder becomes a target. The include rules of docs/ARCHITECTURE.md are the DEPS lists, and a test holds the includes to them.
include(GoogleTest)
include(${CMAKE_SOURCE_DIR}/sdk/cmake/sluice_add_connector.cmake)

# The precompiled headers of the tree, the standard library and fmt, nothing of ours and nothing of Asio; and with GoogleTest for the tests.
set(SLUICE_PCH_HEADERS
  <algorithm> <array> <atomic> <chrono> <cstddef> <cstdint> <cstring> <expected> <filesystem> <functional> <map>
  <memory> <mutex> <optional> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
add_library(sluice_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_precompile_headers(sluice_pch PRIVATE ${SLUICE_PCH_HEADERS})
target_link_libraries(sluice_pch PRIVATE fmt::fmt)

add_library(sluice_test_pch OBJECT ${CMAKE_SOURCE_DIR}/cmake/pch.cpp)
target_precompile_headers(sluice_test_pch PRIVATE ${SLUICE_PCH_HEADERS} <gtest/gtest.h>)
target_link_libraries(sluice_test_pch PRIVATE fmt::fmt GTest::gtest)

# sluice_use_pch(target sluice_pch|sluice_test_pch)
function(sluice_use_pch target pch)
  # gcc refuses a precompiled header when any macro differs, and its preset is a unity build anyway.
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_precompile_headers(${target} REUSE_FROM ${pch})
  endif()
endfunction()

# sluice_library(core_base DEPS … PRIVATE_DEPS …): a static library of all .cpp and .hpp in the current folder; alias sluice::core_base.
function(sluice_library name)
  cmake_parse_arguments(ARG "" "" "DEPS;PRIVATE_DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  file(GLOB headers CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.hpp)
  set(target sluice_${name})
  if(sources)
    add_library(${target} STATIC ${sources})
    target_include_directories(${target} PUBLIC ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} PUBLIC ${ARG_DEPS} fmt::fmt PRIVATE ${ARG_PRIVATE_DEPS})
    target_sources(${target} PUBLIC FILE_SET HEADERS BASE_DIRS ${CMAKE_SOURCE_DIR} FILES ${headers})
    set_target_properties(${target} PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
    sluice_use_pch(${target} sluice_pch)
  else()
    add_library(${target} INTERFACE)
    target_include_directories(${target} INTERFACE ${CMAKE_SOURCE_DIR})
    target_link_libraries(${target} INTERFACE ${ARG_DEPS} fmt::fmt)
  endif()
  add_library(sluice::${name} ALIAS ${target})
endfunction()

# sluice_test(unit_core_base LABELS unit DEPS …): one GoogleTest binary of all *_test.cpp in the current folder.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "TIMEOUT" "LABELS;DEPS;SOURCES" ${ARGN})
  if(NOT ARG_SOURCES)
    file(GLOB ARG_SOURCES CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cpp)
  endif()
  if(NOT ARG_SOURCES)
    return()
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 60)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest GTest::gmock GTest::gtest_main)
  sluice_use_pch(${name} sluice_test_pch)
  # A test file costs more in what it includes than in itself.
  set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 4)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT})
endfunction()

# sluice_fuzzer(entry_fuzz DEPS …): a libFuzzer target from entry_fuzz.cpp with the seed corpus in corpus/entry_fuzz/.
function(sluice_fuzzer name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  add_executable(${name} ${CMAKE_CURRENT_SOURCE_DIR}/${name}.cpp)
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_property(GLOBAL APPEND PROPERTY SLUICE_FUZZERS ${name})
endfunction()

# sluice_connector(null_sink DEPS …): the plugin `<build>/plugins/null_sink.so` and its tests null_sink_test, as every author makes them.
function(sluice_connector name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  sluice_add_connector(${name} DEPS ${ARG_DEPS})
  set_target_properties(${name}_objects PROPERTIES CXX_STANDARD 20)
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/plugins)
  set_property(GLOBAL APPEND PROPERTY SLUICE_CONNECTORS ${name})
  if(TARGET ${name}_test)
    sluice_use_pch(${name}_test sluice_test_pch)
  endif()
endfunction()

# sluice_unit_tests(core/base DEPS…): the tests of tests/unit/core/base as one binary unit_core_base, in the folder's own file set.
function(sluice_unit_tests folder)
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/unit/${folder}/*.cpp)
  string(REPLACE "/" "_" name ${folder})
  if(sources)
    sluice_test(unit_${name} SOURCES ${sources} LABELS unit DEPS ${ARGN})
  endif()
endfunction()
