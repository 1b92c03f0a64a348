// SPDX-License-Identifier: Apache-2.0
// What can be told of a plugin file without running any of it. Internal to runtime/plugin.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.hpp"

namespace sluice::plugin {

// The dynamic symbols of a shared library for this machine. Empty lists if the file has no section table (then only loading can tell).
struct ElfSymbols {
  bool has_table = false;
  std::vector<std::string> defined;
  std::vector<std::string> undefined;
};
inline constexpr std::size_t kElfSymbolsMax = 1u << 20;

// Reads the bytes of a file; `name` is for messages. Every offset in it is checked.
// Errors: plugin.not_a_library, plugin.wrong_architecture.
[[nodiscard]] Result<ElfSymbols> read_elf(std::string_view contents, std::string_view name);

// The sanitizer of a library that refers to one's run-time functions: "+asan", "+tsan", "+msan", or "".
[[nodiscard]] std::string_view sanitizer_of(const ElfSymbols& symbols);
// For messages: "AddressSanitizer", …, "no sanitizer".
[[nodiscard]] std::string_view sanitizer_name(std::string_view tag);

// What must hold before the library may be loaded anywhere: the entry symbol is there, of this major, and the sanitizer is `own_sanitizer`.
// Errors: plugin.no_entry_symbol, plugin.too_new, plugin.too_old, plugin.sanitizer_mismatch.
[[nodiscard]] Result<void> check_symbols(const ElfSymbols& symbols, std::string_view own_sanitizer, std::string_view name);

}  // namespace sluice::plugin
