// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "conformance_support.hpp"

namespace sluice::testing {
namespace {

std::string payload_of(std::uint64_t offset) {
  return "record " + std::to_string(offset);
}

// Brings records to the sink as a host does, and compares what the sink says with what the back end has.
class Delivery {
 public:
  Delivery(SinkSubject& subject, Findings& findings) : subject_(subject), findings_(findings) {}

  // A new instance, which begins with what is durable. False: it does not open.
  bool start() {
    sink_ = &subject_.make();
    sink_->keep_call_memory();
    if (const auto failure = sink_->open(subject_.config())) return report("open failed: " + shown(*failure));
    return assign();
  }
  bool assign() {
    part_.committed_next = durable_;
    ++part_.epoch;
    const AssignReport assigned = sink_->assign({part_});
    if (assigned.failure) return report("assign failed: " + shown(*assigned.failure));
    next_ = assigned.resume_next[0];
    return true;
  }
  // As a host stops: what was taken becomes durable first.
  void stop() {
    flush();
    revoke();
    if (const auto failure = sink_->close()) report("close failed: " + shown(*failure));
  }
  void revoke() {
    if (const auto failure = sink_->revoke({part_})) report("revoke failed: " + shown(*failure));
  }

  // The records up to `end`, in batches.
  void deliver(std::uint64_t end, std::uint64_t batch) {
    int attempts = 0;
    while ((next_ < end || !again_.empty()) && attempts < kAttemptsMax) {
      const std::int64_t before = settled();
      if (again_.empty()) {
        write(next_, std::min(next_ + batch, end));
      } else {
        const std::uint64_t offset = *again_.begin();
        again_.erase(again_.begin());
        write(offset, offset + 1);
      }
      attempts = settled() > before ? 0 : attempts + 1;
    }
    if (attempts == kAttemptsMax)
      report("no progress at offset " + std::to_string(next_) + " after " + std::to_string(attempts) + " attempts");
  }
  void flush() {
    for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
      const auto failure = sink_->flush();
      note_durable();
      if (!failure) return;
    }
    report("flush does not succeed");
  }

  // Everything up to `end` is durable, and the back end has it.
  void expect_all(std::uint64_t end) {
    if (durable_ < end && again_.empty())
      report("after a flush offset " + std::to_string(durable_) + " is not durable, although all below " + std::to_string(end) +
             " was taken");
    const std::vector<std::string> stored = subject_.stored();
    for (std::uint64_t offset = 0; offset < end; ++offset) {
      if (!is_settled(offset, stored)) report(payload_of(offset) + " was lost");
    }
  }
  void expect_no_repeats() {
    std::set<std::string> seen;
    for (const std::string& payload : subject_.stored()) {
      if (!seen.insert(payload).second) report("\"" + payload + "\" was stored twice, although nothing failed");
    }
  }

  [[nodiscard]] SinkDriver& sink() { return *sink_; }
  [[nodiscard]] const TestPartition& part() const { return part_; }
  [[nodiscard]] const std::map<std::uint64_t, Outcome>& refused() const { return refused_; }

 private:
  void write(std::uint64_t from, std::uint64_t end) {
    std::vector<TestRecord> records;
    for (std::uint64_t offset = from; offset < end; ++offset) {
      records.push_back({.payload = payload_of(offset), .format = Format::kText, .offset = offset});
    }
    const WriteReport written = sink_->write(part_, records);
    for (const RecordFailure& failed : written.failed) {
      const std::uint64_t offset = from + failed.index;
      if (failed.outcome.outcome_class == OutcomeClass::kPermanent) {
        refused_.emplace(offset, failed.outcome);
        next_ = std::max(next_, offset + 1);
      } else {
        again_.insert(offset);
      }
    }
    for (std::uint64_t offset = from; offset < end; ++offset) {
      if (offset >= written.accepted_next && offset < next_ && !refused_.contains(offset)) again_.insert(offset);
    }
    next_ = std::max(next_, written.accepted_next);
    note_durable();
  }

  // Whatever is durable is there; what is there is in order, and was a record.
  void note_durable() {
    const std::vector<std::string> stored = subject_.stored();
    const std::uint64_t durable = sink_->durable_next(part_);
    for (; durable_ < durable && !again_.contains(durable_); ++durable_) {
      if (!is_settled(durable_, stored)) report(payload_of(durable_) + " is called durable, and the back end does not have it");
    }
    std::map<std::string, std::uint64_t> offsets;
    for (std::uint64_t offset = 0; offset < std::max(next_, durable) + kLookAhead; ++offset) offsets.emplace(payload_of(offset), offset);
    std::optional<std::uint64_t> newest;
    std::set<std::uint64_t> seen;
    for (const std::string& payload : stored) {
      const auto found = offsets.find(payload);
      if (found == offsets.end()) {
        report("the back end has what was never a record; does the sink keep a pointer into a batch?");
        return;
      }
      if (!seen.insert(found->second).second) continue;
      if (newest && found->second < *newest) {
        report(payload + " came after " + payload_of(*newest) + ": the sink went on past what failed");
        return;
      }
      newest = found->second;
    }
  }

