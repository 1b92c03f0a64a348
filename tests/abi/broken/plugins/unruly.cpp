// SPDX-License-Identifier: Apache-2.0
// A sink that is good for a process of its own only. Its configuration holds one of these words, and its write does that: "abort",
// "segfault", "leave", "spin", "leak" (16 MiB a call), "talk" (to standard error, then take everything), "recover" (abort unless the file
// behind "flag" is there, having made it), "wait" (for a cancel), or take everything. Its source's poll does the same, or hands out one
// record.
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <string>

#include <sluice/abi/entry.h>
#include <unistd.h>

static std::string g_config;
static std::atomic<bool> g_cancelled{false};
static volatile bool g_never = false;
static std::deque<std::string> g_leaked;

static sluice_status open_sink(void*, const sluice_call*, sluice_text config, const sluice_outcome_writer*);
static sluice_status open_source(void*, const sluice_call*, sluice_text config, const sluice_source_state*, const sluice_outcome_writer*);
static sluice_status write_badly(void*, const sluice_call*, const sluice_batch* batch, sluice_write_result* result);
static sluice_status poll_badly(void*, const sluice_call*, const sluice_poll_request*, const sluice_source_writer* writer);
#define MINIMAL_OPEN open_sink
#define MINIMAL_SOURCE_OPEN open_source
#define MINIMAL_WRITE write_badly
static void take_cancel(void*);
#define MINIMAL_POLL poll_badly
#define MINIMAL_CANCEL take_cancel
#include "minimal_plugin.h"

static sluice_status open_sink(void*, const sluice_call*, sluice_text config, const sluice_outcome_writer*) {
  g_config.assign(config.ptr, config.len);
  return SLUICE_OK;
}
static sluice_status open_source(void*, const sluice_call*, sluice_text config, const sluice_source_state*, const sluice_outcome_writer*) {
  g_config.assign(config.ptr, config.len);
  return SLUICE_OK;
}

static void take_cancel(void*) {
  g_cancelled = true;
}

static bool is_told_to(const char* word) {
  return g_config.find(word) != std::string::npos;
}

static void misbehave() {
  if (is_told_to("segfault")) std::raise(SIGSEGV);
  if (is_told_to("leave")) _exit(3);
  if (is_told_to("spin")) {
    while (!g_never) {
    }
  }
  if (is_told_to("leak")) g_leaked.emplace_back(16 << 20, 'x');
  if (is_told_to("talk")) std::fputs("a word with hunter2\nand no end", stderr);
  if (is_told_to("abort")) {
    std::fputs("these are my last words, and hunter2\n", stderr);
    std::abort();
  }
  if (const std::size_t at = g_config.find("flag\":\""); at != std::string::npos) {
    const std::string flag = g_config.substr(at + 7, g_config.find('"', at + 7) - at - 7);
    if (::access(flag.c_str(), F_OK) == 0) return;
    std::fclose(std::fopen(flag.c_str(), "w"));
    std::abort();
  }
}

static sluice_status write_badly(void*, const sluice_call*, const sluice_batch* batch, sluice_write_result* result) {
  misbehave();
  if (is_told_to("wait")) {
    while (!g_cancelled) ::usleep(1000);
    const sluice_outcome outcome = minimal_outcome(SLUICE_CLASS_CANCELLED, SLUICE_SCOPE_CONNECTOR, "it heard the cancel");
    result->call_failed(result->host_data, &outcome);
    return SLUICE_FAILED;
  }
  result->accepted_next = result->durable_next = batch->records[batch->record_count - 1].offset + 1;
  return SLUICE_OK;
}

static sluice_status poll_badly(void*, const sluice_call*, const sluice_poll_request*, const sluice_source_writer* writer) {
  misbehave();
  sluice_record record{};
  record.struct_size = sizeof record;
  record.flags = SLUICE_RECORD_HAS_PAYLOAD;
  record.payload = {reinterpret_cast<const std::uint8_t*>("one"), 3};
  return writer->append(writer->host_data, &record, 0, SLUICE_ANY_PARTITION) == SLUICE_APPEND_OK ? SLUICE_OK : SLUICE_FAILED;
}
