// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdint>

#include "conformance_support.hpp"

namespace sluice::testing {
namespace {

constexpr PollLimits kSmallPolls{.max_records = 5};
constexpr int kIdlePolls = 3;  // one after the other without records: the origin has no more

// Polls as a host does, and keeps what was acknowledged.
class Collection {
 public:
  Collection(SourceSubject& subject, Findings& findings) : subject_(subject), findings_(findings) {}

  bool start(std::optional<std::string> state = std::nullopt) {
    source_ = &subject_.make();
    const auto failure = source_->open(subject_.config(), std::move(state));
    if (failure) findings_.push_back("open failed: " + shown(*failure));
    return !failure;
  }
  // The next poll with records; nothing: there are no more, or it fails again and again.
  [[nodiscard]] std::optional<PollReport> poll() {
    int idle = 0;
    for (failures_ = 0; failures_ < kAttemptsMax && idle < kIdlePolls;) {
      PollReport polled = source_->poll(kSmallPolls);
      if (!polled.records.empty()) return polled;
      if (polled.failure) {
        ++failures_;
      } else {
        ++idle;
      }
    }
    return std::nullopt;
  }
  void take(const PollReport& polled) {
    for (const TakenRecord& record : polled.records) taken_.push_back(record.payload.value_or(""));
    if (const auto failure = source_->ack()) findings_.push_back("on_result failed: " + shown(*failure));
  }
  void take_all() {
    while (const auto polled = poll()) take(*polled);
  }
  void expect_rows() {
    const std::vector<std::string> rows = subject_.rows();
    for (std::size_t i = 0; i < std::max(rows.size(), taken_.size()); ++i) {
      if (i < rows.size() && i < taken_.size() && rows[i] == taken_[i]) continue;
      findings_.push_back("record " + std::to_string(i) + " is " + (i < taken_.size() ? '"' + taken_[i] + '"' : "missing") + ", row " +
                          std::to_string(i) + " is " + (i < rows.size() ? '"' + rows[i] + '"' : "missing"));
      return;
    }
  }

  [[nodiscard]] SourceDriver& source() { return *source_; }
  [[nodiscard]] const std::vector<std::string>& taken() const { return taken_; }
  [[nodiscard]] bool ended_in_failures() const { return failures_ == kAttemptsMax; }

 private:
  SourceSubject& subject_;
  Findings& findings_;
  SourceDriver* source_ = nullptr;
  std::vector<std::string> taken_;
  int failures_ = 0;
};

std::vector<std::string> payloads_of(const PollReport& polled) {
  std::vector<std::string> out;
  out.reserve(polled.records.size());
  for (const TakenRecord& record : polled.records) out.push_back(record.payload.value_or(""));
  return out;
}

Findings hands_out_every_row_once(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    Collection collection(subject, findings);
    if (!collection.start()) return;
    collection.take_all();
    collection.expect_rows();
  });
}

Findings repeats_what_was_not_taken(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    Collection collection(subject, findings);
    if (!collection.start()) return;
    while (const auto lost = collection.poll()) {
      if (const auto failure = collection.source().nack()) findings.push_back("on_result failed: " + shown(*failure));
      const auto again = collection.poll();
      if (!again || payloads_of(*again) != payloads_of(*lost)) {
        findings.emplace_back("after a nack the next poll handed out other records: the source had moved on in poll");
        return;
      }
      collection.take(*again);
    }
    collection.expect_rows();
  });
}

Findings continues_after_its_state(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    Collection collection(subject, findings);
    if (!collection.start()) return;
    while (const auto polled = collection.poll()) {
      collection.take(*polled);
      if (!collection.start(collection.source().stored_state())) return;
    }
    collection.expect_rows();
  });
}

Findings begins_anew_without_an_acknowledgement(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    Collection collection(subject, findings);
    if (!collection.start()) return;
    (void)collection.poll();
    if (!collection.start(collection.source().stored_state())) return;
    collection.take_all();
    collection.expect_rows();
  });
}

