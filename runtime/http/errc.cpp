// SPDX-License-Identifier: Apache-2.0
#include "runtime/http/errc.hpp"

#include <array>

namespace sluice::http {

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 17> kTable{{
      {"http.bad_request", ErrorKind::kInvalidInput,
       "The request cannot be understood; the message names the field or parameter and what is allowed."},
      {"http.unknown_host", ErrorKind::kInvalidInput,
       "The Host header names a host that this daemon does not answer for. Use localhost, or add the name to [http] allowed_hosts."},
      {"http.header_missing", ErrorKind::kInvalidInput, "A request that changes something needs the header X-Sluice-Request (any value)."},
      {"http.no_such_route", ErrorKind::kNotFound, "There is nothing at this path. docs/reference/http.md lists every route."},
      {"http.method_not_allowed", ErrorKind::kInvalidInput, "The path exists but not for this method; the Allow header lists the methods."},
      {"http.unsupported_media_type", ErrorKind::kInvalidInput, "A request that changes something needs Content-Type: application/json."},
      {"http.body_too_large", ErrorKind::kInvalidInput,
       "The request body is beyond the limit of its route. Send the records in several requests."},
      {"http.length_required", ErrorKind::kInvalidInput, "A request body needs a Content-Length; chunked bodies are not taken."},
      {"http.busy", ErrorKind::kRetry,
       "Too many requests are waiting or too many bytes are in flight. Try again after the seconds in Retry-After."},
      {"http.not_ready", ErrorKind::kRetry, "The daemon is still starting, or it is stopping. Try again."},
      {"http.address_not_allowed", ErrorKind::kInvalidInput,
       "Only loopback addresses may be used for [http] address: there is no TLS and no API key yet. Use 127.0.0.1:PORT or [::1]:PORT."},
      {"http.address_in_use", ErrorKind::kConflict,
       "Another process listens on this port. Stop it, or set another [http] address; port 0 takes any free one."},
      {"http.socket_in_use", ErrorKind::kConflict, "A live process answers on this Unix socket. Stop it, or set another [http] socket."},
      {"http.no_daemon", ErrorKind::kRetry,
       "No daemon answers at this address. Start it with `sluice run`, or name another with --server or --config."},
      {"http.protocol", ErrorKind::kGiveUp, "What answered does not speak the expected protocol, or the connection broke in the middle."},
      {"http.remote", ErrorKind::kGiveUp, "The daemon refused the request; its own code and message follow."},
      {"http.remote_unavailable", ErrorKind::kRetry, "The daemon cannot do it now; its own code and message follow. Try again."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

}  // namespace sluice::http
