// SPDX-License-Identifier: Apache-2.0
// The suite holds good connectors for good, and each bad one is caught by the case that is there for it.
#include <sluice/testing/conformance.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <sluice/sink.hpp>
#include <sluice/source.hpp>

namespace sluice::testing {
namespace {

struct NoKeys {
  static void bind(Binding<NoKeys>& /*b*/) {}
};

// Fails, refuses and hangs as told.
class Faults {
 public:
  void fail(std::size_t n) { fail_in_ = static_cast<std::ptrdiff_t>(n); }
  void hang() {
    const std::lock_guard lock(mutex_);
    hanging_wanted_ = true;
  }
  bool wait_until_hanging(std::chrono::milliseconds wait_max) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, wait_max, [&] { return hangs_; });
  }
  void let_go() {
    {
      const std::lock_guard lock(mutex_);
      hanging_wanted_ = false;
    }
    changed_.notify_all();
  }
  // A request: hangs, or fails, or passes.
  void pass(const std::stop_token& stop) {
    std::unique_lock lock(mutex_);
    if (hanging_wanted_) {
      hangs_ = true;
      changed_.notify_all();
      if (!changed_.wait(lock, stop, [&] { return !hanging_wanted_; })) throw CancelledError();
    }
    const bool fails = fail_in_ == 0;
    --fail_in_;
    if (fails) throw TransientError("test.busy", "busy");
  }

 private:
  std::ptrdiff_t fail_in_ = -1;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  bool hanging_wanted_ = false;
  bool hangs_ = false;
};

struct Store : Faults {
  std::vector<std::string> stored;
  std::string refused;

  void put(const std::vector<std::string>& payloads, const std::stop_token& stop) {
    pass(stop);
    if (std::find(payloads.begin(), payloads.end(), refused) != payloads.end()) throw RecordError("test.refused", "refused");
    stored.insert(stored.end(), payloads.begin(), payloads.end());
  }
};

// A subject whose back end or origin has these faults.
template <typename Subject, typename Back>
class SubjectOn : public Subject {
 public:
  void hang() override { back_.hang(); }
  bool wait_until_hanging(std::chrono::milliseconds wait_max) override { return back_.wait_until_hanging(wait_max); }
  void let_go() override { back_.let_go(); }

 protected:
  Back back_;
};

enum class SinkVice : std::uint8_t {
  kNone,
  kSwallowsErrors,
  kKeepsPointers,
  kDeafToCancel,
  kGoesOnPastAFailedChunk,
  kDurableTooEarly,
  kNeverStores,
  kWaitsForItself,
  kStoresAgainAtClose,
};

template <SinkVice vice>
class ViceSink final : public Sink {
 public:
  using Config = NoKeys;
  static constexpr Descriptor kDescriptor{.id = "vice_sink", .summary = "Has one vice, or none"};
  static inline Store* store = nullptr;

  ViceSink(NoKeys /*config*/, Context& context) : context_(context) {}

  void write(const Batch& batch, WriteResult& result) override {
    if constexpr (vice == SinkVice::kKeepsPointers) {
      for (std::uint32_t i = 0; i < batch.size(); ++i) kept_.push_back(batch[i].payload_or_empty());
      return result.accept_all();
    }
    if constexpr (vice == SinkVice::kDurableTooEarly) {
      for (std::uint32_t i = 0; i < batch.size(); ++i) buffered_.emplace_back(batch[i].payload_or_empty());
      return result.deliver_all();
    }
    if constexpr (vice == SinkVice::kNeverStores) return result.deliver_all();
    if constexpr (vice == SinkVice::kWaitsForItself) {
      Faults itself;
      itself.hang();
      itself.pass(context_.stop());
    }
    constexpr std::uint32_t kChunk = 3;
    std::optional<TransientError> first_error;
    for (std::uint32_t from = 0; from < batch.size(); from += kChunk) {
      try {
        store_chunk(batch, result, from, std::min(kChunk, batch.size() - from), !first_error);
      } catch (const TransientError& error) {
        if constexpr (vice == SinkVice::kSwallowsErrors) {
          result.deliver_until(std::min(from + kChunk, batch.size()));
        } else if constexpr (vice == SinkVice::kGoesOnPastAFailedChunk) {
          if (!first_error) first_error = error;
        } else {
          throw;
        }
      }
    }
    if (first_error) throw TransientError(*first_error);
  }
  void flush(FlushResult& /*result*/) override {
    std::vector<std::string> payloads(kept_.begin(), kept_.end());
    payloads.insert(payloads.end(), buffered_.begin(), buffered_.end());
    if (!payloads.empty()) store->put(payloads, context_.stop());
    kept_.clear();
    buffered_.clear();
  }
  void close() override {
    if (vice == SinkVice::kStoresAgainAtClose && store != nullptr && !last_.empty()) store->put(last_, context_.stop());
  }
  void revoke(std::span<const Assignment> /*parts*/) override {
    kept_.clear();
    buffered_.clear();
  }

