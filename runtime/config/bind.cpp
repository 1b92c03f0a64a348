// SPDX-License-Identifier: Apache-2.0
#include "runtime/config/bind.hpp"

#include <initializer_list>
#include <set>

#include <fmt/format.h>
#include <sluice/duration.hpp>
#include <sluice/size.hpp>

#include "runtime/base/time_format.hpp"
#include "runtime/config/schemas.hpp"
#include "runtime/config/validate.hpp"

namespace sluice::config {
namespace {

// Reads a tree that validate() and fill_defaults() have been over: what is there has the right type.
class Reader {
 public:
  explicit Reader(const Tree& tree) : tree_(tree) {}

  [[nodiscard]] const Tree* find(std::initializer_list<std::string_view> path) const {
    const Tree* at = &tree_;
    for (const std::string_view key : path) {
      at = at->find(key);
      if (at == nullptr) return nullptr;
    }
    return at;
  }
  template <typename T>
  [[nodiscard]] std::optional<T> maybe(std::initializer_list<std::string_view> path) const {
    const Tree* found = find(path);
    const T* value = found == nullptr ? nullptr : found->get<T>();
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }
  [[nodiscard]] std::string text(std::initializer_list<std::string_view> path) const { return maybe<std::string>(path).value_or(""); }
  [[nodiscard]] bool flag(std::initializer_list<std::string_view> path) const { return maybe<bool>(path).value_or(false); }
  template <typename T>
  [[nodiscard]] T count(std::initializer_list<std::string_view> path) const {
    return static_cast<T>(maybe<std::int64_t>(path).value_or(0));
  }
  [[nodiscard]] std::chrono::milliseconds duration(std::initializer_list<std::string_view> path) const {
    return parse_duration(text(path)).value_or(std::chrono::milliseconds{0});
  }
  [[nodiscard]] std::optional<std::chrono::milliseconds> maybe_duration(std::initializer_list<std::string_view> path) const {
    return parse_duration(text(path));
  }
  [[nodiscard]] std::optional<std::uint64_t> maybe_size(std::initializer_list<std::string_view> path) const {
    const auto size = parse_size(text(path));
    return size ? std::optional(size->bytes) : std::nullopt;
  }
  [[nodiscard]] std::uint64_t size(std::initializer_list<std::string_view> path) const { return maybe_size(path).value_or(0); }
  [[nodiscard]] std::vector<std::string> texts(std::initializer_list<std::string_view> path) const {
    std::vector<std::string> out;
    const Tree* found = find(path);
    const auto* items = found == nullptr ? nullptr : found->get<Tree::Array>();
    if (items == nullptr) return out;
    for (const Tree& item : *items) out.push_back(item.get<std::string>() == nullptr ? "" : *item.get<std::string>());
    return out;
  }

