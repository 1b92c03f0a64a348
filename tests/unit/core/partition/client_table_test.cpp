// SPDX-License-Identifier: Apache-2.0
#include "core/partition/client_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "core/base/random.hpp"
#include "core/partition/errc.hpp"

namespace sluice::partition {
namespace {

constexpr ClientId kProducer{7, 0};

// A table and the log whose requests it is told of.
class RecordedTable {
 public:
  // The request enters the log, with two records, or is refused there.
  RequestOutcome record(ClientId client, std::uint64_t request, std::uint64_t checksum = 0, bool refused = false) {
    const RequestOutcome outcome{RequestNumber(request), body(request, checksum), op_.next(), end_, end_ + 2};
    op_ = outcome.op;
    end_ = outcome.next_offset;
    table.record(client, outcome.request, op_, refused ? std::nullopt : std::optional(outcome));
    return outcome;
  }
  [[nodiscard]] Result<std::optional<RequestOutcome>> judge(ClientId client, std::uint64_t request, std::uint64_t checksum = 0) const {
    return table.judge(client, RequestNumber(request), body(request, checksum));
  }
  [[nodiscard]] bool is_next(ClientId client, std::uint64_t request) const {
    const auto judged = judge(client, request);
    return judged && !judged->has_value();
  }
  [[nodiscard]] Result<ClientTable> encoded_and_decoded() const {
    ByteVector bytes;
    ByteWriter writer(bytes);
    table.encode(writer);
    ByteReader reader(bytes);
    auto out = ClientTable::decode(reader, op_, end_);
    EXPECT_TRUE(reader.finished());
    return out;
  }
  static U128 body(std::uint64_t request, std::uint64_t checksum) { return {request, checksum}; }

  ClientTable table;

 private:
  Op op_;
  Offset end_;
};

TEST(ClientTable, ANewProducerBeginsWithRequestOneAndGoesOnWithoutAGap) {
  RecordedTable log;
  EXPECT_TRUE(log.is_next(kProducer, 1));
  log.record(kProducer, 1);
  EXPECT_TRUE(log.is_next(kProducer, 2));
  for (const std::uint64_t request : {0, 3, 4}) {
    EXPECT_TRUE(log.judge(kProducer, request).error().is(Errc::kOutOfSequence)) << request;
  }
  EXPECT_TRUE(log.judge(ClientId{8, 0}, 2).error().is(Errc::kProducerUnknown));
  EXPECT_TRUE(log.judge(ClientId{8, 0}, 0).error().is(Errc::kProducerUnknown));
}

TEST(ClientTable, ARepeatedRequestGetsItsFirstOutcome) {
  RecordedTable log;
  const RequestOutcome first = log.record(kProducer, 1);
  const RequestOutcome second = log.record(kProducer, 2);
  EXPECT_EQ(log.judge(kProducer, 1).value(), first);
  EXPECT_EQ(log.judge(kProducer, 2).value(), second);
  EXPECT_TRUE(log.judge(kProducer, 2, 99).error().is(Errc::kRequestReuse));
}

TEST(ClientTable, RemembersTheLastEightOutcomes) {
  RecordedTable log;
  for (std::uint64_t request = 1; request <= 9; ++request) log.record(kProducer, request);
  EXPECT_TRUE(log.judge(kProducer, 1).error().is(Errc::kDuplicateNoResult));
  for (std::uint64_t request = 2; request <= 9; ++request) {
    EXPECT_TRUE(log.judge(kProducer, request).value().has_value()) << request;
  }
  EXPECT_TRUE(log.is_next(kProducer, 10));
}

TEST(ClientTable, ARefusedRequestUsesItsNumberAndIsNeverASuccess) {
  RecordedTable log;
  log.record(kProducer, 1, 0, /*refused=*/true);
  EXPECT_TRUE(log.judge(kProducer, 1).error().is(Errc::kDuplicateNoResult));
  EXPECT_TRUE(log.is_next(kProducer, 2));
}

TEST(ClientTable, ForgetsTheProducerThatWroteLongestAgo) {
  RecordedTable log;
  for (std::uint64_t id = 1; id <= kClientsMax; ++id) log.record({id, 0}, 1);
  log.record({1, 0}, 2);
  log.record({kClientsMax + 1, 0}, 1);
  EXPECT_EQ(log.table.size(), kClientsMax);
  EXPECT_TRUE(log.judge({2, 0}, 2).error().is(Errc::kProducerUnknown));
  EXPECT_TRUE(log.judge({2, 0}, 2).error().to_string().contains("partition.producer_unknown"));
  EXPECT_TRUE(log.is_next({1, 0}, 3));
  EXPECT_TRUE(log.is_next({3, 0}, 2));
}

// What was appended after it was forgotten, because it was under way, is in the log: the producer goes on behind that.
TEST(ClientTable, ARequestOfAForgottenProducerBringsItBack) {
  RecordedTable log;
  log.record(kProducer, 1);
  for (std::uint64_t id = 1; id <= kClientsMax; ++id) log.record({id, 1}, 1);
  ASSERT_EQ(log.table.find(kProducer), nullptr);
  const RequestOutcome late = log.record(kProducer, 2);
  EXPECT_EQ(log.judge(kProducer, 2).value(), late);
  EXPECT_TRUE(log.judge(kProducer, 1).error().is(Errc::kDuplicateNoResult));
  EXPECT_TRUE(log.is_next(kProducer, 3));
}

// Says of each request what the table must say, from the whole history and the plain rules.
class NaiveTable {
 public:
  void record(ClientId client, RequestNumber request, const RequestOutcome& outcome, bool refused) {
    if (!last_use_.contains(client) && last_use_.size() == kClientsMax) {
      const auto oldest = std::ranges::min_element(last_use_, {}, [](const auto& item) { return item.second; });
      std::erase_if(history_, [&](const Past& past) { return past.client == oldest->first; });
      last_use_.erase(oldest);
    }
    last_use_[client] = outcome.op;
    history_.push_back({client, request, refused ? std::nullopt : std::optional(outcome)});
  }
  [[nodiscard]] RequestNumber last(ClientId client) const {
    RequestNumber out;
    for (const Past& past : history_) {
      if (past.client == client) out = std::max(out, past.request);
    }
    return out;
  }
  [[nodiscard]] Result<std::optional<RequestOutcome>> judge(ClientId client, RequestNumber request, U128 checksum) const {
    const RequestNumber newest = last(client);
    if (!last_use_.contains(client) && request != RequestNumber(1)) return fail(Errc::kProducerUnknown, "");
    if (request == newest.next()) return std::nullopt;
    if (request > newest || request.value() == 0) return fail(Errc::kOutOfSequence, "");
    std::size_t newer_outcomes = 0;
    for (auto past = history_.rbegin(); past != history_.rend(); ++past) {
      if (past->client != client || !past->outcome) continue;
      if (past->request == request && newer_outcomes < kOutcomesPerClientMax) {
        if (past->outcome->body_checksum != checksum) return fail(Errc::kRequestReuse, "");
        return past->outcome;
      }
      ++newer_outcomes;
    }
    return fail(Errc::kDuplicateNoResult, "");
  }

