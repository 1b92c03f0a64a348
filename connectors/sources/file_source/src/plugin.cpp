// SPDX-License-Identifier: Apache-2.0
#include "file_source.hpp"

SLUICE_PLUGIN("file_source", SLUICE_SDK_VERSION, sluice::file_source::FileSource);
