#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The pure folders of the core call nothing but memory, text and each other: no undefined symbol outside the list below.

Usage: pure_symbols_test.py BUILD_DIRECTORY
"""
import os
import re
import subprocess
import sys

PURE = ("core_entry", "core_metadata", "core_partition", "core_vsr")
# What a pure folder may ask of the world, as patterns over demangled names. Clocks, files, threads and randomness are not among them.
ALLOWED = [
    r"operator (new|delete)", r"mem(cpy|move|set|cmp|chr)$", r"str(len|cmp)$", r"__(cxa|gxx_personality|stack_chk|dso_handle)", r"_Unwind_Resume$",
    r"__(asan|ubsan|tsan|lsan|sanitizer)_", r"__(start|stop)_asan_globals$", r"(vtable|typeinfo)( name)? for ", r"_GLOBAL_OFFSET_TABLE_$", r"__odr_asan_gen_", r"__(bcmp|assert_fail)$", r"bcmp$",
    r"std::(__cxx11::basic_string|__throw_|terminate|exception|bad_alloc|length_error|logic_error|runtime_error|out_of_range|bad_expected|__detail::|_Rb_tree_|"
    r"_Hash_bytes|__once_|nothrow|bad_function_call|bad_optional_access|bad_variant_access|get_terminate)",
    r"std::_(Rb_tree_|Hash_bytes|_throw)", r"std::__(throw_|detail::)", r"non-virtual thunk", r"fmt::v\d+::", r"sluice::(assertion_failed|Error|error_info|errno_error|to_hex|"
    r"u128_from_hex|xxh3_|to_string)", r"guard variable", r"std::allocator<char>::~?allocator\(", r"__libc_single_threaded$",
]


def symbols(library, flag):
    out = subprocess.run(["nm", "-C", "-P", flag, library], capture_output=True, text=True, check=True).stdout
    names = set()
    for line in out.splitlines():
        match = re.match(r"^(.*?) [A-Za-z](?: [0-9a-f]+)*\s*$", line)
        if match:
            names.add(match.group(1))
    return names


def main():
    build = sys.argv[1]
    libraries = {name: os.path.join(build, "core", name.split("_")[1], f"libsluice_{name}.a") for name in PURE}
    defined = set()
    for library in libraries.values():
        defined |= symbols(library, "--defined-only")
    findings = 0
    for name, library in libraries.items():
        for symbol in sorted(symbols(library, "--undefined-only") - defined):
            if not any(re.match(pattern, symbol) or re.search(r"(^|\s)" + pattern, symbol) for pattern in ALLOWED):
                print(f"{name}: undefined symbol outside the list: {symbol}")
                findings += 1
    print(f"pure symbols: {len(PURE)} libraries, {findings} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
