// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.hpp"

#include <cerrno>

#include <gtest/gtest.h>

#include "core/base/result.hpp"

namespace sluice {
namespace {

Result<int> half(int value) {
  if (value % 2 != 0) return fail(Errc::kInvalidArgument, "odd");
  return value / 2;
}

Result<int> quarter(int value) {
  SLUICE_TRY(const int once, half(value));
  SLUICE_TRY(const int twice, half(once));
  return twice;
}

TEST(Error, CarriesCodeMessageAndContext) {
  const Error error = Error(Errc::kNotFound, "no such topic").with("topic", "orders");
  EXPECT_TRUE(error.is(Errc::kNotFound));
  EXPECT_FALSE(error.is(Errc::kIo));
  EXPECT_EQ(error.kind(), ErrorKind::kNotFound);
  EXPECT_EQ(error.to_string(), "no such topic (topic=orders) [base.not_found]");
}

TEST(Error, ACopyIsAnErrorOfItsOwn) {
  Error first(Errc::kNotFound, "no such topic");
  Error second = first;
  second.with("topic", "orders");
  EXPECT_EQ(first.to_string(), "no such topic [base.not_found]");
  first = second;
  second.with("stream", "default");
  EXPECT_EQ(first.to_string(), "no such topic (topic=orders) [base.not_found]");
}

TEST(Error, OfAFullDiskIsRetryable) {
  const Error error = errno_error(ENOSPC, "write x");
  EXPECT_TRUE(error.is(Errc::kNoSpace));
  EXPECT_EQ(error.to_string(), "write x: No space left on device (errno=ENOSPC) [base.no_space]");
}

TEST(Result, TryPassesValuesAndErrorsOn) {
  EXPECT_EQ(quarter(12).value(), 3);
  EXPECT_EQ(quarter(6).error().message(), "odd");
}

}  // namespace
}  // namespace sluice
