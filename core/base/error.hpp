// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sluice {

// What a caller can do about an error. Callers branch on the kind (or on one exact code), never on the text.
enum class ErrorKind : std::uint8_t {
  kRetry,         // the same call may succeed later
  kInvalidInput,  // the caller must change what it passed
  kNotFound,      // the named thing does not exist
  kConflict,      // the state of the thing forbids it now (exists already, fenced, out of sequence)
  kCorrupt,       // stored bytes are not what was written; nothing may be served from there
  kGiveUp,        // it cannot be done by this process (device failed, resource gone, shutting down)
};
[[nodiscard]] std::string_view to_string(ErrorKind kind);

// One row of a library's table of error codes. `name` is stable and what `sluice explain` takes, for example "log.hole";
// `explanation` says in a sentence or two what happened and what to do next.
struct ErrorInfo {
  std::string_view name;
  ErrorKind kind;
  std::string_view explanation;
};

// Each library has `enum class Errc` and a function `const ErrorInfo& error_info(Errc)` in its own namespace, returning a row of a static
// table.
template <typename E>
concept ErrorEnum = std::is_enum_v<E> && requires(E e) {
  { error_info(e) } -> std::same_as<const ErrorInfo&>;
};

// An expected failure: a code, a sentence for a person (what, where), and key=value context added on the way up.
// Value type, cheap to move, safe to hand to another thread.
class Error {
 public:
  template <ErrorEnum E>
  Error(E code, std::string message) : Error(error_info(code), std::move(message)) {}

  Error(const Error& other) : told_(std::make_unique<Told>(*other.told_)) {}
  Error& operator=(const Error& other) { return *this = Error(other); }
  Error(Error&&) noexcept = default;
  Error& operator=(Error&&) noexcept = default;
  ~Error() = default;

  template <ErrorEnum E>
  [[nodiscard]] bool is(E code) const {
    return told_->info == &error_info(code);
  }
  [[nodiscard]] ErrorKind kind() const { return told_->info->kind; }
  [[nodiscard]] std::string_view code() const { return told_->info->name; }
  [[nodiscard]] std::string_view explanation() const { return told_->info->explanation; }
  [[nodiscard]] const std::string& message() const { return told_->message; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& context() const { return told_->context; }

  // Adds where it happened, once, at the layer that knows it: `error.with("file", path)`.
  Error& with(std::string key, std::string value) &;
  Error&& with(std::string key, std::string value) &&;

  // "message (key=value, …) [code]"
  [[nodiscard]] std::string to_string() const;

 private:
  struct Told {
    const ErrorInfo* info;
    std::string message;
    std::vector<std::pair<std::string, std::string>> context;
  };
  Error(const ErrorInfo& info, std::string message);

  // One pointer, so that a Result costs little where there is no error. Null only after a move.
  std::unique_ptr<Told> told_;
};

// Codes that belong to no single library.
enum class Errc : std::uint8_t {
  kInvalidArgument,
  kNotFound,
  kIo,
  kNoSpace,
  kTimeout,
  kCancelled,
  kShuttingDown,
  kLimit,
  kDecode,
  kInternal
};
[[nodiscard]] const ErrorInfo& error_info(Errc code);

// The error of a failed system call: ENOSPC/EDQUOT → kNoSpace, ENOENT → kNotFound, everything else → kIo. Text: "<what>: <strerror>",
// context errno=<NAME>.
[[nodiscard]] Error errno_error(int error_number, std::string what);

}  // namespace sluice
