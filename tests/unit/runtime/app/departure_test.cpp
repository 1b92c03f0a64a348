// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/departure.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdlib>

#include <gtest/gtest.h>

namespace sluice::app {
namespace {

using std::chrono::steady_clock;

// Each case runs in a child process: it blocks signals, and leaving is what is tested.
class DepartureTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  static void signal_self(int signal) { kill(getpid(), signal); }
  [[noreturn]] static void pass_if(bool held) { std::_Exit(held ? 77 : 1); }
  // For what another thread has to do; it ends the process.
  [[noreturn]] static void wait_for_the_end() {
    for (;;) pause();
  }
};

TEST_F(DepartureTest, WaitNamesTheSignalAndPassesOverSighup) {
  EXPECT_EXIT(
      {
        Departure departure;
        signal_self(SIGHUP);
        signal_self(SIGTERM);
        pass_if(departure.wait().signal == "SIGTERM");
      },
      testing::ExitedWithCode(77), "");
}

TEST_F(DepartureTest, FatalEndsTheWaitWithItsError) {
  EXPECT_EXIT(
      {
        Departure departure;
        std::thread shard([&] { departure.fatal(Error(Errc::kIo, "write failed")); });
        const Departure::Reason reason = departure.wait();
        shard.join();
        pass_if(reason.fatal.has_value() && reason.fatal->message() == "write failed");
      },
      testing::ExitedWithCode(77), "");
}

TEST_F(DepartureTest, ASecondSignalLeavesAtOnce) {
  EXPECT_EXIT(
      {
        Departure departure;
        departure.watch(steady_clock::now() + std::chrono::hours(1));
        signal_self(SIGTERM);
        wait_for_the_end();
      },
      testing::ExitedWithCode(1), "a second SIGTERM");
}

TEST_F(DepartureTest, APassedDeadlineLeavesAndNamesTheStep) {
  EXPECT_EXIT(
      {
        Departure departure;
        departure.set_step("log");
        departure.watch(steady_clock::now());
        wait_for_the_end();
      },
      testing::ExitedWithCode(1), "deadline has passed in step 'log'");
}

TEST_F(DepartureTest, FatalDuringTheStopLeavesWithItsOwnCode) {
  EXPECT_EXIT(
      {
        Departure departure;
        departure.watch(steady_clock::now() + std::chrono::hours(1));
        departure.fatal(Error(Errc::kIo, "sync failed"));
        wait_for_the_end();
      },
      testing::ExitedWithCode(6), "sync failed");
}

TEST_F(DepartureTest, TheWatchEndsWithItsOwner) {
  EXPECT_EXIT(
      {
        {
          Departure departure;
          departure.watch(steady_clock::now() + std::chrono::hours(1));
        }
        pass_if(true);
      },
      testing::ExitedWithCode(77), "");
}

}  // namespace
}  // namespace sluice::app
