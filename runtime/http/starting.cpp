// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/starting.hpp"

#include <utility>

#include "runtime/http/api_json.hpp"
#include "runtime/http/errc.hpp"

namespace sluice::http {

namespace json = boost::json;

namespace {

Response not_ready(const StartProgress& progress) {
  json::object recovery;
  recovery["partitions"] = progress.partitions;
  recovery["partitions_opened"] = progress.partitions_opened;
  recovery["bytes"] = progress.bytes;
  recovery["bytes_checked"] = progress.bytes_checked;
  json::object out;
  out["ready"] = false;
  out["recovery"] = std::move(recovery);
  out["connectors"] = json::array();
  return json_response(out, 503);
}

}  // namespace

Router make_starting_router(std::string version, std::function<StartProgress()> progress, const std::vector<std::string>& allowed_hosts) {
  Router router;
  router.allow_hosts(allowed_hosts);
  add_version_routes(router, std::move(version));
  router.add({.method = "GET", .pattern = "/ready", .handler = [progress = std::move(progress)](const Request&) {
                return not_ready(progress());
              }});
  router.refuse_others(Error(Errc::kNotReady, "the log is being opened; GET /ready says how far it is"));
  return router;
}

}  // namespace sluice::http
