# SPDX-License-Identifier: Apache-2.0
"""What a build installs, for tests that use nothing else."""
import os
import re
import subprocess


def _cache_entry(build, name):
    text = open(os.path.join(build, "CMakeCache.txt"), encoding="utf-8").read()
    found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
    return found.group(1) if found else ""


def install(build, prefix):
    """Installs to the prefix. Answers the one compiler that its SDK goes with, None if any does: a library with sanitizers needs the compiler
    that made it."""
    subprocess.run(["cmake", "--install", build, "--prefix", prefix], check=True, stdout=subprocess.DEVNULL)
    return _cache_entry(build, "CMAKE_CXX_COMPILER") if _cache_entry(build, "SLUICE_SANITIZE") else None
