// SPDX-License-Identifier: Apache-2.0
// Plugins that load and then misbehave: the call ends in an outcome with a sentence, and nothing of it is believed.
#include <unistd.h>

#include <array>
#include <thread>

#include "runtime/plugin/sink_instance.hpp"
#include "runtime/plugin/source_instance.hpp"
#include "tests/abi/broken/broken_fixture.hpp"

namespace sluice::plugin {

using ::testing::HasSubstr;
using ::testing::Not;

namespace {

constexpr Offset kFirst{10};

// Three records at offsets 10..12 of one partition.
class ThreeRecords {
 public:
  ThreeRecords() {
    for (std::size_t i = 0; i < records_.size(); ++i) {
      records_[i].struct_size = sizeof(sluice_record);
      records_[i].offset = kFirst.value() + i;
    }
    batch_.struct_size = sizeof batch_;
    batch_.record_stride = sizeof(sluice_record);
    batch_.record_count = static_cast<std::uint32_t>(records_.size());
    batch_.records = records_.data();
  }
  [[nodiscard]] const sluice_batch& batch() const { return batch_; }

 private:
  std::array<sluice_record, 3> records_{};
  sluice_batch batch_{};
};

constexpr client::PartitionRef kPartition{GroupId(7)};

class CountingSink final : public RecordSink {
 public:
  AppendAnswer append(const RecordView&, std::uint32_t, std::optional<PartitionIndex>) override {
    ++records;
    return AppendAnswer::kOk;
  }
  AppendAnswer refuse(const RecordView&, std::uint32_t, const Outcome&) override { return AppendAnswer::kOk; }

  int records = 0;
};

}  // namespace

class MisbehavingPlugin : public BrokenPlugin {
 protected:
  [[nodiscard]] std::unique_ptr<SinkInstance> open_sink(const std::string& plugin, const std::string& config) {
    auto sink = SinkInstance::create(loaded(plugin), "", {.connector_key = "broken", .secrets = {"hunter2"}, .services = nullptr});
    EXPECT_TRUE(sink.has_value()) << sink.error().text;
    EXPECT_TRUE((*sink)->open(config, {}).has_value());
    const Assignment assignment{
        .ref = kPartition, .topic = {"orders", "events"}, .partition = {}, .incarnation = {}, .epoch = {}, .committed_next = kFirst};
    EXPECT_TRUE((*sink)->assign(std::span(&assignment, 1), {}).has_value());
    return *std::move(sink);
  }
  [[nodiscard]] std::unique_ptr<SourceInstance> open_source(const std::string& plugin, const std::string& config) {
    auto source = SourceInstance::create(loaded(plugin), "", {.connector_key = "broken", .secrets = {}, .services = nullptr});
    EXPECT_TRUE(source.has_value()) << source.error().text;
    EXPECT_TRUE((*source)->open(config, std::nullopt, {}).has_value());
    return *std::move(source);
  }
  // One write of the garbage sink.
  [[nodiscard]] Outcome write_fault(const std::string& mode) {
    auto sink = open_sink("returns_garbage", mode);
    const WriteReport report = sink->write(kPartition, records_.batch(), {});
    EXPECT_TRUE(sink->close({}).has_value());
    EXPECT_EQ(report.accepted_next, kFirst) << mode;
    EXPECT_EQ(report.durable_next, kFirst) << mode;
    EXPECT_TRUE(report.failures.empty()) << mode;
    EXPECT_TRUE(report.failure.has_value()) << mode;
    return report.failure.value_or(Outcome{});
  }
  [[nodiscard]] Outcome poll_fault(const std::string& mode) {
    auto source = open_source("returns_garbage", mode);
    CountingSink records;
    const PollReport report = source->poll({}, records, {});
    EXPECT_TRUE(report.failure.has_value()) << mode;
    EXPECT_FALSE(report.state.has_value()) << mode;
    return report.failure.value_or(Outcome{});
  }

  ThreeRecords records_;
};

TEST_F(MisbehavingPlugin, GarbageFromAWriteIsFatalAndNamed) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"accepted beyond", "write accepted up to 14 of a batch of offsets 10..12 of orders/events partition 0"},
      {"accepted before", "write accepted up to 0 of a batch of offsets 10..12"},
      {"durable beyond", "called orders/events partition 0 durable up to 18446744073709551615, but had accepted only up to 10"},
      {"durable back", "durable offset of orders/events partition 0 went back from 10 to 0"},
      {"record index", "write reported record 3 as failed in a batch of 3"},
      {"record order", "write reported record 0 as failed after record 1"},
      {"record untried", "write reported offset 11 of orders/events partition 0 as failed, but had tried only up to 10"},
      {"record class", "unknown class 99"},
      {"record null", "null outcome"},
      {"null text", "a text that has a length but no bytes"},
      {"wrong scope", "failure of record 0 with scope connector"},
      {"foreign partition", "a partition that it does not own"},
      {"status", "write returned the unknown status -77"},
      {"no reason", "write failed without saying why"},
      {"success after failure", "write returned success after it had reported a failure: back end is away"},
      {"cancelled by nobody", "write reported that it was cancelled, but nobody had cancelled it"},
  };
  for (const auto& [mode, sentence] : faults) {
    const Outcome outcome = write_fault(mode);
    EXPECT_EQ(outcome.outcome_class, OutcomeClass::kFatal) << mode;
    EXPECT_EQ(outcome.scope, Scope::kConnector) << mode;
    EXPECT_TRUE(outcome.code.starts_with("plugin.")) << mode;
    EXPECT_THAT(outcome.text, HasSubstr(sentence)) << mode;
  }
}

