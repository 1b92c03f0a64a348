// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/scaffold.hpp"

#include <algorithm>
#include <array>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "runtime/base/files.hpp"

namespace sluice::app {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kNameBytesMax = 40;
constexpr int kTemplateDepthMax = 4;

// What the name would collide with as a namespace, a macro, a target or a file beside it.
constexpr auto kReserved = std::to_array<std::string_view>(
    {"alignas",  "alignof",  "all",      "and",      "asm",     "auto",   "back_end", "bitand",    "bitor",     "bool",     "break",
     "case",     "catch",    "char",     "class",    "clean",   "close",  "compl",    "concept",   "connect",   "const",    "continue",
     "cursor",   "decltype", "default",  "delete",   "do",      "double", "else",     "enum",      "explicit",  "export",   "extern",
     "false",    "feed",     "float",    "for",      "friend",  "goto",   "help",     "if",        "index",     "inline",   "install",
     "int",      "kill",     "link",     "linux",    "long",    "main",   "mutable",  "namespace", "new",       "noexcept", "not",
     "nullptr",  "open",     "operator", "or",       "package", "pipe",   "plugin",   "private",   "protected", "public",   "random",
     "read",     "register", "remove",   "requires", "return",  "select", "send",     "settings",  "short",     "show",     "signal",
     "signed",   "sizeof",   "sluice",   "socket",   "stat",    "static", "std",      "struct",    "switch",    "sync",     "system",
     "template", "test",     "testing",  "this",     "throw",   "time",   "true",     "try",       "typedef",   "typeid",   "typename",
     "union",    "unix",     "unsigned", "using",    "virtual", "void",   "volatile", "while",     "write",     "xor"});

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

// acme_events → AcmeEvents.
std::string type_name(std::string_view name) {
  std::string out;
  bool at_start = true;
  for (const char c : name) {
    if (c != '_') out.push_back(at_start && is_lower(c) ? static_cast<char>(c - 'a' + 'A') : c);
    at_start = c == '_';
  }
  return out;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) text.replace(at, from.size(), to);
}

Error path_error(std::string what, const fs::path& path, const std::error_code& error) {
  return errno_error(error.value(), std::move(what)).with("path", path.string());
}

Result<void> copy_folder(const fs::path& from, const fs::path& to, const Scaffold& scaffold, int depth) {
  if (depth > kTemplateDepthMax) {
    return fail(Errc::kLimit, fmt::format("the template has folders more than {} deep at {}", kTemplateDepthMax, from.string()));
  }
  std::error_code error;
  if (!fs::create_directory(to, error)) return fail(path_error("cannot make the folder", to, error));
  fs::directory_iterator entries(from, error);
  for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
    const fs::path target = to / renamed(entries->path().filename().string(), scaffold);
    std::error_code unknown;
    if (entries->is_directory(unknown)) {
      SLUICE_CHECK(copy_folder(entries->path(), target, scaffold, depth + 1));
      continue;
    }
    SLUICE_TRY(std::string text, files::read(entries->path()));
    SLUICE_CHECK(files::write_atomically(target, renamed(std::move(text), scaffold)));
  }
  if (error) return fail(path_error("cannot read the template's folder", from, error));
  return {};
}

}  // namespace

Result<void> judge_connector_name(std::string_view name) {
  const auto refuse = [&](std::string_view why) {
    return fail(Errc::kInvalidArgument, fmt::format("'{}' cannot be the name of a connector: {}", name, why));
  };
  if (name.empty() || name.size() > kNameBytesMax) return refuse(fmt::format("it must have 1 to {} characters", kNameBytesMax));
  const bool has_good_characters =
      std::all_of(name.begin(), name.end(), [](char c) { return is_lower(c) || (c >= '0' && c <= '9') || c == '_'; });
  if (!is_lower(name.front()) || name.back() == '_' || name.find("__") != std::string_view::npos || !has_good_characters) {
    return refuse("use lower-case words of letters and digits with single underscores between them, such as acme_events");
  }
  if (std::find(kReserved.begin(), kReserved.end(), name) != kReserved.end()) {
    return refuse(fmt::format("C++, CMake or the template uses it; how about {}_io", name));
  }
  return {};
}

std::string renamed(std::string text, const Scaffold& scaffold) {
  const std::string old_name = scaffold.from.filename().string();
  replace_all(text, old_name, scaffold.name);
  replace_all(text, type_name(old_name), type_name(scaffold.name));
  return text;
}

Result<fs::path> write_scaffold(const Scaffold& scaffold) {
  SLUICE_CHECK(judge_connector_name(scaffold.name));
  std::error_code error;
  if (!fs::is_directory(scaffold.from, error)) {
    return fail(Errc::kNotFound, fmt::format("there is no template at {}; install the SDK beside this program: cmake --install BUILD "
                                             "--component sdk --prefix PREFIX",
                                             scaffold.from.string()));
  }
  if (!fs::is_directory(scaffold.into, error)) {
    return fail(Errc::kNotFound, fmt::format("{} is no folder; make it first, or name another with --dir", scaffold.into.string()));
  }
  fs::path folder = scaffold.into / scaffold.name;
  fs::path half = folder;
  half += ".partial";
  for (const fs::path& path : {folder, half}) {
    if (fs::symlink_status(path, error).type() != fs::file_type::not_found) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("{} is there already; remove it, or choose another name or another --dir", path.string()));
    }
  }
  auto copied = copy_folder(scaffold.from, half, scaffold, 0);
  if (copied) {
    fs::rename(half, folder, error);
    if (error) copied = fail(path_error("cannot move the new folder into place", folder, error));
  }
  if (!copied) {
    fs::remove_all(half, error);
    return fail(std::move(copied).error());
  }
  return folder;
}

}  // namespace sluice::app
