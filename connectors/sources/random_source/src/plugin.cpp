// SPDX-License-Identifier: Apache-2.0
#include "random_source.hpp"

SLUICE_PLUGIN("random_source", SLUICE_SDK_VERSION, sluice::random_source::RandomSource);
