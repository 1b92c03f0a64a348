// SPDX-License-Identifier: Apache-2.0
#include "file_sink.hpp"

SLUICE_PLUGIN("file_sink", SLUICE_SDK_VERSION, sluice::file_sink::FileSink);
