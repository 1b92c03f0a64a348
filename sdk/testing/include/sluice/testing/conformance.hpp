// SPDX-License-Identifier: Apache-2.0
// What every connector must do, as a suite that runs on yours with one line:
//
//     struct MySinkSubject : sluice::testing::SinkSubjectOf<MySink> { … };
//     SLUICE_SINK_CONFORMANCE(MySinkConformance, MySinkSubject);
//
// A subject is the connector together with a back end, or an origin, that the suite can look into and make fail: a fake, or the real one
// behind something that fails on demand. The suite does what a host does, and judges by what the back end has in the end.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sluice/testing/sink_driver.hpp>
#include <sluice/testing/source_driver.hpp>

namespace sluice::testing {

// What does not hold, one sentence each; empty: the connector passes.
using Findings = std::vector<std::string>;

// A connector and what it stands before. Made anew for each case.
class ConformanceSubject {
 public:
  ConformanceSubject() = default;
  ConformanceSubject(const ConformanceSubject&) = delete;
  ConformanceSubject& operator=(const ConformanceSubject&) = delete;
  virtual ~ConformanceSubject() = default;

  // A valid configuration, a JSON object.
  [[nodiscard]] virtual std::string config() const { return "{}"; }

  // Requests that begin from now on hang: until they are cancelled, or until let_go.
  virtual void hang() = 0;
  // Whether one hangs; waits for it at most this long. [any thread]
  [[nodiscard]] virtual bool wait_until_hanging(std::chrono::milliseconds wait_max) = 0;
  // Ends the hanging of one that is deaf to the cancel. [any thread]
  virtual void let_go() = 0;
  // How long a call may take until its request is at the back end.
  [[nodiscard]] virtual std::chrono::milliseconds reach_max() const { return kReachMax; }

  static constexpr std::chrono::milliseconds kReachMax{10'000};
};

// A sink and its back end.
class SinkSubject : public ConformanceSubject {
 public:
  // A new instance on the same back end, not open yet. The one before it is destroyed.
  virtual SinkDriver& make() = 0;
  // The payloads that the back end has for good, in the order in which it took them, repeats included.
  [[nodiscard]] virtual std::vector<std::string> stored() = 0;

  // Of the stores that follow, the n-th (from 0) fails once, as if the back end were busy.
  virtual void fail_store(std::size_t n) = 0;
  // A store with this payload in it is refused, however often it comes.
  virtual void refuse(const std::string& payload) = 0;
};

// A source and its origin, which has at least 12 rows.
class SourceSubject : public ConformanceSubject {
 public:
  // A new instance on the same origin, not open yet. The one before it is destroyed.
  virtual SourceDriver& make() = 0;
  // The payloads of all rows, each another one, in the order of the origin.
  [[nodiscard]] virtual std::vector<std::string> rows() = 0;

  // False: the rows come from nothing that could fail or hang, so the cases of both do not apply; fail_request and hang are not called.
  [[nodiscard]] virtual bool origin_can_fail() const { return true; }
  // Of the requests to the origin that follow, the n-th (from 0) fails once.
  virtual void fail_request(std::size_t n) = 0;
  // The row cannot be made a record any more: it is cut, no valid text, of an unknown shape. Comes for several rows. False: the origin has
  // no such rows.
  virtual bool spoil(std::size_t row) = 0;
};

template <typename Subject>
struct ConformanceCase {
  const char* name;
  Findings (*run)(Subject& subject);
};
[[nodiscard]] std::span<const ConformanceCase<SinkSubject>> sink_cases();
[[nodiscard]] std::span<const ConformanceCase<SourceSubject>> source_cases();

// Of a connector class, without a library around it.
template <typename T>
class SinkSubjectOf : public SinkSubject {
 public:
  SinkDriver& make() override { return *sink_.emplace(); }

 private:
  std::optional<SinkOf<T>> sink_;
};
template <typename T>
class SourceSubjectOf : public SourceSubject {
 public:
  SourceDriver& make() override { return *source_.emplace(); }

 private:
  std::optional<SourceOf<T>> source_;
};

}  // namespace sluice::testing

// NOLINTBEGIN(bugprone-macro-parentheses): names of types take none.
#define SLUICE_CONFORMANCE(suite, subject_type, base, cases)                                  \
  class suite : public ::testing::TestWithParam<::sluice::testing::ConformanceCase<base>> {}; \
  TEST_P(suite, Holds) {                                                                      \
    subject_type subject;                                                                     \
    for (const std::string& finding : GetParam().run(subject)) ADD_FAILURE() << finding;      \
  }                                                                                           \
  INSTANTIATE_TEST_SUITE_P(                                                                   \
      Conformance, suite, ::testing::ValuesIn(cases.begin(), cases.end()),                    \
      [](const ::testing::TestParamInfo<::sluice::testing::ConformanceCase<base>>& of_case) { return of_case.param.name; })
// NOLINTEND(bugprone-macro-parentheses)

// In a file that includes <gtest/gtest.h>: one test per case.
#define SLUICE_SINK_CONFORMANCE(suite, subject_type) \
  SLUICE_CONFORMANCE(suite, subject_type, ::sluice::testing::SinkSubject, ::sluice::testing::sink_cases())
#define SLUICE_SOURCE_CONFORMANCE(suite, subject_type) \
  SLUICE_CONFORMANCE(suite, subject_type, ::sluice::testing::SourceSubject, ::sluice::testing::source_cases())
