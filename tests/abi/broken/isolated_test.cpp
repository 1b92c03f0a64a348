// SPDX-License-Identifier: Apache-2.0
// Plugins in processes of their own: what the good ones do arrives, and what the bad ones do ends nothing but their process.
#include <array>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "runtime/isolation/isolated_plugin.hpp"
#include "runtime/plugin/sink_instance.hpp"
#include "runtime/plugin/source_instance.hpp"
#include "tests/abi/broken/broken_fixture.hpp"

namespace sluice::plugin {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {

constexpr std::chrono::milliseconds kLong{60'000};

class KeptLog final : public HostServices {
 public:
  bool log_enabled(LogLevel) override { return true; }
  void log(LogLevel, std::string_view, std::uint32_t, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(message);
    changed_.notify_all();
  }
  void wake() override {}
  void retrying(std::uint32_t, std::chrono::milliseconds, const Outcome&) override {}

  std::vector<std::string> wait_for_lines(std::size_t count) {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kLong, [&] { return lines_.size() >= count; });
    return lines_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> lines_;
};

class KeptRecords final : public RecordSink {
 public:
  AppendAnswer append(const RecordView& record, std::uint32_t output, std::optional<PartitionIndex>) override {
    if (output > 0) return AppendAnswer::kInvalid;
    if (full_after && payloads.size() >= *full_after) return AppendAnswer::kFull;
    payloads.emplace_back(as_text(record.payload.value_or(Bytes{})));
    return AppendAnswer::kOk;
  }
  AppendAnswer refuse(const RecordView&, std::uint32_t, const Outcome&) override { return AppendAnswer::kOk; }

  std::vector<std::string> payloads;
  std::optional<std::size_t> full_after;
};

}  // namespace

class IsolatedPlugin : public BrokenPlugin {
 protected:
  void SetUp() override {
    record_.struct_size = sizeof record_;
    record_.flags = SLUICE_RECORD_HAS_PAYLOAD;
    record_.offset = 10;
    batch_.struct_size = sizeof batch_;
    batch_.record_stride = sizeof(sluice_record);
    batch_.record_count = 1;
    batch_.records = &record_;
  }

  [[nodiscard]] std::shared_ptr<LoadedPlugin> isolated(const std::string& name, std::chrono::milliseconds call_timeout = kLong) {
    if (!std::filesystem::exists(place(name))) install(name);
    auto plugin = isolation::isolate(*catalog_, name, {.call_timeout = call_timeout, .record_bytes_max = 1024});
    EXPECT_TRUE(plugin.has_value()) << plugin.error().to_string();
    return plugin.value_or(nullptr);
  }
  [[nodiscard]] InstanceOptions options() {
    return {.connector_key = "unruly", .secrets = {"hunter2"}, .services = log_, .record_bytes_max = 1024};
  }
  [[nodiscard]] std::unique_ptr<SinkInstance> open_sink(const std::string& name, const std::string& config,
                                                        std::chrono::milliseconds call_timeout = kLong) {
    return opened_sink(isolated(name, call_timeout), config);
  }
  [[nodiscard]] std::unique_ptr<SinkInstance> opened_sink(std::shared_ptr<LoadedPlugin> plugin, const std::string& config) {
    auto sink = SinkInstance::create(std::move(plugin), "", options());
    EXPECT_TRUE(sink.has_value()) << sink.error().text;
    const auto opened = (*sink)->open(config, {});
    EXPECT_TRUE(opened.has_value()) << opened.error().text;
    const Assignment assignment{
        .ref = partition_, .topic = {"orders", "events"}, .partition = {}, .incarnation = {}, .epoch = {}, .committed_next = Offset{10}};
    const auto assigned = (*sink)->assign(std::span(&assignment, 1), {});
    EXPECT_THAT(assigned.value_or(std::vector<Offset>{}), ElementsAre(Offset{10}));
    return *std::move(sink);
  }
  [[nodiscard]] std::unique_ptr<SourceInstance> open_source(const std::string& name, const std::string& config) {
    auto source = SourceInstance::create(isolated(name), "", options());
    EXPECT_TRUE(source.has_value()) << source.error().text;
    EXPECT_TRUE((*source)->open(config, std::nullopt, {}).has_value());
    return *std::move(source);
  }
  [[nodiscard]] WriteReport write(SinkInstance& sink) { return sink.write(partition_, batch_, {}); }
  [[nodiscard]] WriteReport write_and_cancel(SinkInstance& sink) {
    std::thread canceller([&] {
      while (!sink.running_call()) std::this_thread::yield();
      sink.cancel();
    });
    WriteReport report = write(sink);
    canceller.join();
    return report;
  }

