// SPDX-License-Identifier: Apache-2.0
// One HTTP request at a time, cancellable at any moment, also in name resolution, and bounded in time and memory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>

#include <sluice/duration.hpp>
#include <sluice/outcome.hpp>
#include <sluice/outcome_class.hpp>
#include <sluice/size.hpp>

namespace sluice {

struct HttpOptions {
  Duration connect_timeout{10'000};  // name, TCP and TLS together
  Duration total_timeout{30'000};    // of the whole request; > 0
  Size max_body = 1 * kMiB;          // of an answer; the rest is dropped
  std::string ca_file = {};          // PEM; empty = the system's. Certificates and names are always verified.
  std::string user_agent = "sluice";
};

// A view: everything must live until perform returns.
struct HttpHeader {
  std::string_view name;
  std::string_view value;  // may be a secret; it is never logged nor put into an error's text
};
struct HttpRequest {
  std::string_view method = "GET";
  std::string_view url;  // http or https; the environment's proxies are not used
  std::span<const HttpHeader> headers = {};
  std::string_view body = {};
  std::uint64_t deadline_ns = UINT64_MAX;  // on the steady clock: Context::deadline_ns; the earlier of it and total_timeout counts
};

enum class HttpEnd : std::uint8_t {
  kAnswered,            // `status` is what the server said; the body may be cut
  kNotSent,             // no byte of the request left: refused, unreachable, DNS, TLS, timed out while connecting, not a URL
  kBrokenWhileSending,  // reset or timed out before the whole request had left
  kBrokenAfterSending,  // reset or timed out afterwards: it may have taken effect
  kCancelled,
};

struct HttpResult {
  HttpEnd end = HttpEnd::kNotSent;
  int status = 0;
  std::string body;
  bool body_cut = false;    // longer than max_body
  Duration retry_after{0};  // the answer's Retry-After; 0 = no hint
  std::string problem;      // why there was no answer, for a person; without the URL
  std::string hint;         // what to do about it
};

// What the result means for what was sent: nothing for 2xx. `idempotent`: sending it again does no harm.
[[nodiscard]] std::optional<Outcome> http_outcome(const HttpResult& result, bool idempotent);

// Over libcurl's multi interface; connections are kept and used again. Redirects are not followed. Belongs to one [worker] at a time;
// the stop token may be requested by any thread and ends the running and every later request at once with kCancelled.
//
// A kept connection that the server has closed meanwhile is noticed at the next request, which libcurl then sends again on a new one:
// without an idempotency key a server that answers nothing before it closes may thus see a request twice.
class HttpClient {
 public:
  // Throws ConnectorError if libcurl cannot be set up.
  HttpClient(HttpOptions options, std::stop_token stop);
  HttpClient(const HttpClient&) = delete;
  HttpClient& operator=(const HttpClient&) = delete;
  ~HttpClient();

  // Never throws for what the network or the server does. The result is valid until the next call.
  [[nodiscard]] const HttpResult& perform(const HttpRequest& request);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace sluice
