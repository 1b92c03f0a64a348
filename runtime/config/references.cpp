// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/references.hpp"

#include <array>

#include <fmt/format.h>

#include "runtime/base/files.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/suggest.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

constexpr std::uint64_t kReferencedFileBytesMax = 64 * 1024;
constexpr std::size_t kShownReferenceBytesMax = 200;

std::expected<std::string, std::string> referenced_variable(std::string_view name, const Environment& environment) {
  const auto found = environment.find(std::string(name));
  if (found == environment.end()) return std::unexpected(fmt::format("environment variable {} is not set", name));
  if (!is_utf8(found->second)) return std::unexpected(fmt::format("environment variable {} is not UTF-8", name));
  return found->second;
}

std::expected<std::string, std::string> referenced_file(std::string_view path) {
  if (!path.starts_with('/')) return std::unexpected(fmt::format("the path `{}` must be absolute", path));
  auto contents = files::read(std::filesystem::path(path), kReferencedFileBytesMax);
  if (!contents) return std::unexpected(contents.error().message());
  if (contents->ends_with('\n')) contents->pop_back();
  if (contents->ends_with('\r')) contents->pop_back();
  if (!is_utf8(*contents)) return std::unexpected(fmt::format("{} is not UTF-8", path));
  return *std::move(contents);
}

bool is_scheme(std::string_view text) {
  return !text.empty() && text.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string_view::npos;
}

// Resolves the references of one text.
class ReferenceText {
 public:
  ReferenceText(std::string_view text, const Environment& environment) : rest_(text), environment_(environment) {}

  // The text with everything replaced, or what is wrong. Unchanged texts give nothing.
  std::expected<std::optional<std::string>, std::string> resolve() {
    std::string out;
    bool changed = false;
    while (!rest_.empty()) {
      const std::size_t at = rest_.find("${");
      if (at == std::string_view::npos) break;
      if (at > 0 && rest_[at - 1] == '$') {
        out.append(rest_.substr(0, at - 1)).append("${");
        rest_.remove_prefix(at + 2);
        changed = true;
        continue;
      }
      out.append(rest_.substr(0, at));
      rest_.remove_prefix(at);
      auto value = take_reference();
      if (!value) return std::unexpected(std::move(value).error());
      changed = changed || value->has_value();
      if (*value) inserted_.push_back(**value);
      out.append(value->value_or("${"));
    }
    if (!changed) return std::nullopt;
    return out.append(rest_);
  }
  [[nodiscard]] std::vector<std::string> take_inserted() { return std::move(inserted_); }

 private:
  // At "${": the value, or nothing if it only looks like a reference (a template of the plugin's own, such as ${topic}).
  std::expected<std::optional<std::string>, std::string> take_reference() {
    const std::size_t colon = rest_.find_first_of(":}$", 2);
    const std::size_t end = rest_.find('}');
    const std::string_view scheme = rest_.substr(2, colon == std::string_view::npos ? 0 : colon - 2);
    const bool has_scheme = colon != std::string_view::npos && rest_[colon] == ':' && is_scheme(scheme);
    if (!has_scheme) {
      rest_.remove_prefix(2);
      return std::nullopt;
    }
    if (end == std::string_view::npos) return std::unexpected(fmt::format("`${{{}:` has no closing brace", scheme));
    const std::string_view name = rest_.substr(colon + 1, end - colon - 1);
    const std::string shown = clean_text(rest_.substr(0, end + 1), kShownReferenceBytesMax);
    rest_.remove_prefix(end + 1);
    if (name.empty()) return std::unexpected(fmt::format("`{}` names nothing", shown));
    if (scheme != "env" && scheme != "file") {
      const std::array<std::string, 2> schemes{"env", "file"};
      return std::unexpected(fmt::format("`{}` is no reference that is known{} (write $${{ for a text that begins with ${{)", shown,
                                         did_you_mean(scheme, schemes)));
    }
    auto value = scheme == "env" ? referenced_variable(name, environment_) : referenced_file(name);
    if (!value) return std::unexpected(fmt::format("`{}` cannot be resolved: {}", shown, value.error()));
    return *std::move(value);
  }

  std::string_view rest_;
  const Environment& environment_;
  std::vector<std::string> inserted_;
};

}  // namespace

void resolve_references(Tree& tree, const Environment& environment, std::vector<Finding>& findings) {
  if (auto* table = tree.get<Tree::Table>()) {
    for (TreeMember& member : *table) resolve_references(member.value, environment, findings);
  } else if (auto* items = tree.get<Tree::Array>()) {
    for (Tree& item : *items) resolve_references(item, environment, findings);
  } else if (const auto* text = tree.get<std::string>()) {
    ReferenceText references(*text, environment);
    auto resolved = references.resolve();
    if (!resolved) {
      findings.push_back(error_at(tree.origin, std::move(resolved).error()));
    } else if (resolved->has_value()) {
      tree.value = **std::move(resolved);
      tree.is_external = true;
      tree.inserted = references.take_inserted();
    }
  }
}

}  // namespace sluice::config
