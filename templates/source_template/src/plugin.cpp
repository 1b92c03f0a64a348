// SPDX-License-Identifier: Apache-2.0
#include "source_template.hpp"

SLUICE_PLUGIN("source_template", "0.1.0", source_template::SourceTemplate);