TEST_F(MisbehavingPlugin, GarbageFromAPollIsFatalAndNamed) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"null record", "poll appended a null record"},
      {"null payload", "record 0 of the poll has a payload with a length but no bytes"},
      {"flags", "record 0 of the poll has unknown flags"},
      {"hidden key", "has a key, but its flags say that it has none"},
      {"header count", "has headers with a count but no array"},
      {"payload length", "record 0 of the poll has a payload of 9223372036854775807 bytes"},
      {"key length", "record 0 of the poll has a key of 9223372036854775807 bytes"},
      {"short record", "is shorter than the record of this ABI"},
      {"partition", "poll appended to partition -5"},
      {"huge state", "poll set a state of more than 1048576 bytes and went on"},
      {"null state", "poll set a state with a length but no bytes"},
  };
  for (const auto& [mode, sentence] : faults) {
    const Outcome outcome = poll_fault(mode);
    EXPECT_EQ(outcome.outcome_class, OutcomeClass::kFatal) << mode;
    EXPECT_THAT(outcome.text, HasSubstr(sentence)) << mode;
  }
}

TEST_F(MisbehavingPlugin, SourceThatIsDeafToFullHandsOutNoMoreThanAsked) {
  auto source = open_source("returns_garbage", "too many");
  CountingSink records;
  const PollReport report = source->poll({.records_max = 5}, records, {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_TRUE(report.full);
  EXPECT_EQ(report.records, 5u);
  EXPECT_EQ(records.records, 5);
}

TEST_F(MisbehavingPlugin, ExceptionAcrossTheInterfaceBecomesAFatalOutcomeWithoutSecrets) {
  auto sink = open_sink("throws_across", "");
  const WriteReport report = sink->write(kPartition, records_.batch(), {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kFatal);
  EXPECT_EQ(report.failure->code, kThrewCode);
  EXPECT_THAT(report.failure->text, HasSubstr("write threw an exception across the plugin interface: socket fell over, password=***"));
  EXPECT_THAT(report.failure->text, Not(HasSubstr("hunter2")));
  EXPECT_EQ(report.accepted_next, kFirst);
  EXPECT_FALSE(sink->running_call().has_value());
  EXPECT_TRUE(sink->close({}).has_value());
}

TEST_F(MisbehavingPlugin, ThrownNonExceptionBecomesAFatalOutcome) {
  auto sink = SinkInstance::create(loaded("throws_across"), "", {});
  ASSERT_TRUE(sink.has_value());
  const auto opened = (*sink)->open("x", {});
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().text, HasSubstr("open threw"));
}

TEST_F(MisbehavingPlugin, CallThatIgnoresCancelIsSeenRunningAndCanBeAbandoned) {
  std::array<int, 2> release{};
  ASSERT_EQ(::pipe(release.data()), 0);
  auto sink = open_sink("ignores_cancel", std::to_string(release[0]));
  SinkInstance* shared = sink.get();
  std::optional<WriteReport> report;
  std::thread worker([&] { report = shared->write(kPartition, records_.batch(), {}); });

  std::optional<RunningCall> running;
  while (!(running = sink->running_call())) std::this_thread::yield();
  EXPECT_EQ(running->name, "write");
  EXPECT_LE(running->started, system_clock().monotonic());
  sink->cancel();
  ASSERT_TRUE(sink->running_call().has_value());
  sink->abandon();
  EXPECT_TRUE(sink->abandoned());
  sink.reset();  // leaks the plugin's side: the call may still return into it, as it does now

  ASSERT_EQ(::write(release[1], "x", 1), 1);
  worker.join();
  EXPECT_TRUE(report.has_value());
  ::close(release[0]);
  ::close(release[1]);
}

TEST_F(MisbehavingPlugin, CancelledInstanceIsNotCalledAgain) {
  auto sink = open_sink("healthy", "");
  sink->cancel();
  const WriteReport report = sink->write(kPartition, records_.batch(), {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
  EXPECT_EQ(report.accepted_next, kFirst);
  EXPECT_TRUE(sink->close({}).has_value());
}

TEST_F(MisbehavingPlugin, LoadedCopyGoesOnWhenTheFileIsOverwritten) {
  auto sink = open_sink("healthy", "");
  write(place("healthy"), std::string(read(place("healthy")).size(), '\xCC'));
  const WriteReport report = sink->write(kPartition, records_.batch(), {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.durable_next, Offset(13));
  EXPECT_TRUE(sink->close({}).has_value());
}

TEST_F(MisbehavingPlugin, RebuiltFileIsAnotherPluginAndTheSameContentsAreLoadedOnce) {
  const auto first = loaded("healthy");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->description().version, "1.0.0");
  EXPECT_EQ(loaded("healthy"), first);
  EXPECT_EQ(catalog_->inspect("healthy")->version, "1.0.0");

  write(place("healthy"), read(built("healthy_rebuilt")));
  const auto second = loaded("healthy");
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(second->description().version, "2.0.0");
  EXPECT_EQ(catalog_->inspect("healthy")->version, "2.0.0");
  EXPECT_EQ(first->description().version, "1.0.0");
}

TEST_F(MisbehavingPlugin, SeveralConnectorsThatStartAtOnceShareOneLibrary) {
  install("healthy");
  std::array<std::shared_ptr<LoadedPlugin>, 4> plugins;
  {
    std::vector<std::jthread> starting;
    for (auto& plugin : plugins) starting.emplace_back([&] { plugin = catalog_->load("healthy").value_or(nullptr); });
  }
  ASSERT_NE(plugins[0], nullptr);
  for (const auto& plugin : plugins) EXPECT_EQ(plugin, plugins[0]);
}

}  // namespace sluice::plugin
