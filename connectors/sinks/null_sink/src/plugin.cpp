// SPDX-License-Identifier: Apache-2.0
#include "null_sink.hpp"

SLUICE_PLUGIN("null_sink", SLUICE_SDK_VERSION, sluice::null_sink::NullSink);
