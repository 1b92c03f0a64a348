// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/remote.hpp"

#include <cstdlib>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <boost/json.hpp>

#include "core/client/topic.hpp"
#include "runtime/base/files.hpp"
#include "runtime/config/loader.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::app {

namespace json = boost::json;

namespace {

std::string text_of(const json::object& from, std::string_view name) {
  const json::value* value = from.if_contains(name);
  return value != nullptr && value->is_string() ? std::string(std::string_view(value->get_string())) : std::string();
}

Error refusal(const http::Response& response) {
  boost::system::error_code ignored;
  const json::value parsed = json::parse(response.body, ignored);
  const json::object* document = parsed.if_object();
  if (document == nullptr || text_of(*document, "detail").empty()) {
    return Error(http::Errc::kProtocol,
                 fmt::format("answered with status {} and no explanation; is this a sluice daemon?", response.status));
  }
  const bool may_be_later = response.status == 503 || response.status == 504;
  Error error(may_be_later ? http::Errc::kRemoteUnavailable : http::Errc::kRemote, text_of(*document, "detail"));
  error.with("code", text_of(*document, "code")).with("hint", text_of(*document, "hint"));
  if (const json::value* context = document->if_contains("context"); context != nullptr && context->is_object()) {
    for (const auto& field : context->get_object()) error.with(std::string(field.key()), text_of(context->get_object(), field.key()));
  }
  return error;
}

Result<std::uint16_t> bound_port(const config::DaemonConfig& daemon) {
  const auto file = daemon.data_dir / "http.port";
  auto text = files::read(file);
  const auto unbound = [&] {
    return fail(
        Error(http::Errc::kNoDaemon, fmt::format("no daemon runs on {}: there is no port in {}", daemon.data_dir.string(), file.string())));
  };
  if (!text) return unbound();
  const int port = std::atoi(text->c_str());
  if (port <= 0 || port > 65'535) return unbound();
  return static_cast<std::uint16_t>(port);
}

Result<http::Endpoint> configured_endpoint(const config::DaemonConfig& daemon) {
  std::error_code ignored;
  if (std::filesystem::is_socket(daemon.http.socket, ignored)) return http::Endpoint{.host = {}, .port = 0, .socket = daemon.http.socket};
  SLUICE_TRY(http::Endpoint endpoint, http::parse_endpoint("http://" + daemon.http.address));
  if (endpoint.port == 0) {
    SLUICE_TRY(endpoint.port, bound_port(daemon));
  }
  return endpoint;
}

}  // namespace

Result<Remote> Remote::find(const ServerOptions& options) {
  if (!options.server.empty()) {
    SLUICE_TRY(auto endpoint, http::parse_endpoint(options.server));
    return Remote(std::move(endpoint));
  }
  SLUICE_TRY(const auto daemon, config::load_daemon_config(options.config, config::process_environment()));
  SLUICE_TRY(auto endpoint, configured_endpoint(daemon));
  return Remote(std::move(endpoint));
}

Result<http::Response> Remote::fetch(const http::Call& call) const {
  SLUICE_TRY(auto response, http::call(endpoint_, call));
  if (response.status < 200 || response.status > 299) return fail(refusal(response));
  return response;
}

Result<json::value> Remote::get(std::string target, std::chrono::milliseconds timeout) const {
  SLUICE_TRY(const auto response, fetch({.target = std::move(target), .timeout = timeout}));
  boost::system::error_code error;
  json::value value = json::parse(response.body, error);
  if (error) return fail(http::Errc::kProtocol, fmt::format("the answer is not JSON: {}", error.message()));
  return value;
}

Result<json::value> Remote::post(std::string target, const json::value& body) const {
  SLUICE_TRY(const auto response, fetch({.method = "POST", .target = std::move(target), .body = json::serialize(body)}));
  boost::system::error_code error;
  json::value value = json::parse(response.body, error);
  if (error) return fail(http::Errc::kProtocol, fmt::format("the answer is not JSON: {}", error.message()));
  return value;
}

Result<std::string> topic_target(std::string_view topic) {
  SLUICE_TRY(const auto name, client::parse_topic_name(topic));
  return fmt::format("/api/v1/topics/{}/{}", http::encode_component(name.stream), http::encode_component(name.topic));
}

std::string connector_target(std::string_view key) {
  return fmt::format("/api/v1/connectors/{}", http::encode_component(key));
}

}  // namespace sluice::app
