// SPDX-License-Identifier: Apache-2.0
// cancel_probe URL: makes a request, cancels it when a byte comes on standard input, and prints how the request ended and after how many
// milliseconds.
#include <sluice/http_client.hpp>

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <thread>

int main(int argc, char** argv) {
  using Clock = std::chrono::steady_clock;
  if (argc != 2) return 64;
  std::stop_source stop;
  sluice::HttpClient client({}, stop.get_token());
  Clock::time_point cancelled;
  std::thread canceller([&] {
    std::getchar();
    cancelled = Clock::now();
    stop.request_stop();
  });
  const sluice::HttpEnd end = client.perform({.url = argv[1]}).end;
  const Clock::time_point ended = Clock::now();
  canceller.join();
  const std::chrono::duration<double, std::milli> took = ended - cancelled;
  std::printf("%s %.3f\n", end == sluice::HttpEnd::kCancelled ? "cancelled" : "not cancelled", took.count());
  return 0;
}
