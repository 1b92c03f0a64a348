// SPDX-License-Identifier: Apache-2.0
#include "runtime/plugin/elf_file.hpp"

#include <elf.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <optional>

#include <fmt/format.h>
#include <sluice/abi/entry.h>

#include "runtime/plugin/plugin.hpp"

namespace sluice::plugin {

namespace {

#if defined(__x86_64__)
constexpr std::uint16_t kOwnMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr std::uint16_t kOwnMachine = EM_AARCH64;
#else
#error "sluice runs on x86-64 and aarch64"
#endif

constexpr std::string_view kEntryPrefix = "sluice_entry_v";

// A struct of the file at `offset`, copied because the file's alignment is not to be trusted.
template <typename T>
std::optional<T> elf_at(std::string_view contents, std::uint64_t offset) {
  if (offset > contents.size() || sizeof(T) > contents.size() - offset) return std::nullopt;
  T value;
  std::memcpy(&value, contents.data() + offset, sizeof value);
  return value;
}

std::string machine_name(std::uint8_t elf_class, std::uint16_t machine) {
  const std::string_view bits = elf_class == ELFCLASS32 ? "32-bit " : "";
  switch (machine) {
    case EM_X86_64:
      return fmt::format("{}x86-64", bits);
    case EM_AARCH64:
      return fmt::format("{}aarch64", bits);
    case EM_386:
      return fmt::format("{}x86", bits);
    case EM_ARM:
      return fmt::format("{}arm", bits);
    case EM_RISCV:
      return fmt::format("{}riscv", bits);
    case EM_PPC64:
      return fmt::format("{}ppc64", bits);
    case EM_S390:
      return fmt::format("{}s390", bits);
    default:
      return fmt::format("{}machine {}", bits, machine);
  }
}

std::string_view string_at(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::string_view rest = table.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view() : rest.substr(0, end);
}

std::string_view section_bytes(std::string_view contents, const Elf64_Shdr& section) {
  if (section.sh_offset > contents.size() || section.sh_size > contents.size() - section.sh_offset) return {};
  return contents.substr(section.sh_offset, section.sh_size);
}

void read_symbols(std::string_view contents, const Elf64_Ehdr& header, const Elf64_Shdr& section, ElfSymbols& out) {
  const auto strings_header = elf_at<Elf64_Shdr>(contents, header.e_shoff + std::uint64_t{section.sh_link} * sizeof(Elf64_Shdr));
  if (section.sh_link >= header.e_shnum || !strings_header) return;
  const std::string_view strings = section_bytes(contents, *strings_header);
  const std::string_view symbols = section_bytes(contents, section);
  out.has_table = true;
  const std::size_t count = std::min(symbols.size() / sizeof(Elf64_Sym), kElfSymbolsMax);
  for (std::size_t i = 1; i < count; ++i) {
    const auto symbol = elf_at<Elf64_Sym>(symbols, i * sizeof(Elf64_Sym));
    const std::string_view symbol_name = string_at(strings, symbol->st_name);
    if (!symbol_name.empty()) (symbol->st_shndx == SHN_UNDEF ? out.undefined : out.defined).emplace_back(symbol_name);
  }
}

}  // namespace

Result<ElfSymbols> read_elf(std::string_view contents, std::string_view name) {
  const auto identity = elf_at<std::array<unsigned char, EI_NIDENT>>(contents, 0);
  if (!identity || std::memcmp(identity->data(), ELFMAG, SELFMAG) != 0) {
    return fail(Errc::kNotALibrary, fmt::format("{} is not a shared library: it does not begin like one", name));
  }
  const std::uint8_t elf_class = (*identity)[EI_CLASS];
  const auto machine = elf_at<std::uint16_t>(contents, offsetof(Elf64_Ehdr, e_machine));
  if (machine && ((*identity)[EI_DATA] != ELFDATA2LSB || elf_class != ELFCLASS64 || *machine != kOwnMachine)) {
    return fail(Errc::kWrongArchitecture,
                fmt::format("{} was built for {}{}, this machine is {}", name, machine_name(elf_class, *machine),
                            (*identity)[EI_DATA] == ELFDATA2LSB ? "" : " (big-endian)", machine_name(ELFCLASS64, kOwnMachine)));
  }
  const auto header = elf_at<Elf64_Ehdr>(contents, 0);
  if (!header) return fail(Errc::kNotALibrary, fmt::format("{} is not a shared library: it ends after {} bytes", name, contents.size()));
  if (header->e_type != ET_DYN) {
    return fail(Errc::kNotALibrary, fmt::format("{} is not a shared library but another kind of ELF file (type {})", name, header->e_type));
  }
  ElfSymbols symbols;
  if (header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr)) return symbols;
  for (std::uint16_t i = 0; i < header->e_shnum; ++i) {
    const auto section = elf_at<Elf64_Shdr>(contents, header->e_shoff + std::uint64_t{i} * sizeof(Elf64_Shdr));
    if (!section) return fail(Errc::kNotALibrary, fmt::format("{} is cut short: its section table is not there", name));
    if (section->sh_type == SHT_DYNSYM) read_symbols(contents, *header, *section, symbols);
  }
  return symbols;
}

std::string_view sanitizer_of(const ElfSymbols& symbols) {
  const auto refers_to = [&](std::string_view prefix) {
    return std::ranges::any_of(symbols.undefined, [&](const std::string& symbol) { return symbol.starts_with(prefix); });
  };
  return refers_to("__asan_") ? "+asan" : refers_to("__tsan_") ? "+tsan" : refers_to("__msan_") ? "+msan" : "";
}

std::string_view sanitizer_name(std::string_view tag) {
  return tag == "+asan" ? "AddressSanitizer" : tag == "+tsan" ? "ThreadSanitizer" : tag == "+msan" ? "MemorySanitizer" : "no sanitizer";
}

Result<void> check_symbols(const ElfSymbols& symbols, std::string_view own_sanitizer, std::string_view name) {
  if (!symbols.has_table) return {};
  if (std::ranges::find(symbols.defined, SLUICE_ENTRY_SYMBOL) == symbols.defined.end()) {
    for (const std::string& symbol : symbols.defined) {
      std::uint32_t major = 0;
      if (!symbol.starts_with(kEntryPrefix)) continue;
      const char* digits = symbol.data() + kEntryPrefix.size();
      const auto parsed = std::from_chars(digits, symbol.data() + symbol.size(), major);
      if (parsed.ec != std::errc() || parsed.ptr != symbol.data() + symbol.size()) continue;
      return fail(
          major > SLUICE_ABI_MAJOR ? Errc::kTooNew : Errc::kTooOld,
          fmt::format("{} was built for major {} of the plugin interface, this Sluice has major {}", name, major, SLUICE_ABI_MAJOR));
    }
    return fail(Errc::kNoEntrySymbol,
                fmt::format("{} is a shared library, but not a Sluice plugin: it does not export {}", name, SLUICE_ENTRY_SYMBOL));
  }
  const std::string_view sanitizer = sanitizer_of(symbols);
  if (sanitizer != own_sanitizer) {
    return fail(Errc::kSanitizerMismatch, fmt::format("{} was built with {}, this Sluice with {}: build both with the same preset", name,
                                                      sanitizer_name(sanitizer), sanitizer_name(own_sanitizer)));
  }
  return {};
}

}  // namespace sluice::plugin
