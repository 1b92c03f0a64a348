// SPDX-License-Identifier: Apache-2.0
#include "core/node/catalog_host.hpp"

#include <fmt/format.h>

#include "tests/unit/core/node/host_fixture.hpp"

namespace sluice::node {
namespace {

using CatalogHostTest = HostFixture;

TEST_F(CatalogHostTest, ItsLogGoesWhereACheckpointCoversIt) {
  log::LogOptions with = options();
  with.group = kMetadataGroup;
  with.incarnation = Incarnation(0);
  CatalogHost host({}, open_log(with), {}, clock_);
  for (int i = 0; i < 200; ++i) {
    host.propose(metadata::SetPaused{fmt::format("connector_{}", i % 5), i % 2 == 0},
                 [](const Result<metadata::Change>& outcome) { EXPECT_TRUE(outcome.has_value()) << outcome.error().to_string(); });
    queue_.run_all();
  }
  std::size_t segments = 0;
  for (const auto& [path, node] : storage_.files()) segments += path.ends_with(".log") ? 1 : 0;
  EXPECT_LE(segments, 2U);
  std::optional<Result<void>> closed;
  host.close(into(closed));
  queue_.run_all();
  ASSERT_TRUE(closed.has_value());
  EXPECT_TRUE(closed->has_value());
}

}  // namespace
}  // namespace sluice::node
