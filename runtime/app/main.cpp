// SPDX-License-Identifier: Apache-2.0
#include "runtime/app/cli.hpp"

int main(int argc, char** argv) {
  return sluice::app::run_command_line(argc, argv);
}
