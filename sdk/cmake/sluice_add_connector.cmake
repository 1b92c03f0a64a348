# SPDX-License-Identifier: Apache-2.0
include_guard(GLOBAL)

# sluice_add_connector(NAME [DEPS target…]): the plugin NAME.so from src/*.cpp of the current folder, exporting the plugin's entry and nothing
# else. If BUILD_TESTING, the same objects and tests/*.cpp become NAME_test, which runs them without dlopen; each test is known to CTest, and
# SLUICE_CONNECTOR_DIR is the folder. DEPS are the libraries of the back end.
function(sluice_add_connector name)
  cmake_parse_arguments(ARG "" "" "DEPS" ${ARGN})
  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/src/*.cpp)
  file(GLOB tests CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/tests/*.cpp)
  add_library(${name}_objects OBJECT ${sources})
  target_include_directories(${name}_objects PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/src)
  target_link_libraries(${name}_objects PUBLIC sluice::sdk ${ARG_DEPS})
  set_target_properties(${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  add_library(${name} MODULE $<TARGET_OBJECTS:${name}_objects>)
  target_link_libraries(${name} PRIVATE sluice::sdk ${ARG_DEPS})
  set_target_properties(${name} PROPERTIES PREFIX "")
  target_link_options(${name} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.version)
  # What a sanitizer needs is in the program that loads the plugin.
  if(NOT SLUICE_SDK_SANITIZE AND NOT CMAKE_CXX_FLAGS MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE -Wl,-z,defs)
  endif()
  if(BUILD_TESTING AND tests)
    find_package(GTest REQUIRED)
    include(GoogleTest)
    add_executable(${name}_test ${tests})
    target_link_libraries(${name}_test PRIVATE ${name}_objects sluice::sdk_testing GTest::gtest GTest::gmock GTest::gtest_main)
    target_compile_definitions(${name}_test PRIVATE SLUICE_CONNECTOR_DIR="${CMAKE_CURRENT_SOURCE_DIR}")
    gtest_discover_tests(${name}_test DISCOVERY_MODE PRE_TEST PROPERTIES TIMEOUT 60 LABELS unit)
  endif()
endfunction()