 private:
  struct Past {
    ClientId client;
    RequestNumber request;
    std::optional<RequestOutcome> outcome;
  };
  std::map<ClientId, Op> last_use_;
  std::vector<Past> history_;
};

std::string verdict_text(const Result<std::optional<RequestOutcome>>& judged) {
  if (!judged) return std::string(judged.error().code());
  return *judged ? fmt::format("op {} offsets {} to {}", (*judged)->op, (*judged)->base_offset, (*judged)->next_offset) : "next";
}

// Some producers write a lot, many write once and push others out; requests are repeated, reused, skipped. What may enter the log does.
TEST(ClientTable, SaysWhatTheWholeHistorySays) {
  const std::uint64_t seed = system_random().next();
  SCOPED_TRACE(fmt::format("seed {}", seed));
  SeededRandom random(seed);
  RecordedTable log;
  NaiveTable naive;
  std::map<std::string, int> verdicts;
  std::uint64_t strangers = 0;
  for (int i = 0; i < 3600; ++i) {
    const bool stranger = random.below(2) == 0;
    const ClientId client{stranger ? ++strangers : random.below(40), stranger ? 1ULL : 0ULL};
    const std::uint64_t last = naive.last(client).value();
    const std::uint64_t number = random.below(3) == 0 ? last + 2 - std::min(last + 2, random.below(12)) : last + 1;
    const std::uint64_t checksum = random.below(10) == 0 ? 1 : 0;
    const auto expected = naive.judge(client, RequestNumber(number), RecordedTable::body(number, checksum));
    const auto judged = log.judge(client, number, checksum);
    ASSERT_EQ(verdict_text(judged), verdict_text(expected)) << "step " << i;
    ++verdicts[judged ? (*judged ? "original" : "next") : std::string(judged.error().code())];
    if (!judged || *judged) continue;
    const bool refused = random.below(8) == 0;
    naive.record(client, RequestNumber(number), log.record(client, number, checksum, refused), refused);
    if (random.below(100) == 0) {
      auto back = log.encoded_and_decoded();
      ASSERT_TRUE(back.has_value()) << back.error().to_string();
      ASSERT_EQ(*back, log.table);
      log.table = *std::move(back);
    }
  }
  for (const char* verdict : {"next", "original", "partition.out_of_sequence", "partition.request_reuse", "partition.duplicate_no_result",
                              "partition.producer_unknown"}) {
    EXPECT_GT(verdicts[verdict], 0) << verdict;
  }
  EXPECT_EQ(log.table.size(), kClientsMax) << "nobody was pushed out";
}

}  // namespace
}  // namespace sluice::partition