Findings loses_nothing_where_a_request_fails(SourceSubject& subject) {
  if (!subject.origin_can_fail()) return {};
  return judged([&](Findings& findings) {
    for (std::size_t n = 0; n < 4; ++n) {
      Collection collection(subject, findings);
      if (!collection.start()) return;
      subject.fail_request(n);
      collection.take_all();
      collection.expect_rows();
    }
  });
}

// The rows [from, end) cannot be read; all others come.
Findings goes_on_past(SourceSubject& subject, std::size_t from, std::size_t end) {
  return judged([&](Findings& findings) {
    const std::vector<std::string> rows = subject.rows();
    for (std::size_t i = from; i < end; ++i) {
      if (!subject.spoil(i)) return;
    }
    Collection collection(subject, findings);
    if (!collection.start()) return;
    collection.take_all();
    const std::vector<std::string>& taken = collection.taken();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if ((i >= from && i < end) || std::find(taken.begin(), taken.end(), rows[i]) != taken.end()) continue;
      findings.push_back("row " + std::to_string(i) +
                         (collection.ended_in_failures() ? " is never reached" : " was lost without an error") + ", because a row from " +
                         std::to_string(from) + " on cannot be read");
      return;
    }
  });
}

Findings loses_no_page_for_one_row(SourceSubject& subject) {
  return goes_on_past(subject, 7, 8);
}

Findings passes_a_page_without_a_readable_row(SourceSubject& subject) {
  return goes_on_past(subject, kSmallPolls.max_records, std::size_t{2} * kSmallPolls.max_records);
}

Findings refuses_a_state_that_is_none(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    const auto failure = subject.make().open(subject.config(), "\xff\xfe no state of any connector");
    if (!failure) findings.emplace_back("it opens with a corrupt state: that is a silent restart from the beginning");
  });
}

// A host gives a source the states of older versions only; this is one that none has written.
Findings refuses_a_state_of_an_unknown_version(SourceSubject& subject) {
  return judged([&](Findings& findings) {
    constexpr std::uint32_t kUnknown = 4'000'000'000;
    const auto failure = subject.make().migrate_state(kUnknown, "1").second;
    if (!failure) {
      findings.emplace_back("it takes a state of a version that it does not know");
    } else if (failure->text.find(std::to_string(kUnknown)) == std::string::npos) {
      findings.push_back("the refusal of a state of version " + std::to_string(kUnknown) + " does not name it: " + shown(*failure));
    }
  });
}

Findings ends_a_hanging_poll_at_a_cancel(SourceSubject& subject) {
  if (!subject.origin_can_fail()) return {};
  return judged([&](Findings& findings) {
    Collection collection(subject, findings);
    if (!collection.start()) return;
    check_cancel(subject, [&] { return collection.source().poll(kSmallPolls).failure; }, [&] { collection.source().cancel(); }, findings);
  });
}

constexpr ConformanceCase<SourceSubject> kSourceCases[] = {
    {"HandsOutEveryRowOnce", hands_out_every_row_once},
    {"RepeatsWhatWasNotTaken", repeats_what_was_not_taken},
    {"ContinuesAfterItsState", continues_after_its_state},
    {"BeginsAnewWithoutAnAcknowledgement", begins_anew_without_an_acknowledgement},
    {"LosesNothingWhereARequestFails", loses_nothing_where_a_request_fails},
    {"LosesNoPageForOneRow", loses_no_page_for_one_row},
    {"PassesAPageWithoutAReadableRow", passes_a_page_without_a_readable_row},
    {"RefusesAStateThatIsNone", refuses_a_state_that_is_none},
    {"RefusesAStateOfAnUnknownVersion", refuses_a_state_of_an_unknown_version},
    {"EndsAHangingPollAtACancel", ends_a_hanging_poll_at_a_cancel},
    {"RefusesAConfigurationThatIsNone", refuses_a_configuration_that_is_none},
};

}  // namespace

std::span<const ConformanceCase<SourceSubject>> source_cases() {
  return kSourceCases;
}

}  // namespace sluice::testing
