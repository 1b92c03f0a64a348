// SPDX-License-Identifier: Apache-2.0
#include "sink_template.hpp"

SLUICE_PLUGIN("sink_template", "0.1.0", sink_template::SinkTemplate);
