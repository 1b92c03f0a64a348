// SPDX-License-Identifier: Apache-2.0
#include "file_sink.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <system_error>

#include <sluice/record_json.hpp>

namespace sluice::file_sink {
namespace {

using std::chrono::hours;

bool is_out_of_space(int error_number) {
  return error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
}

// What Output throws, as the host understands it: no record is to blame, it tries again.
template <typename F>
auto with_output_errors(F&& work) {
  try {
    return work();
  } catch (const OutputMismatch& e) {
    throw ConnectorError(
        "file.mismatch", e.what(),
        {.hint = "put the files back as they were, or move the output and its .position file away together to begin anew"});
  } catch (const std::system_error& e) {
    if (is_out_of_space(e.code().value()))
      throw ConnectorError("file.no_space", e.what(), {.hint = "free some space; nothing is lost meanwhile"});
    throw ConnectorError("file.io", e.what());
  }
}

std::uint64_t to_ns(Duration duration) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(duration).count());
}

}  // namespace

void RotateConfig::bind(Binding<RotateConfig>& b) {
  b.optional("size", &RotateConfig::size, Size{0}, {Size{0}, 1024 * kGiB}, "The file is rotated once it is this long; 0 = never.");
  b.optional("interval", &RotateConfig::interval, Duration(0), {Duration(0), hours(24 * 366)},
             "The file is rotated this long after its first record; 0 = never.");
}

void FileSinkConfig::bind(Binding<FileSinkConfig>& b) {
  b.required("path", &FileSinkConfig::path, {.min = 2, .max = 4000}, "Absolute path of the output file. Its directory must exist.");
  b.optional("format", &FileSinkConfig::format, LineFormat::kNdjson,
             "ndjson: the whole record as one JSON object; raw: the payload alone.");
  b.optional("flush_interval", &FileSinkConfig::flush_interval, Duration(1000), {Duration(1), hours(1)},
             "Records are made durable at least this often while they come in.");
  b.optional("flush_bytes", &FileSinkConfig::flush_bytes, 4 * kMiB, {Size{1}, 256 * kMiB},
             "They are also made durable once there are this many bytes of them in memory.");
  b.section("rotate", &FileSinkConfig::rotate, "When the output file becomes <path>.000001, <path>.000002, …");
}

void FileSinkConfig::validate() const {
  if (!path.starts_with('/') || path.ends_with('/')) {
    throw ConfigError("/path", fmt::format("\"{}\" is not an absolute path of a file", path),
                      "begin it with /: the daemon's working directory is not a place to count on");
  }
}

void FileSink::open() {
  const std::string directory = config_.path.substr(0, config_.path.rfind('/') + 1);
  if (::access(directory.c_str(), W_OK | X_OK) != 0) {
    throw ConnectorError("file.directory", fmt::format("cannot write into {}: {}", directory, std::generic_category().message(errno)),
                         {.hint = "make the directory, or give the daemon's user the right to write there"});
  }
}

PartitionPosition& FileSink::position_of(std::string_view stream, std::string_view topic, std::uint32_t partition) {
  std::vector<PartitionPosition>& all = output_->position().partitions;
  const auto it = std::find_if(all.begin(), all.end(), [&](const PartitionPosition& p) {
    return p.partition == partition && p.topic == topic && p.stream == stream;
  });
  if (it != all.end()) return *it;
  return all.emplace_back(PartitionPosition{.stream = std::string(stream), .topic = std::string(topic), .partition = partition});
}

std::uint64_t FileSink::take_over(const Assignment& part) {
  PartitionPosition& position = position_of(part.stream(), part.topic(), part.partition());
  if (position.incarnation > part.incarnation()) {
    throw ConnectorError(
        "file.mismatch",
        fmt::format(
            "{} knows incarnation {} of {}/{}/{}, the records come from incarnation {}: the data directory is older than the output",
            output_->position_path(), position.incarnation, part.stream(), part.topic(), part.partition(), part.incarnation()),
        {.hint = "restore the newer data directory, or move the output and its .position file away together to begin anew"});
  }
  if (position.incarnation < part.incarnation()) {
    // New here, or the topic was made anew: its offsets begin again.
    position.incarnation = part.incarnation();
    position.next = part.committed_next();
  }
  return position.next;
}