 private:
  void store_chunk(const Batch& batch, WriteResult& result, std::uint32_t from, std::uint32_t count, bool counts) {
    std::vector<std::string> payloads;
    for (std::uint32_t i = 0; i < count; ++i) payloads.emplace_back(batch[from + i].payload_or_empty());
    try {
      store->put(payloads, vice == SinkVice::kDeafToCancel ? std::stop_token() : context_.stop());
    } catch (const RecordError& error) {
      if (count > 1) {
        for (std::uint32_t i = 0; i < count; ++i) store_chunk(batch, result, from + i, 1, counts);
        return;
      }
      result.fail(from, error.outcome());
    }
    context_.throw_if_cancelled();
    last_ = payloads;
    if (counts) result.deliver_until(from + count);
  }

  Context& context_;
  std::vector<std::string_view> kept_;
  std::vector<std::string> buffered_;
  std::vector<std::string> last_;
};

template <SinkVice vice>
class ViceSinkSubject final : public SubjectOn<SinkSubjectOf<ViceSink<vice>>, Store> {
 public:
  ViceSinkSubject() { ViceSink<vice>::store = &this->back_; }
  ~ViceSinkSubject() override { ViceSink<vice>::store = nullptr; }  // before the last instance closes
  std::vector<std::string> stored() override { return this->back_.stored; }
  void fail_store(std::size_t n) override { this->back_.fail(n); }
  void refuse(const std::string& payload) override { this->back_.refused = payload; }
  std::chrono::milliseconds reach_max() const override {
    return vice == SinkVice::kWaitsForItself ? std::chrono::milliseconds(50) : this->kReachMax;
  }
};

using GoodSink = ViceSinkSubject<SinkVice::kNone>;
SLUICE_SINK_CONFORMANCE(GoodSinkConformance, GoodSink);

struct Origin : Faults {
  std::vector<std::string> rows;
  std::set<std::size_t> spoilt;
};

enum class SourceVice : std::uint8_t { kNone, kAdvancesInPoll, kLosesAPage, kStopsAtARow, kStopsAtAPage, kTakesAnyVersion };

// Its state is the index of the next row.
template <SourceVice vice>
class ViceSource final : public Source {
 public:
  using Config = NoKeys;
  static constexpr Descriptor kDescriptor{.id = "vice_source", .summary = "Has one vice, or none"};
  static inline Origin* origin = nullptr;

  ViceSource(NoKeys /*config*/, Context& context) : context_(context) {}

  static std::string migrate_state(std::uint32_t /*from_version*/, std::string_view state)
    requires(vice == SourceVice::kTakesAnyVersion)
  {
    return std::string(state);
  }
  void open(std::optional<std::string_view> state) override {
    if (!state) return;
    const auto [end, error] = std::from_chars(state->data(), state->data() + state->size(), next_);
    if (error != std::errc{} || end != state->data() + state->size()) throw FatalError("test.state", "no number");
    after_ = next_;
  }
  void poll(const PollRequest& request, SourceWriter& writer) override {
    origin->pass(context_.stop());
    const std::size_t page_end = std::min(next_ + request.max_records, origin->rows.size());
    const auto spoilt = origin->spoilt.lower_bound(next_);
    if (vice == SourceVice::kLosesAPage && spoilt != origin->spoilt.end() && *spoilt < page_end) {
      next_ = page_end;
      return;
    }
    const std::size_t end = vice == SourceVice::kStopsAtAPage ? page_end : origin->rows.size();
    for (after_ = next_; after_ < end; ++after_) {
      if (!origin->spoilt.contains(after_)) {
        if (writer.append({.payload = origin->rows[after_]}) == AppendResult::kFull) break;
      } else if (vice == SourceVice::kStopsAtARow) {
        if (writer.handed_out() == 0) throw ConnectorError("test.row", "row " + std::to_string(after_) + " cannot be read");
        break;
      }
    }
    if (writer.handed_out() > 0) writer.set_state(std::to_string(after_));
    if (vice == SourceVice::kAdvancesInPoll) next_ = after_;
  }
  void on_result(std::uint64_t /*batch_id*/, BatchResult result) override {
    if (result == BatchResult::kAcked) next_ = after_;
  }

 private:
  Context& context_;
  std::size_t next_ = 0;
  std::size_t after_ = 0;
};