  [[nodiscard]] std::int64_t settled() const { return static_cast<std::int64_t>(next_) - static_cast<std::int64_t>(again_.size()); }
  [[nodiscard]] bool is_settled(std::uint64_t offset, const std::vector<std::string>& stored) const {
    return refused_.contains(offset) || std::find(stored.begin(), stored.end(), payload_of(offset)) != stored.end();
  }
  // Each sentence once.
  bool report(const std::string& finding) {
    if (std::find(findings_.begin(), findings_.end(), finding) == findings_.end()) findings_.push_back(finding);
    return false;
  }

  static constexpr std::uint64_t kLookAhead = 64;  // more than any batch

  SinkSubject& subject_;
  Findings& findings_;
  SinkDriver* sink_ = nullptr;
  TestPartition part_;
  std::uint64_t next_ = 0;
  std::uint64_t durable_ = 0;
  std::set<std::uint64_t> again_;
  std::map<std::uint64_t, Outcome> refused_;  // for good
};

Findings delivers_every_record_once(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    delivery.deliver(1, 1);
    delivery.deliver(8, 7);
    delivery.deliver(40, 32);
    delivery.flush();
    delivery.expect_all(40);
    delivery.expect_no_repeats();
  });
}

Findings loses_nothing_where_a_store_fails(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    std::uint64_t end = 0;
    for (std::size_t n = 0; n < 5; ++n) {
      subject.fail_store(n);
      delivery.deliver(end += 10, 5);
      delivery.flush();
    }
    delivery.expect_all(end);
  });
}

Findings reports_the_record_that_is_refused(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    subject.refuse(payload_of(3));
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    delivery.deliver(8, 8);
    delivery.flush();
    delivery.expect_all(8);
    for (const auto& [offset, outcome] : delivery.refused()) {
      if (offset != 3) findings.push_back(payload_of(offset) + " was refused for another's fault: " + shown(outcome));
    }
    if (!delivery.refused().contains(3)) findings.push_back(payload_of(3) + " was refused for good, and the host was not told");
  });
}

Findings ends_a_hanging_write_at_a_cancel(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    const auto write_and_flush = [&]() -> std::optional<Outcome> {
      const WriteReport written = delivery.sink().write(delivery.part(), std::vector<std::string>{payload_of(0)});
      return written.failure ? written.failure : delivery.sink().flush();
    };
    check_cancel(subject, write_and_flush, [&] { delivery.sink().cancel(); }, findings);
  });
}

Findings begins_again_with_what_was_not_durable(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    delivery.deliver(10, 3);
    if (!delivery.start()) return;
    delivery.deliver(20, 3);
    delivery.flush();
    delivery.expect_all(20);
  });
}

Findings stops_in_order_with_data_in_flight(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    delivery.deliver(10, 3);
    delivery.stop();
    delivery.expect_all(10);
    if (!delivery.start()) return;
    delivery.deliver(20, 3);
    delivery.stop();
    delivery.expect_all(20);
    delivery.expect_no_repeats();
  });
}

Findings forgets_what_it_gave_up(SinkSubject& subject) {
  return judged([&](Findings& findings) {
    Delivery delivery(subject, findings);
    if (!delivery.start()) return;
    delivery.deliver(10, 3);
    delivery.revoke();
    if (!delivery.assign()) return;
    delivery.deliver(20, 3);
    delivery.flush();
    delivery.expect_all(20);
  });
}

constexpr ConformanceCase<SinkSubject> kSinkCases[] = {
    {"DeliversEveryRecordOnce", delivers_every_record_once},
    {"LosesNothingWhereAStoreFails", loses_nothing_where_a_store_fails},
    {"ReportsTheRecordThatIsRefused", reports_the_record_that_is_refused},
    {"EndsAHangingWriteAtACancel", ends_a_hanging_write_at_a_cancel},
    {"BeginsAgainWithWhatWasNotDurable", begins_again_with_what_was_not_durable},
    {"StopsInOrderWithDataInFlight", stops_in_order_with_data_in_flight},
    {"ForgetsWhatItGaveUp", forgets_what_it_gave_up},
    {"RefusesAConfigurationThatIsNone", refuses_a_configuration_that_is_none},
};

}  // namespace

std::span<const ConformanceCase<SinkSubject>> sink_cases() {
  return kSinkCases;
}

}  // namespace sluice::testing
