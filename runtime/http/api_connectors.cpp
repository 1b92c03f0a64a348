// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "runtime/http/api.hpp"
#include "runtime/http/api_json.hpp"
#include "runtime/http/status_json.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

const std::string& key_of(const Request& request) {
  return request.parameters.at("key");
}

Result<Response> list_connectors(Api& api) {
  json::object out;
  json::array rows;
  for (const auto& status : api.supervisor.list()) rows.push_back(connector_summary_json(status));
  out["connectors"] = std::move(rows);
  return json_response(out);
}

Result<Response> show_connector(Api& api, const Request& request) {
  SLUICE_TRY(const auto status, api.supervisor.status(key_of(request)));
  return json_response(connector_json(status));
}

Result<Response> explain_connector(Api& api, const Request& request) {
  SLUICE_TRY(const auto status, api.supervisor.status(key_of(request)));
  return json_response(why_json(status, api.clock.wall()));
}

Result<Response> audit_connector(Api& api, const Request& request) {
  SLUICE_TRY(const auto rows, api.supervisor.audit(key_of(request), request.stop));
  return json_response(audit_json(key_of(request), rows));
}

Result<Response> show_state(Api& api, const Request& request) {
  SLUICE_TRY(const auto state, api.supervisor.source_state(key_of(request)));
  return json_response(source_state_json(key_of(request), state));
}

// pause, resume, restart: done, and what the connector says of itself now.
using Action = Result<void> (pipeline::Supervisor::*)(const std::string&);
Handler action(Api& api, Action act) {
  return answer_with([&api, act](const Request& request) -> Result<Response> {
    SLUICE_TRY(const auto fields, body_object(request, {}));
    SLUICE_CHECK(check_started(api));
    SLUICE_CHECK((api.supervisor.*act)(key_of(request)));
    SLUICE_TRY(const auto status, api.supervisor.status(key_of(request)));
    return json_response(connector_summary_json(status));
  });
}

}  // namespace

void add_connector_routes(Router& router, Api& api) {
  const auto get = [&](std::string pattern, Result<Response> (*handle)(Api&, const Request&)) {
    router.add(
        {.method = "GET", .pattern = std::move(pattern), .handler = answer_with([&api, handle](const Request& r) -> Result<Response> {
                                                           SLUICE_CHECK(check_started(api));
                                                           return handle(api, r);
                                                         })});
  };
  router.add({.method = "GET", .pattern = "/api/v1/connectors", .handler = answer_with([&api](const Request&) -> Result<Response> {
                                                                  SLUICE_CHECK(check_started(api));
                                                                  return list_connectors(api);
                                                                })});
  get("/api/v1/connectors/{key}", show_connector);
  get("/api/v1/connectors/{key}/why", explain_connector);
  get("/api/v1/connectors/{key}/audit", audit_connector);
  get("/api/v1/connectors/{key}/state", show_state);
  router.add({.method = "POST", .pattern = "/api/v1/connectors/{key}/pause", .handler = action(api, &pipeline::Supervisor::pause)});
  router.add({.method = "POST", .pattern = "/api/v1/connectors/{key}/resume", .handler = action(api, &pipeline::Supervisor::resume)});
  router.add({.method = "POST", .pattern = "/api/v1/connectors/{key}/restart", .handler = action(api, &pipeline::Supervisor::restart)});
}

}  // namespace sluice::http