void FileSink::assign(std::span<const Assignment> parts, std::span<std::uint64_t> resume_next) {
  context_.throw_if_cancelled();
  with_output_errors([&] {
    if (!output_) {
      const auto interval_us = std::chrono::microseconds(config_.rotate.interval).count();
      output_.emplace(OutputOptions{.path = config_.path, .rotate_bytes = config_.rotate.size.bytes, .rotate_interval_us = interval_us},
                      parts.front().cluster_id());
      flushed_ns_ = context_.monotonic_ns();
    }
    for (std::size_t i = 0; i < parts.size(); ++i) resume_next[i] = take_over(parts[i]);
  });
  for (const Assignment& part : parts) {
    PartitionKey key{part.stream(), part.topic(), part.partition()};
    Owned& owned = owned_[key];
    owned = {.stream = std::string(part.stream()), .topic = std::string(part.topic()), .abi = part.abi()};
    owned.abi.stream = abi_text(owned.stream);
    owned.abi.topic = abi_text(owned.topic);
  }
}

bool FileSink::encode(const Batch& batch, const Record& record, std::string& out) const {
  if (config_.format == LineFormat::kRaw) {
    if (record.is_tombstone()) return false;
    out.append(record.payload_or_empty());
  } else {
    append_record_json(batch, record, out);
  }
  out.push_back('\n');
  return true;
}

bool FileSink::flush_due() {
  return output_->pending().size() >= config_.flush_bytes.bytes || context_.monotonic_ns() - flushed_ns_ >= to_ns(config_.flush_interval);
}

void FileSink::flush_output() {
  with_output_errors([&] { output_->flush(context_.wall_us()); });
  flushed_ns_ = context_.monotonic_ns();
}

void FileSink::write(const Batch& batch, WriteResult& result) {
  context_.throw_if_cancelled();
  // What an earlier flush could not store comes first, so that memory stays bounded.
  if (output_->pending().size() >= config_.flush_bytes.bytes) flush_output();

  PartitionPosition& position = position_of(batch.stream(), batch.topic(), batch.partition());
  const std::uint64_t had_next = position.next;
  for (std::uint32_t i = 0; i < batch.size(); ++i) {
    const Record record = batch[i];
    // The host may not know yet that it was taken.
    if (record.offset() >= had_next) {
      if (!encode(batch, record, output_->pending())) {
        result.fail(i, RecordError("file.no_payload", "a record without payload (a tombstone) cannot be a raw line",
                                   {.hint = "use format = \"ndjson\", or filter tombstones out"})
                           .outcome());
        return;
      }
      position.next = record.offset() + 1;
    }
    result.accept_until(i + 1);
  }
  if (!flush_due()) return;
  flush_output();
  for (const auto& [key, owned] : owned_) {
    const Assignment part(owned.abi);
    const std::uint64_t next = position_of(part.stream(), part.topic(), part.partition()).next;
    if (part.partition() == batch.partition() && part.topic() == batch.topic() && part.stream() == batch.stream()) {
      result.durable_until(next);
    } else {
      result.durable_until(part, next);
    }
  }
}

void FileSink::flush(FlushResult& /*result*/) {
  context_.throw_if_cancelled();
  if (output_) flush_output();
}

void FileSink::revoke(std::span<const Assignment> parts) {
  // What could not be stored stays in memory and goes with the next flush; until then assign answers with the position behind it.
  for (const Assignment& part : parts) owned_.erase({std::string(part.stream()), std::string(part.topic()), part.partition()});
}

void FileSink::close() {
  output_.reset();
}

}  // namespace sluice::file_sink
