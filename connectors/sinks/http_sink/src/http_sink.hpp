// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <sluice/http_client.hpp>
#include <sluice/plugin.hpp>
#include <sluice/sink.hpp>

#include "http_sink_config.hpp"

namespace sluice::http_sink {

// Sends records to an HTTP endpoint, one request at a time, in the order of the partition: the first failure ends the attempt, except for
// records that the endpoint has refused for good while it took later ones of the same request. Each record carries its dedup key, so that
// the receiver can drop what it has seen. A request with many records that is refused for what is in it is halved until the record to blame
// is alone.
class HttpSink final : public Sink {
 public:
  using Config = HttpSinkConfig;
  static constexpr Descriptor kDescriptor{.id = "http_sink", .summary = "Records to an HTTP endpoint, one by one or in bulk"};

  HttpSink(Config config, Context& context);

  void open() override;
  void write(const Batch& batch, WriteResult& result) override;

 private:
  // Throws if records have no chance: no way to the server, credentials refused, path unknown.
  void probe();
  struct Chunk {
    std::uint32_t first;
    std::uint32_t count;
  };
  enum class Attempt : std::uint8_t { kGoesOn, kEnded };

  [[nodiscard]] Chunk next_chunk(const Batch& batch, std::uint32_t first);
  // Fills body_ and names its content type.
  [[nodiscard]] std::string_view encode(const Batch& batch, Chunk chunk);
  [[nodiscard]] const HttpResult& send(const Batch& batch, Chunk chunk);
  [[nodiscard]] Attempt deliver(const Batch& batch, Chunk chunk, WriteResult& result);
  [[nodiscard]] Attempt settle_items(Chunk chunk, const HttpResult& answer, WriteResult& result);
  [[nodiscard]] bool resending_is_harmless() const { return config_.idempotent || config_.method == Method::kPut; }

  Config config_;
  Context& context_;
  std::unique_ptr<HttpClient> client_;
  std::vector<HttpHeader> headers_;
  bool has_content_type_ = false;
  std::string shown_url_;
  std::string key_;
  std::string body_;
};

}  // namespace sluice::http_sink
