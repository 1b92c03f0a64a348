// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include <sluice/abi/connector.h>

#include "core/base/bytes.hpp"
#include "core/base/ids.hpp"
#include "core/entry/record.hpp"
#include "runtime/plugin/instance.hpp"

namespace sluice::plugin {

enum class AppendAnswer : std::uint8_t {
  kOk,
  kFull,     // not taken; the poll ends and the source gives it again
  kInvalid,  // no such output, or no such partition in it: the poll fails
};

// Where a poll's records go. Implemented by the pipeline; called on the worker's thread during poll() only.
class RecordSink {
 public:
  virtual ~RecordSink() = default;
  // Copies the record, whose bytes are the plugin's and valid for this call. Checked: within record_bytes_max and the header limits. An id
  // of zero means "make one", an origin timestamp of 0 "unknown". No partition: by the key's hash, without a key the whole poll to one
  // partition in turn.
  [[nodiscard]] virtual AppendAnswer append(const RecordView& record, std::uint32_t output, std::optional<PartitionIndex> partition) = 0;
  // A record that cannot be stored as it is (too large, headers beyond the limits): it goes by the failure policy, the poll goes on as if
  // it had been taken. `record` has those headers that are within the limits. kFull and kInvalid as above.
  [[nodiscard]] virtual AppendAnswer refuse(const RecordView& record, std::uint32_t output, const Outcome& why) = 0;
};

// What the log holds of a source.
struct SavedState {
  std::uint32_t version = 0;
  Bytes bytes;
};

struct PollRequest {
  std::uint32_t records_max = 1000;
  std::uint64_t bytes_max = 4ULL << 20;  // keys, payloads and headers; one record is taken even if it is larger
  Clock::Monotonic wait_until{0};
  std::uint64_t batch_id = 0;  // increasing; names the records in on_result()
};

struct PollReport {
  std::uint32_t records = 0;  // taken or refused by the RecordSink
  std::uint64_t bytes = 0;
  bool full = false;                // a record was turned away: poll again without waiting
  std::optional<ByteVector> state;  // holds once all these records are in the log; absent = unchanged
  std::optional<Outcome> failure;   // then the caller drops what the poll appended, and its state
};

// A source of a plugin. Everything it returns is checked; nothing it returns or throws harms the process.
// Thread: as SinkInstance. Life: create → [migrate_state] → open → (poll | on_result | pause | resume)* → close → destruction.
class SourceInstance final : public Instance {
 public:
  [[nodiscard]] static CallResult<std::unique_ptr<SourceInstance>> create(std::shared_ptr<LoadedPlugin> plugin, std::string_view connector,
                                                                          InstanceOptions options);
  [[nodiscard]] static CallResult<std::unique_ptr<SourceInstance>> create(const sluice_connector_factory& factory, std::uint32_t index,
                                                                          InstanceOptions options);

  // A state of an older version, in the version of the descriptor.
  [[nodiscard]] CallResult<ByteVector> migrate_state(const SavedState& from, const CallOptions& call);
  [[nodiscard]] CallResult<void> open(std::string_view config_json, const std::optional<SavedState>& state, const CallOptions& call);
  [[nodiscard]] PollReport poll(const PollRequest& request, RecordSink& records, const CallOptions& call);
  [[nodiscard]] CallResult<void> on_result(std::uint64_t batch_id, bool acknowledged, const CallOptions& call);
  [[nodiscard]] CallResult<void> pause(const CallOptions& call);
  [[nodiscard]] CallResult<void> resume(const CallOptions& call);
  [[nodiscard]] CallResult<void> close(const CallOptions& call);

 private:
  struct Core;
  explicit SourceInstance(std::unique_ptr<Core> core);
  using MakeTable = std::function<const sluice_source*(const sluice_host* host, const sluice_outcome_writer* failure)>;
  [[nodiscard]] static CallResult<std::unique_ptr<SourceInstance>> create(std::unique_ptr<Core> core, const MakeTable& make);
  [[nodiscard]] Core& core();
};

}  // namespace sluice::plugin
