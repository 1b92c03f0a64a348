#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Style that matters, as a test: licence lines, file sizes, include rules, banned identifiers (each with its replacement).

Run it in the tree: python3 tests/unit/style/style_test.py [ROOT]. It prints every finding as file:line and exits 1 if there is one.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.abspath(sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), "..", "..", ".."))

# Who may include whom inside the tree: folder -> prefixes of what its files may include (its own folder is always allowed).
CORE = {
    "core/base": [],
    "core/entry": ["core/base"],
    "core/storage": ["core/base"],
    "core/log": ["core/base", "core/entry", "core/storage"],
    "core/metadata": ["core/base", "core/entry"],
    "core/partition": ["core/base", "core/entry"],
    "core/vsr": ["core/base", "core/entry"],
    "core/node": ["core/base", "core/entry", "core/storage", "core/log", "core/metadata", "core/partition"],
    "core/client": ["core/base", "core/entry", "core/log", "core/metadata", "core/partition", "core/node"],
}
PURE_SDK = ["sluice/abi/", "sluice/retry.hpp", "sluice/duration.hpp", "sluice/size.hpp", "sluice/outcome_class.hpp"]
RUNTIME = ["core/client", "core/base", "core/entry/record.hpp", "core/entry/limits.hpp", "runtime"] + PURE_SDK
INCLUDES = dict(CORE)
INCLUDES.update({
    "tests/simulation/storage": ["core/base", "core/storage"],
    "sdk": ["sluice/"],
    "connectors": ["sluice/"],
    "templates": ["sluice/"],
    # The error catalog lists the codes of every library.
    "runtime/app": RUNTIME + ["core/log", "core/storage", "core/node", "core/entry/errc.hpp", "core/metadata/errc.hpp", "core/partition/errc.hpp"],
    "runtime/bench": RUNTIME + ["core/log", "core/storage", "core/node", "core/entry"],
    "runtime": RUNTIME,
})
ASIO_ALLOWED = ("core/bus", "core/node", "core/client", "runtime", "tests")
DLL_ALLOWED = ("runtime/plugin", "tests/abi")
PURE = ("core/entry", "core/metadata", "core/partition", "core/vsr")
PURE_FORBIDDEN = {"thread", "mutex", "condition_variable", "fstream", "filesystem", "iostream", "random", "future", "fcntl.h", "unistd.h"}
# Inside core/, system calls on files live in core/storage alone.
FILE_CALLS_FORBIDDEN_HEADERS = {"fcntl.h", "unistd.h", "sys/stat.h", "fstream", "dirent.h", "sys/uio.h"}
FILE_CALLS_ALLOWED = ("core/storage",)

BANNED = [
    (re.compile(r"\bsleep_for\b|\busleep\s*\(|[^_]\bsleep\s*\("), ("core", "sdk", "runtime", "connectors", "tests/unit"), "wait on a condition, a timer or the injected clock"),
    (re.compile(r"\bdetached\b\s*\)|\.detach\(\)"), ("core", "sdk", "runtime", "connectors"), "a coroutine or thread has an owner that joins it"),
    (re.compile(r"(?<![_\w:.>])exit\s*\("), ("core", "runtime"), "_Exit after the log is closed: plugins may be loaded"),
    (re.compile(r"\bDISABLED_|\bGTEST_SKIP\b"), ("core", "sdk", "runtime", "connectors", "tests"), "a test runs or is deleted"),
    (re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(connector-author\))"), ("core", "sdk", "runtime", "connectors", "tests"), "do it, or file an issue"),
    (re.compile(r"#include <(format|print)>"), ("core", "sdk", "runtime", "connectors", "tests"), "fmt: libstdc++ 12 has neither"),
    (re.compile(r"co_await .*\(\s*\{|co_await .*\[[^\]]*\]\s*[({]"), ("core", "runtime"), "name the argument first: gcc 12 double-frees it"),
    (re.compile(r"\b(Manager|Helper|Util)\b|\b\w+(Manager|Helper|Utils?)\b"), ("core", "sdk", "runtime", "connectors"), "find the noun"),
]
LINES_MAX = 600
COLUMNS_MAX = 140


