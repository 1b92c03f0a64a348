// SPDX-License-Identifier: Apache-2.0
#include "back_end.hpp"

#include <array>
#include <string>

#include <sluice/http_client.hpp>
#include <sluice/record_json.hpp>

namespace sink_template {
namespace {

// GET <connection_string>/health, and records as lines of JSON to POST <connection_string>/<target>. Each line's `id` is the dedup key, by
// which the server drops what it has seen.
class RealBackEnd final : public BackEnd {
 public:
  RealBackEnd(const Settings& settings, sluice::Context& context)
      : context_(context),
        url_(settings.connection_string.reveal()),
        target_(settings.target),
        authorization_(settings.auth_token.empty() ? "" : "Bearer " + std::string(settings.auth_token.reveal())),
        client_({.total_timeout = settings.timeout}, context.stop()) {}

  void connect() override { send("GET", url_ + "/health", ""); }

  void push(const sluice::Batch& batch, std::span<const sluice::Record> records) override {
    body_.clear();
    for (const sluice::Record& record : records) {
      sluice::append_record_json(batch, record, body_);
      body_ += '\n';
    }
    send("POST", url_ + "/" + target_, body_);
  }

 private:
  void send(std::string_view method, const std::string& url, std::string_view body) {
    const std::array<sluice::HttpHeader, 2> headers{{{"Content-Type", "application/x-ndjson"}, {"Authorization", authorization_}}};
    const sluice::HttpRequest request{.method = method,
                                      .url = url,
                                      .headers = std::span(headers).first(authorization_.empty() ? 1 : 2),
                                      .body = body,
                                      .deadline_ns = context_.deadline_ns()};
    if (const auto outcome = sluice::http_outcome(client_.perform(request), true)) throw sluice::OutcomeError(*outcome);
  }

  sluice::Context& context_;
  std::string url_;
  std::string target_;
  std::string authorization_;
  sluice::HttpClient client_;
  std::string body_;
};

}  // namespace

std::unique_ptr<BackEnd> make_back_end(const Settings& settings, sluice::Context& context) {
  return std::make_unique<RealBackEnd>(settings, context);
}

}  // namespace sink_template
