// SPDX-License-Identifier: Apache-2.0
#include "stdout_sink.hpp"

SLUICE_PLUGIN("stdout_sink", SLUICE_SDK_VERSION, sluice::stdout_sink::StdoutSink);