 private:
  const Tree& tree_;
};

Disposition disposition(const std::string& text) {
  if (text == "skip") return Disposition::kSkip;
  return text == "dead_letter" ? Disposition::kDeadLetter : Disposition::kStop;
}

StartFrom start_from(const std::string& text) {
  if (text == "latest") return StartLatest{};
  if (const auto time = parse_rfc3339(text)) return *time;
  return StartEarliest{};
}

Ordering ordering(const std::string& text) {
  if (text == "key") return Ordering::kKey;
  return text == "none" ? Ordering::kNone : Ordering::kPartition;
}

FailureConfig bind_failure(const Reader& reader) {
  FailureConfig out;
  const auto attempts = reader.maybe<std::int64_t>({"failure", "transient", "policy"});
  if (attempts) out.transient.attempts_max = static_cast<std::uint32_t>(*attempts);
  const std::string policy = reader.text({"failure", "transient", "policy"});
  if (const auto duration = parse_duration(policy)) out.transient.duration_max = *duration;
  out.transient.then = disposition(reader.text({"failure", "transient", "then"}));
  out.record = disposition(reader.text({"failure", "record"}));
  out.dead_letter_ratio_max = reader.maybe<double>({"failure", "dead_letter", "max_ratio"}).value_or(out.dead_letter_ratio_max);
  return out;
}

BatchingConfig bind_batching(const Reader& reader) {
  return {.records_max = reader.count<std::uint32_t>({"batching", "max_records"}),
          .bytes_max = reader.size({"batching", "max_bytes"}),
          .linger = reader.duration({"batching", "linger"}),
          .unacked_records_max = reader.count<std::uint64_t>({"batching", "max_unacked_records"}),
          .unacked_bytes_max = reader.size({"batching", "max_unacked_bytes"})};
}

StreamConfig bind_stream(const Reader& reader) {
  return {.name = {.stream = reader.text({"stream"}), .topic = reader.text({"topic"})},
          .topic = {.partitions = reader.count<std::uint32_t>({"partitions"}),
                    .enforce_fsync = reader.flag({"enforce_fsync"}),
                    .flush_interval = reader.duration({"flush_interval"}),
                    .segment_bytes = reader.size({"segment_bytes"}),
                    .retention = {.bytes = reader.maybe_size({"retention", "bytes"}),
                                  .wait_for_consumers = reader.flag({"retention", "wait_for_consumers"}),
                                  .hard_bytes = reader.maybe_size({"retention", "hard_bytes"}),
                                  .age = reader.maybe_duration({"retention", "age"})}}};
}

// `low` must not be above `high`; the finding is where the one stands that was written.
template <typename T>
void require_order(const Reader& reader, std::initializer_list<std::string_view> low, T low_value,
                   std::initializer_list<std::string_view> high, T high_value, std::string_view prefix, std::vector<Finding>& findings) {
  if (low_value <= high_value) return;
  const Tree* low_tree = reader.find(low);
  const Tree* high_tree = reader.find(high);
  const bool high_is_written = high_tree != nullptr && !(high_tree->origin.file.empty() && high_tree->origin.variable.empty());
  const Tree* at = high_is_written ? high_tree : low_tree;
  findings.push_back(error_at(at == nullptr ? Origin{} : at->origin,
                              fmt::format("`{}{}` must not be above `{}{}`", prefix, fmt::join(low, "."), prefix, fmt::join(high, "."))));
}

}  // namespace

DaemonConfig bind_daemon(const Tree& tree, const std::filesystem::path& file) {
  const Reader reader(tree);
  const auto absolute = [&](const std::string& path) { return (file.parent_path() / path).lexically_normal(); };
  DaemonConfig out;
  out.file = file;
  if (const std::string data_dir = reader.text({"data_dir"}); !data_dir.empty()) out.data_dir = absolute(data_dir);
  if (const std::string runtime_dir = reader.text({"runtime_dir"}); !runtime_dir.empty()) out.runtime_dir = absolute(runtime_dir);
  out.connectors_dir = absolute(reader.text({"connectors_dir"}));
  for (const std::string& path : reader.texts({"plugins", "path"})) out.plugin_path.push_back(absolute(path));
  out.shards = reader.count<std::uint32_t>({"shards"});
  out.shutdown_deadline = reader.duration({"shutdown_deadline"});
  out.plugin_probe_timeout = reader.duration({"plugins", "probe_timeout"});
  out.http.address = reader.text({"http", "address"});
  const std::string socket = reader.text({"http", "socket"});
  if (!socket.empty()) {
    out.http.socket = absolute(socket);
  } else if (!out.data_dir.empty()) {
    out.http.socket = out.data_dir / "sluice.sock";
  }
  out.http.allowed_hosts = reader.texts({"http", "allowed_hosts"});
  out.log.level = reader.text({"log", "level"});
  out.log.format = reader.text({"log", "format"});
  out.recovery.verify_sealed = reader.text({"recovery", "verify"}) == "full";
  out.recovery.scrub_bytes_per_second = reader.size({"recovery", "scrub_rate"});
  out.recovery.scrub_interval = reader.duration({"recovery", "scrub_interval"});
  return out;
}

ConnectorConfig bind_connector(const Tree& tree) {
  const Reader reader(tree);
  ConnectorConfig out;
  out.key = reader.text({"key"});
  out.type = reader.text({"type"}) == "sink" ? ConnectorType::kSink : ConnectorType::kSource;
  out.plugin = reader.text({"plugin"});
  out.connector = reader.text({"connector"});
  out.enabled = reader.flag({"enabled"});
  out.start_from = start_from(reader.text({"start_from"}));
  out.out_of_range_to_earliest = reader.text({"on_out_of_range"}) == "earliest";
  out.ordering = ordering(reader.text({"ordering"}));
  if (reader.find({"rate_limit", "records_per_second"}) != nullptr) {
    out.records_per_second_max = reader.count<std::uint64_t>({"rate_limit", "records_per_second"});
  }
  out.stall_after = reader.duration({"stall_after"});
  out.record_bytes_max = reader.size({"max_record_bytes"});
  out.failure = bind_failure(reader);
  out.batching = bind_batching(reader);
  out.restart = {.enabled = reader.flag({"restart", "enabled"}),
                 .base_delay = reader.duration({"restart", "base_delay"}),
                 .max_delay = reader.duration({"restart", "max_delay"})};
  out.isolation = reader.text({"isolation"}) == "process" ? Isolation::kProcess : Isolation::kInProcess;
  out.process = {.memory_bytes_max = reader.size({"process", "memory_max"}), .call_timeout = reader.duration({"process", "call_timeout"})};
  if (const Tree* streams = tree.find("streams"); streams != nullptr && streams->get<Tree::Array>() != nullptr) {
    for (const Tree& stream : *streams->get<Tree::Array>()) out.streams.push_back(bind_stream(Reader(stream)));
  }
  out.origin = tree.origin;
  return out;
}

void check_written(const Tree& tree, std::vector<Finding>& findings) {
  if (Reader(tree).text({"type"}) != "source") return;
  for (const Schema& member : connector_schema().members) {
    const Tree* found = member.is_sink_only ? tree.find(member.name) : nullptr;
    if (found != nullptr)
      findings.push_back(error_at(found->origin, fmt::format("`{}` is for sinks; this connector is a source", member.name)));
  }
}

void check_relations(const Tree& tree, std::vector<Finding>& findings) {
  const Reader reader(tree);
  require_order(reader, {"restart", "base_delay"}, reader.duration({"restart", "base_delay"}), {"restart", "max_delay"},
                reader.duration({"restart", "max_delay"}), "", findings);
  require_order(reader, {"batching", "max_records"}, reader.count<std::int64_t>({"batching", "max_records"}),
                {"batching", "max_unacked_records"}, reader.count<std::int64_t>({"batching", "max_unacked_records"}), "", findings);
  require_order(reader, {"batching", "max_bytes"}, reader.size({"batching", "max_bytes"}), {"batching", "max_unacked_bytes"},
                reader.size({"batching", "max_unacked_bytes"}), "", findings);
  const Tree* streams = tree.find("streams");
  if (streams == nullptr || streams->get<Tree::Array>() == nullptr) return;
  std::set<std::string> names;
  const auto& items = *streams->get<Tree::Array>();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Reader stream(items[i]);
    const std::string name = fmt::format("{}/{}", stream.text({"stream"}), stream.text({"topic"}));
    if (!names.insert(name).second) {
      findings.push_back(error_at(items[i].origin, fmt::format("`{}` names the topic {} a second time", item_path("streams", i), name)));
    }
    const std::string prefix = item_path("streams", i) + ".";
    if (const auto bytes = stream.maybe_size({"retention", "bytes"})) {
      require_order(stream, {"retention", "bytes"}, *bytes, {"retention", "hard_bytes"}, stream.size({"retention", "hard_bytes"}), prefix,
                    findings);
    }
    require_order(stream, {"segment_bytes"}, stream.size({"segment_bytes"}), {"retention", "hard_bytes"},
                  stream.size({"retention", "hard_bytes"}), prefix, findings);
  }
}

}  // namespace sluice::config