  std::shared_ptr<KeptLog> log_ = std::make_shared<KeptLog>();
  client::PartitionRef partition_{GroupId(7)};
  sluice_record record_{};
  sluice_batch batch_{};
};

TEST_F(IsolatedPlugin, SinkTakesRecordsAndIsClosed) {
  const auto sink = open_sink("unruly", "{}");
  const WriteReport report = write(*sink);
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.accepted_next, Offset{11});
  EXPECT_EQ(report.durable_next, Offset{11});
  EXPECT_FALSE(sink->flush({}).failure.has_value());
  EXPECT_TRUE(sink->revoke(std::span(&partition_, 1), {}).has_value());
  EXPECT_TRUE(sink->close({}).has_value());
}

TEST_F(IsolatedPlugin, DeathIsToldWithItsSignalAndLastWordsButNoSecret) {
  const auto sink = open_sink("unruly", R"({"do":"abort"})");
  const WriteReport report = write(*sink);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.accepted_next, Offset{10});
  EXPECT_EQ(report.durable_next, Offset{10});
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kTransient);
  EXPECT_EQ(report.failure->scope, Scope::kConnector);
  EXPECT_EQ(report.failure->code, kProcessEndedCode);
  EXPECT_THAT(report.failure->text, AllOf(HasSubstr("the process of the plugin was killed by SIGABRT"), HasSubstr(" during write"),
                                          HasSubstr("these are my last words, and ***"), Not(HasSubstr("hunter2"))));
  // Whatever comes after it is told the same.
  EXPECT_EQ(sink->flush({}).failure.value_or(Outcome{}).code, kProcessEndedCode);
  const auto closed = sink->close({});
  ASSERT_FALSE(closed.has_value());
  EXPECT_EQ(closed.error().text, report.failure->text);
}

TEST_F(IsolatedPlugin, ExitIsToldWithItsCode) {
  const auto sink = open_sink("unruly", R"({"do":"leave"})");
  const WriteReport report = write(*sink);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_THAT(report.failure->text, HasSubstr("ended with exit code 3 during write; it wrote nothing to its standard error"));
}

TEST_F(IsolatedPlugin, CallThatDoesNotReturnEndsWithItsProcess) {
  const auto sink = open_sink("unruly", R"({"do":"spin"})", std::chrono::milliseconds(2000));
  const WriteReport report = write(*sink);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->code, kProcessHungCode);
  EXPECT_THAT(report.failure->text, HasSubstr("write did not return within "));
}

TEST_F(IsolatedPlugin, CallThatIgnoresACancelEndsWithItsProcess) {
  const auto sink = open_sink("unruly", R"({"do":"spin"})");
  const WriteReport report = write_and_cancel(*sink);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->code, kProcessHungCode);
  EXPECT_FALSE(sink->abandoned());
}

TEST_F(IsolatedPlugin, CancelReachesTheRunningCall) {
  const auto sink = open_sink("unruly", R"({"do":"wait"})");
  const WriteReport report = write_and_cancel(*sink);
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->outcome_class, OutcomeClass::kCancelled);
  EXPECT_EQ(report.failure->text, "it heard the cancel");
  EXPECT_TRUE(sink->close({}).has_value());
}

TEST_F(IsolatedPlugin, LinesOfStandardErrorAreLoggedWithoutSecrets) {
  const auto sink = open_sink("unruly", R"({"do":"talk"})");
  EXPECT_FALSE(write(*sink).failure.has_value());
  EXPECT_THAT(log_->wait_for_lines(1), ElementsAre("a word with ***"));
}

