// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.hpp"

#include <array>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace sluice {

std::string_view to_string(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kRetry:
      return "retry";
    case ErrorKind::kInvalidInput:
      return "invalid input";
    case ErrorKind::kNotFound:
      return "not found";
    case ErrorKind::kConflict:
      return "conflict";
    case ErrorKind::kCorrupt:
      return "corrupt";
    case ErrorKind::kGiveUp:
      return "give up";
  }
  return "unknown";
}

Error::Error(const ErrorInfo& info, std::string message) : told_(std::make_unique<Told>(Told{&info, std::move(message), {}})) {}

Error& Error::with(std::string key, std::string value) & {
  told_->context.emplace_back(std::move(key), std::move(value));
  return *this;
}

Error&& Error::with(std::string key, std::string value) && {
  told_->context.emplace_back(std::move(key), std::move(value));
  return std::move(*this);
}

std::string Error::to_string() const {
  std::string out = message();
  if (!context().empty()) {
    out += " (";
    for (std::size_t i = 0; i < context().size(); ++i) {
      if (i != 0) out += ", ";
      out += context()[i].first + "=" + context()[i].second;
    }
    out += ")";
  }
  return fmt::format("{} [{}]", out, code());
}

const ErrorInfo& error_info(Errc code) {
  static constexpr std::array<ErrorInfo, 10> kTable{{
      {"base.invalid_argument", ErrorKind::kInvalidInput, "A value is not allowed here; the message names it and what is allowed."},
      {"base.not_found", ErrorKind::kNotFound, "The named file or object does not exist."},
      {"base.io", ErrorKind::kGiveUp,
       "The operating system refused a read, write or sync. See the errno; check the device and the kernel log."},
      {"base.no_space", ErrorKind::kRetry, "The file system or quota is full. Free space; nothing that was acknowledged is lost."},
      {"base.timeout", ErrorKind::kRetry, "No answer within the deadline. The operation may or may not have happened."},
      {"base.cancelled", ErrorKind::kGiveUp, "The operation was cancelled by its caller."},
      {"base.shutting_down", ErrorKind::kGiveUp, "The process is stopping and takes no new work."},
      {"base.limit", ErrorKind::kInvalidInput, "A size or count is beyond its limit; the message names the limit."},
      {"base.decode", ErrorKind::kCorrupt, "Bytes do not have the shape that their format demands."},
      {"base.internal", ErrorKind::kGiveUp, "A defect in the program. Report it with the message and the log around it."},
  }};
  return kTable.at(static_cast<std::size_t>(code));
}

Error errno_error(int error_number, std::string what) {
  const Errc code = error_number == ENOSPC || error_number == EDQUOT ? Errc::kNoSpace
                    : error_number == ENOENT                         ? Errc::kNotFound
                                                                     : Errc::kIo;
  const char* name = strerrorname_np(error_number);
  const char* text = strerrordesc_np(error_number);
  return Error(code, fmt::format("{}: {}", what, text == nullptr ? "unknown error" : text))
      .with("errno", name == nullptr ? std::to_string(error_number) : name);
}

}  // namespace sluice
