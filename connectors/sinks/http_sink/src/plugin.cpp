// SPDX-License-Identifier: Apache-2.0
#include "http_sink.hpp"

SLUICE_PLUGIN("http_sink", SLUICE_SDK_VERSION, sluice::http_sink::HttpSink);