TEST_F(IsolatedPlugin, BrokenContractsAreTheSameSentencesAsInProcess) {
  const auto sink = open_sink("returns_garbage", "");
  const auto sink_here = opened_sink(loaded("returns_garbage"), "");
  const auto source = open_source("returns_garbage", "");
  auto source_here = *SourceInstance::create(loaded("returns_garbage"), "", options());
  for (const char* fault : {"accepted beyond", "accepted before", "durable beyond", "durable back", "record index", "record order",
                            "record untried", "record class", "record null", "null text", "wrong scope", "foreign partition", "status",
                            "no reason", "success after failure", "cancelled by nobody"}) {
    ASSERT_TRUE(sink->open(fault, {}) && sink_here->open(fault, {}));
    const WriteReport there = write(*sink);
    const WriteReport here = write(*sink_here);
    ASSERT_TRUE(there.failure && here.failure) << fault;
    EXPECT_EQ(there.failure->code, here.failure->code) << fault;
    EXPECT_EQ(there.failure->text, here.failure->text) << fault;
  }
  for (const char* fault : {"null record", "null payload", "flags", "hidden key", "header count", "payload length", "key length",
                            "short record", "partition", "huge state", "null state"}) {
    KeptRecords records;
    ASSERT_TRUE(source->open(fault, std::nullopt, {}) && source_here->open(fault, std::nullopt, {}));
    const PollReport there = source->poll({.batch_id = 1}, records, {});
    const PollReport here = source_here->poll({.batch_id = 1}, records, {});
    ASSERT_TRUE(there.failure && here.failure) << fault;
    EXPECT_EQ(there.failure->text, here.failure->text) << fault;
  }
}

TEST_F(IsolatedPlugin, SourceHandsOutItsRecords) {
  const auto source = open_source("unruly", "{}");
  KeptRecords records;
  const PollReport report = source->poll({.records_max = 5, .bytes_max = 100, .wait_until = {}, .batch_id = 1}, records, {});
  EXPECT_FALSE(report.failure.has_value());
  EXPECT_EQ(report.records, 1U);
  EXPECT_THAT(records.payloads, ElementsAre("one"));
  EXPECT_TRUE(source->on_result(1, true, {}).has_value());
  EXPECT_TRUE(source->pause({}).has_value());
  EXPECT_TRUE(source->resume({}).has_value());
  EXPECT_TRUE(source->close({}).has_value());
}

TEST_F(IsolatedPlugin, PollThatIsTurnedAwayFailsAndIsAskedAgain) {
  const auto source = open_source("unruly", "{}");
  KeptRecords records;
  records.full_after = 0;
  const PollReport report = source->poll({.records_max = 5, .bytes_max = 100, .wait_until = {}, .batch_id = 1}, records, {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_EQ(report.failure->code, "plugin.poll_turned_away");
  records.full_after.reset();
  EXPECT_EQ(source->poll({.records_max = 5, .bytes_max = 100, .wait_until = {}, .batch_id = 2}, records, {}).records, 1U);
}

TEST_F(IsolatedPlugin, DeathOfASourceIsToldToo) {
  const auto source = open_source("unruly", R"({"do":"abort"})");
  KeptRecords records;
  const PollReport report = source->poll({.batch_id = 1}, records, {});
  ASSERT_TRUE(report.failure.has_value());
  EXPECT_THAT(report.failure->text, HasSubstr(" during poll"));
  EXPECT_EQ(report.records, 0U);
}

TEST_F(IsolatedPlugin, PluginThatDiesWhileItIsLoadedIsFoundByItsInspection) {
  install("aborts_while_loading");
  const auto plugin = isolation::isolate(*catalog_, "aborts_while_loading", {});
  ASSERT_FALSE(plugin.has_value());
  EXPECT_TRUE(plugin.error().is(Errc::kProbeCrashed));
}

}  // namespace sluice::plugin