def tracked():
    out = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True, check=True).stdout
    return sorted(set(out.splitlines()))


def folder_of(path):
    best = ""
    for folder in INCLUDES:
        if path.startswith(folder + "/") and len(folder) > len(best):
            best = folder
    return best


def check_file(path, text, findings):
    lines = text.splitlines()
    is_code = path.endswith((".cpp", ".hpp", ".h", ".c"))
    is_script = path.endswith((".py", ".sh", ".cmake", "CMakeLists.txt")) or path == ".ci/run"
    if is_code or is_script:
        if not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines[:2]):
            findings.append((path, 1, "first line must be the SPDX line"))
        if len(lines) > LINES_MAX:
            findings.append((path, len(lines), f"{len(lines)} lines: a file beyond {LINES_MAX} holds two concepts"))
    if not is_code:
        return
    folder = folder_of(path)
    allowed = INCLUDES.get(folder)
    for number, line in enumerate(lines, 1):
        if len(line) > COLUMNS_MAX and "http" not in line and 'R"' not in line:
            findings.append((path, number, f"longer than {COLUMNS_MAX} columns"))
        include = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if include:
            check_include(path, number, folder, allowed, include.group(2), findings)
        for pattern, folders, instead in BANNED:
            if path.startswith(tuple(f + "/" for f in folders)) and pattern.search(line) and "style-allow" not in line:
                findings.append((path, number, f"banned here: {pattern.search(line).group(0).strip()!r}; instead: {instead}"))


def check_include(path, number, folder, allowed, target, findings):
    ours = target.startswith(("core/", "runtime/", "sdk/", "connectors/", "sluice/"))
    if ours and allowed is not None and "/tests/" not in path and not path.startswith("sdk/testing"):
        own = target.startswith(folder + "/")
        if not own and not any(target == prefix or target.startswith(prefix if prefix.endswith("/") else prefix + "/") for prefix in allowed):
            findings.append((path, number, f"{folder} may not include {target}"))
    if target.startswith("tests/") and not path.startswith("tests/"):
        findings.append((path, number, "the product includes nothing of tests/"))
    if target.startswith("boost/asio") or target.startswith("boost/beast"):
        if not path.startswith(tuple(p + "/" for p in ASIO_ALLOWED)):
            findings.append((path, number, "Boost.Asio belongs in core/bus, node, client and runtime only"))
    if target.startswith("boost/dll") and not path.startswith(tuple(p + "/" for p in DLL_ALLOWED)):
        findings.append((path, number, "Boost.DLL belongs in runtime/plugin only"))
    if target == "dlfcn.h" and not path.startswith(tuple(p + "/" for p in DLL_ALLOWED)):
        findings.append((path, number, "dlfcn.h belongs in runtime/plugin only"))
    if path.startswith(tuple(p + "/" for p in PURE)) and target in PURE_FORBIDDEN:
        findings.append((path, number, f"{target} in a pure folder: no threads, clocks, files"))
    if path.startswith("core/") and target in FILE_CALLS_FORBIDDEN_HEADERS and not path.startswith(tuple(p + "/" for p in FILE_CALLS_ALLOWED)):
        findings.append((path, number, f"{target}: inside core/, files are touched in core/storage only"))


def main():
    findings = []
    files = tracked()
    for path in files:
        full = os.path.join(ROOT, path)
        if not os.path.isfile(full) or path.endswith((".png", ".bin")) or "/corpus/" in path:
            continue
        try:
            text = open(full, encoding="utf-8").read()
        except UnicodeDecodeError:
            continue
        check_file(path, text, findings)
    for path, number, message in findings:
        print(f"{path}:{number}: {message}")
    print(f"style: {len(files)} files, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
