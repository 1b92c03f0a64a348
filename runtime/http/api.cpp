// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/api.hpp"

#include <utility>
#include <vector>

#include "runtime/http/api_json.hpp"
#include "runtime/http/errc.hpp"
#include "runtime/http/status_json.hpp"
#include "runtime/metrics/exposition.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

Result<Response> ready_of_all(Api& api) {
  json::object out;
  const bool started = api.started;
  out["ready"] = started;
  json::array connectors;
  for (const auto& status : api.supervisor.list()) {
    json::object row;
    row["key"] = status.key;
    row["state"] = pipeline::to_string(status.state);
    row["ready"] = is_ready(status);
    connectors.push_back(std::move(row));
  }
  out["connectors"] = std::move(connectors);
  return json_response(out, started ? 200 : 503);
}

Result<Response> ready_of_one(Api& api, const Request& request) {
  SLUICE_CHECK(check_started(api));
  SLUICE_TRY(const auto status, api.supervisor.status(request.parameters.at("key")));
  json::object out;
  out["key"] = status.key;
  out["state"] = pipeline::to_string(status.state);
  out["ready"] = is_ready(status);
  return json_response(out, is_ready(status) ? 200 : 503);
}

Result<Response> metrics_text(Api& api) {
  SLUICE_TRY(auto topics, api.client.list_topics());
  metrics::Snapshot snapshot{.version = api.version,
                             .connectors = api.supervisor.list(),
                             .topics = std::move(topics),
                             .log_warnings = api.client.log_warnings(),
                             .storage = api.client.storage_room()};
  return Response{.content_type = std::string(metrics::kContentType), .body = metrics::expose(snapshot)};
}

}  // namespace

void add_health_routes(Router& router, Api& api) {
  add_version_routes(router, api.version);
  router.add({.method = "GET", .pattern = "/ready", .handler = answer_with([&api](const Request&) { return ready_of_all(api); })});
  router.add(
      {.method = "GET", .pattern = "/ready/{key}", .handler = answer_with([&api](const Request& r) { return ready_of_one(api, r); })});
  router.add({.method = "GET", .pattern = "/metrics", .handler = answer_with([&api](const Request&) { return metrics_text(api); })});
}

Result<void> check_started(const Api& api) {
  if (api.started) return {};
  return fail(Errc::kNotReady, "the connectors have not been started yet");
}

Router make_router(Api& api, const std::vector<std::string>& allowed_hosts) {
  Router router;
  router.allow_hosts(allowed_hosts);
  add_health_routes(router, api);
  add_topic_routes(router, api);
  add_record_routes(router, api);
  add_connector_routes(router, api);
  add_dead_letter_routes(router, api);
  return router;
}

}  // namespace sluice::http