template <SourceVice vice>
class ViceSourceSubject final : public SubjectOn<SourceSubjectOf<ViceSource<vice>>, Origin> {
 public:
  ViceSourceSubject() {
    for (int i = 0; i < 23; ++i) this->back_.rows.push_back("row " + std::to_string(i));
    ViceSource<vice>::origin = &this->back_;
  }
  std::vector<std::string> rows() override { return this->back_.rows; }
  void fail_request(std::size_t n) override { this->back_.fail(n); }
  bool spoil(std::size_t row) override {
    this->back_.spoilt.insert(row);
    return true;
  }
};

using GoodSource = ViceSourceSubject<SourceVice::kNone>;
SLUICE_SOURCE_CONFORMANCE(GoodSourceConformance, GoodSource);

template <typename Subject, typename Cases>
std::set<std::string> caught(Cases cases) {
  std::set<std::string> out;
  for (const auto& one : cases) {
    Subject subject;
    if (!one.run(subject).empty()) out.insert(one.name);
  }
  return out;
}
template <SinkVice vice>
std::set<std::string> caught_sink() {
  return caught<ViceSinkSubject<vice>>(sink_cases());
}
template <SourceVice vice>
std::set<std::string> caught_source() {
  return caught<ViceSourceSubject<vice>>(source_cases());
}

TEST(Conformance, CatchesASinkThatSwallowsAnError) {
  EXPECT_EQ(caught_sink<SinkVice::kSwallowsErrors>(), std::set<std::string>{"LosesNothingWhereAStoreFails"});
}

TEST(Conformance, CatchesASinkThatKeepsAPointer) {
  EXPECT_TRUE(caught_sink<SinkVice::kKeepsPointers>().contains("DeliversEveryRecordOnce"));
}

TEST(Conformance, CatchesASinkThatIgnoresACancel) {
  EXPECT_EQ(caught_sink<SinkVice::kDeafToCancel>(), std::set<std::string>{"EndsAHangingWriteAtACancel"});
}

TEST(Conformance, CatchesASinkThatGoesOnPastAFailedChunk) {
  EXPECT_EQ(caught_sink<SinkVice::kGoesOnPastAFailedChunk>(), std::set<std::string>{"LosesNothingWhereAStoreFails"});
}

TEST(Conformance, CatchesASinkThatReportsDurableTooEarly) {
  const auto names = caught_sink<SinkVice::kDurableTooEarly>();
  EXPECT_TRUE(names.contains("DeliversEveryRecordOnce"));
  EXPECT_TRUE(names.contains("BeginsAgainWithWhatWasNotDurable"));
}

TEST(Conformance, CatchesASinkThatStoresAgainAtItsClose) {
  EXPECT_EQ(caught_sink<SinkVice::kStoresAgainAtClose>(), std::set<std::string>{"StopsInOrderWithDataInFlight"});
}

TEST(Conformance, CatchesASinkThatNeverStores) {
  EXPECT_TRUE(caught_sink<SinkVice::kNeverStores>().contains("EndsAHangingWriteAtACancel"));
}

TEST(Conformance, CatchesASinkThatWaitsBeforeItsBackEnd) {
  for (const auto& one : sink_cases()) {
    if (one.name != std::string("EndsAHangingWriteAtACancel")) continue;
    ViceSinkSubject<SinkVice::kWaitsForItself> subject;
    EXPECT_EQ(one.run(subject), Findings{"no request was at the back end 50 ms after the call began"});
  }
}

TEST(Conformance, CatchesASourceThatAdvancesInPoll) {
  EXPECT_EQ(caught_source<SourceVice::kAdvancesInPoll>(), std::set<std::string>{"RepeatsWhatWasNotTaken"});
}

TEST(Conformance, CatchesASourceThatLosesAPageForOneRow) {
  EXPECT_EQ(caught_source<SourceVice::kLosesAPage>(), std::set<std::string>{"LosesNoPageForOneRow"});
}

TEST(Conformance, CatchesASourceThatTakesAStateOfAnyVersion) {
  EXPECT_EQ(caught_source<SourceVice::kTakesAnyVersion>(), std::set<std::string>{"RefusesAStateOfAnUnknownVersion"});
}

TEST(Conformance, CatchesASourceThatStopsAtARowThatCannotBeRead) {
  EXPECT_EQ(caught_source<SourceVice::kStopsAtARow>(), (std::set<std::string>{"LosesNoPageForOneRow", "PassesAPageWithoutAReadableRow"}));
}

TEST(Conformance, CatchesASourceThatStopsAtAPageWithoutAReadableRow) {
  EXPECT_EQ(caught_source<SourceVice::kStopsAtAPage>(), std::set<std::string>{"PassesAPageWithoutAReadableRow"});
}

}  // namespace
}  // namespace sluice::testing
