// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/error_catalog.hpp"

#include <algorithm>

#include "core/client/client.hpp"
#include "core/entry/errc.hpp"
#include "core/log/errc.hpp"
#include "core/metadata/errc.hpp"
#include "core/node/errc.hpp"
#include "core/partition/errc.hpp"
#include "core/storage/errc.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/pipeline/supervisor.hpp"
#include "runtime/plugin/plugin.hpp"

namespace sluice::app {

namespace {

// Whether the enum has a name for the value: compilers write an enumerator by its name, and any other value as a cast.
template <auto Code>
consteval bool has_name() {
  const std::string_view text = __PRETTY_FUNCTION__;  // "… [Code = sluice::Errc::kIo]"
  return text.substr(text.rfind("Code = ")).find('(') == std::string_view::npos;
}

// Enumerators are dense, from 0.
template <ErrorEnum E, std::size_t Code = 0>
consteval std::size_t count_codes() {
  if constexpr (has_name<static_cast<E>(Code)>()) {
    return count_codes<E, Code + 1>();
  } else {
    return Code;
  }
}

template <ErrorEnum E>
void append_codes(std::vector<const ErrorInfo*>& out) {
  for (std::size_t code = 0; code < count_codes<E>(); ++code) out.push_back(&error_info(static_cast<E>(code)));
}

std::vector<const ErrorInfo*> collect() {
  std::vector<const ErrorInfo*> out;
  append_codes<sluice::Errc>(out);
  append_codes<entry::Errc>(out);
  append_codes<storage::Errc>(out);
  append_codes<log::Errc>(out);
  append_codes<metadata::Errc>(out);
  append_codes<partition::Errc>(out);
  append_codes<node::Errc>(out);
  append_codes<client::Errc>(out);
  append_codes<config::Errc>(out);
  append_codes<plugin::Errc>(out);
  append_codes<pipeline::Errc>(out);
  append_codes<http::Errc>(out);
  // core/client hands on the rows of the libraries below it.
  std::ranges::sort(out, {}, [](const ErrorInfo* info) { return info->name; });
  out.erase(std::ranges::unique(out).begin(), out.end());
  return out;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0U : 1U)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::span<const ErrorInfo* const> error_catalog() {
  static const std::vector<const ErrorInfo*> kCatalog = collect();
  return kCatalog;
}

const ErrorInfo* find_error(std::string_view name) {
  const auto catalog = error_catalog();
  const auto found = std::ranges::find(catalog, name, [](const ErrorInfo* info) { return info->name; });
  return found == catalog.end() ? nullptr : *found;
}

std::string_view nearest_error(std::string_view name) {
  const std::string_view bounded = name.substr(0, 64);
  return (*std::ranges::min_element(error_catalog(), {}, [&](const ErrorInfo* info) { return edit_distance(bounded, info->name); }))->name;
}

}  // namespace sluice::app
