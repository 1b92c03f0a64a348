// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "core/base/bytes.hpp"
#include "core/base/result.hpp"
#include "runtime/plugin/child_process.hpp"

namespace sluice::isolation {

// Memory of the daemon and a plugin's process: arguments in one half, results in the other. Its size is sealed, so that no access on either
// side can fail; only pages that were used take memory.
class SharedArea {
 public:
  [[nodiscard]] static Result<SharedArea> create();
  // In the child.
  [[nodiscard]] static Result<SharedArea> attach(plugin::Fd fd);
  SharedArea(SharedArea&& other) noexcept : fd_(std::move(other.fd_)), begin_(std::exchange(other.begin_, nullptr)) {}
  SharedArea& operator=(SharedArea&&) = delete;
  ~SharedArea();

  [[nodiscard]] int fd() const { return fd_.get(); }
  [[nodiscard]] MutableBytes arguments() const;
  [[nodiscard]] MutableBytes results() const;

 private:
  SharedArea(plugin::Fd fd, std::byte* begin) : fd_(std::move(fd)), begin_(begin) {}

  plugin::Fd fd_;
  std::byte* begin_;
};

}  // namespace sluice::isolation
