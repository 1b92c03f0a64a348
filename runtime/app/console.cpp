// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/console.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "runtime/app/error_catalog.hpp"
#include "runtime/base/text.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

constexpr std::size_t kShownBytesMax = 16u << 10;

void indent_json(std::string& out, const json::value& value, std::size_t depth) {
  const std::string inner((depth + 1) * 2, ' ');
  const std::string outer(depth * 2, ' ');
  bool first = true;
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    out += "{\n";
    for (const auto& field : *object) {
      out += first ? inner : ",\n" + inner;
      out += json::serialize(json::string(field.key())) + ": ";
      indent_json(out, field.value(), depth + 1);
      first = false;
    }
    out += "\n" + outer + "}";
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    out += "[\n";
    for (const json::value& item : *array) {
      out += first ? inner : ",\n" + inner;
      indent_json(out, item, depth + 1);
      first = false;
    }
    out += "\n" + outer + "]";
  } else {
    out += json::serialize(value);
  }
}

ExitCode exit_code_of(const Error& error) {
  if (error.is(http::Errc::kNoDaemon)) return ExitCode::kNoDaemon;
  if (error.code().starts_with("config.")) return ExitCode::kConfigInvalid;
  if (error.code() == "storage.locked") return ExitCode::kLocked;
  return ExitCode::kFailure;
}

// A refusal of the daemon carries the daemon's own code and hint in its context.
struct Told {
  std::string code;
  std::string hint;
  json::object context;
};

Told told(const Error& error) {
  Told out{.code = std::string(error.code()), .hint = std::string(error.explanation()), .context = {}};
  const bool remote = error.is(http::Errc::kRemote) || error.is(http::Errc::kRemoteUnavailable);
  for (const auto& [key, value] : error.context()) {
    if (remote && key == "code") {
      out.code = value;
    } else if (remote && key == "hint") {
      out.hint = value;
    } else {
      out.context[key] = value;
    }
  }
  return out;
}

}  // namespace

void Console::print(std::string_view text) const {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void Console::print_json(const json::value& value) const {
  std::string out;
  indent_json(out, value, 0);
  print(out + "\n");
}

void Console::warn(std::string_view text) const {
  fmt::print(stderr, "{}\n", text);
}

ExitCode Console::report(const Error& error) const {
  const Told shown = told(error);
  if (json_) {
    json::object body;
    body["code"] = shown.code;
    body["message"] = error.message();
    body["hint"] = shown.hint;
    body["context"] = shown.context;
    json::object document;
    document["error"] = std::move(body);
    fmt::print(stderr, "{}\n", json::serialize(document));
  } else {
    fmt::print(stderr, "error: {} [{}]\n", error.message(), shown.code);
    for (const auto& field : shown.context) {
      fmt::print(stderr, "  {}: {}\n", std::string_view(field.key()),
                 clean_text(std::string_view(field.value().as_string()), kShownBytesMax));
    }
    if (!shown.hint.empty()) fmt::print(stderr, "  {}\n", shown.hint);
  }
  return exit_code_of(error);
}

bool flush_output() {
  return std::fflush(stdout) == 0 && std::ferror(stdout) == 0;
}

}  // namespace sluice::app
