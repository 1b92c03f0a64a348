// SPDX-License-Identifier: Apache-2.0
#include "http_sink_config.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string_view>

#include "item_report.hpp"

namespace sluice::http_sink {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

bool is_header_name(std::string_view name) {
  static constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  const auto is_token = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || kMarks.find(c) != std::string_view::npos;
  };
  return !name.empty() && std::all_of(name.begin(), name.end(), is_token);
}

void validate_header(const std::string& name, const Secret& value) {
  static constexpr std::array<std::string_view, 4> kOurs{"Idempotency-Key", "Content-Length", "Transfer-Encoding", "Host"};
  if (!is_header_name(name)) throw ConfigError("/headers", fmt::format("\"{}\" is not a name of an HTTP header", name));
  const std::string pointer = "/headers/" + name;
  if (std::any_of(kOurs.begin(), kOurs.end(), [&](std::string_view ours) { return is_same_header(ours, name); })) {
    throw ConfigError(pointer, fmt::format("the header {} is set by http_sink itself", name));
  }
  const auto is_control = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; };
  const std::string_view text = value.reveal();
  if (std::any_of(text.begin(), text.end(), is_control)) {
    throw ConfigError(pointer, fmt::format("the value of the header {} has a line break or another control character", name));
  }
}

}  // namespace

bool is_same_header(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

void ItemsConfig::bind(Binding<ItemsConfig>& b) {
  b.optional(
      "list", &ItemsConfig::list, "", {.min = 0, .max = 512},
      "JSON pointer to the list of results in an answer, one per record in order, for example /items; empty = the answer is the list.");
  b.optional("status", &ItemsConfig::status, "", {.min = 0, .max = 512},
             "JSON pointer from an item to its HTTP status, for example /index/status; empty = items have none.");
  b.optional(
      "error", &ItemsConfig::error, "", {.min = 0, .max = 512},
      "JSON pointer from an item to its error, for example /index/error: the item has failed if anything but null or false is there.");
}

void HttpSinkConfig::bind(Binding<HttpSinkConfig>& b) {
  b.required("url", &HttpSinkConfig::url, {.min = 1, .max = 4096}, "Where records go, http:// or https://.");
  b.optional("method", &HttpSinkConfig::method, Method::kPost, "POST, PUT or PATCH.");
  b.optional("mode", &HttpSinkConfig::mode, Mode::kIndividual,
             "individual: a request per record, its payload as body; ndjson, json_array: many records.");
  b.optional("headers", &HttpSinkConfig::headers, {}, {.min = 0, .max = 64},
             "Headers of each request, for example Authorization; their values are secret.");
  b.optional("idempotent", &HttpSinkConfig::idempotent, false,
             "The receiver drops what it has seen, by Idempotency-Key or id: then a request without an answer is no possible duplicate.");
  b.optional("max_records", &HttpSinkConfig::max_records, 500, {1, 10'000}, "Records of one request, for ndjson and json_array.");
  b.optional("max_bytes", &HttpSinkConfig::max_bytes, 1 * kMiB, {1 * kKiB, 64 * kMiB},
             "Body of one request, for ndjson and json_array; one record always goes.");
  b.optional("connect_timeout", &HttpSinkConfig::connect_timeout, seconds(10), {milliseconds(10), hours(1)},
             "For name, TCP and TLS together.");
  b.optional("timeout", &HttpSinkConfig::timeout, seconds(30), {milliseconds(10), hours(1)}, "For a whole request.");
  b.optional("ca_file", &HttpSinkConfig::ca_file, "", {.min = 0, .max = 4000},
             "PEM file of trusted authorities; empty = the system's. TLS is always verified.");
  b.optional(
      "probe", &HttpSinkConfig::probe, Probe::kHead,
      "The request to url, with the headers, that is made before the first record: it finds out whether there is a way to the server, "
      "and whether it takes the credentials and knows the path. none: the first record finds out.");
  b.section("items", &HttpSinkConfig::items,
            "How an answer tells the fate of each record, for bulk endpoints that answer 200 all the same.");
}

void HttpSinkConfig::validate() const {
  if (!url.starts_with("http://") && !url.starts_with("https://")) {
    throw ConfigError("/url", "the URL begins neither with http:// nor with https://");
  }
  for (const auto& [name, value] : headers) validate_header(name, value);
  if (mode == Mode::kIndividual && items.is_used()) {
    throw ConfigError("/items", "in mode individual an answer is for one record, and its own status tells what became of it");
  }
  if (!items.list.empty() && !items.is_used()) {
    throw ConfigError("/items", "items.list without items.status or items.error tells nothing about an item");
  }
  for (const auto& [key, pointer] :
       {std::pair("list", &items.list), std::pair("status", &items.status), std::pair("error", &items.error)}) {
    if (!is_json_pointer(*pointer))
      throw ConfigError(fmt::format("/items/{}", key), fmt::format("\"{}\" is not a JSON pointer, such as /items/0", *pointer));
  }
}

}  // namespace sluice::http_sink
