// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "core/base/assert.hpp"
#include "core/vsr/ids.hpp"

namespace sluice::vsr {

// The newest kSuffixMax headers of a log, a chain without a gap. Before the first entry stands the root.
class HeaderRing {
 public:
  explicit HeaderRing(U128 root_id) : root_id_(root_id) {}

  [[nodiscard]] Op head() const { return head_; }
  [[nodiscard]] OpId head_id() const { return {head_, id(head_)}; }
  [[nodiscard]] bool holds(Op op) const { return op >= first_ && op <= head_; }
  // Requires holds(op).
  [[nodiscard]] const Header& at(Op op) const {
    SLUICE_ASSERT(holds(op), "op {} of {}..{}", op, first_, head_);
    return slots_[op.value() % kSuffixMax];
  }
  // Whether this very entry is in the log, as far as the ring reaches back.
  [[nodiscard]] bool has(OpId entry) const { return holds(entry.op) && at(entry.op).id == entry.id; }
  // Of an op that the ring holds, or of the root.
  [[nodiscard]] U128 id(Op op) const { return op == Op(0) ? root_id_ : at(op).id; }
  [[nodiscard]] bool is_next(const Header& header) const {
    if (header.op != head_.next()) return false;
    if (head_ == Op(0)) return header.parent == root_id_;
    return header.follows(at(head_));
  }

  // Requires is_next(header), or a ring that holds nothing yet.
  void push(const Header& header) {
    if (first_ > head_) {
      first_ = header.op;
    } else {
      SLUICE_ASSERT(is_next(header), "op {} after {}", header.op, head_);
    }
    head_ = header.op;
    slots_[head_.value() % kSuffixMax] = header;
    if (head_ - first_ >= kSuffixMax) first_ = first_.next();
  }
  // Forgets everything above `op`, which the ring holds, or is 0.
  void cut(Op op) {
    SLUICE_ASSERT(op == Op(0) || holds(op), "op {} of {}..{}", op, first_, head_);
    head_ = op;
    if (op == Op(0)) first_ = Op(1);
  }
  // Copies what is held of first..head, the oldest first.
  [[nodiscard]] std::span<const Header> copy(Op first, std::array<Header, kSuffixMax>& out) const {
    std::size_t count = 0;
    for (Op op = first < first_ ? first_ : first; op <= head_; op = op.next()) out[count++] = at(op);
    return {out.data(), count};
  }

 private:
  U128 root_id_;
  Op first_{1};
  Op head_{0};
  std::array<Header, kSuffixMax> slots_{};
};

}  // namespace sluice::vsr
