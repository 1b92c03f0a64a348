#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A connector from `sluice new` to a running daemon, by the commands that it prints, against an installation alone.

Usage: scaffold_test.py BUILD            installs BUILD to an empty prefix first
       scaffold_test.py --prefix PREFIX  uses what is installed there

Works in an empty folder with an empty HOME and an environment of its own. An SDK with sanitizers goes with one compiler, any other with clang
19 and gcc 12.
"""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "scripts", "lib"))
import installation  # noqa: E402

TESTS_MIN = 8
COMMAND_TIMEOUT_S = 600
START_TIMEOUT_S = 60
CONNECTORS = [("sink", "demo", "Demo", "BackEnd::push"), ("source", "demo_src", "DemoSrc", "BackEnd::fetch")]


class Failed(Exception):
    pass


def check(condition, text):
    if not condition:
        raise Failed(text)


class World:
    """One empty folder and one empty HOME."""

    def __init__(self, root, prefix, compiler):
        self.folder, home = os.path.join(root, "work"), os.path.join(root, "home")
        os.makedirs(self.folder)
        os.makedirs(home)
        self.program = os.path.join(prefix, "bin/sluice")
        self.environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": home, "LANG": "C.UTF-8", "CXX": compiler,
                            "CMAKE_BUILD_PARALLEL_LEVEL": "2", "SLUICE__HTTP__ADDRESS": "127.0.0.1:0"}

    def run(self, command, expected=0):
        done = subprocess.run(["bash", "-c", command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=COMMAND_TIMEOUT_S, text=True)
        check(done.returncode == expected, f"`{command}` left with {done.returncode}, not {expected}:\n{done.stdout}")
        return done.stdout

    def scaffold(self, kind, name):
        """The printed commands."""
        out = self.run(f"{self.program} new {kind} {name}")
        commands = re.findall(r"^  (\S.*)$", out, re.MULTILINE)
        check(len(commands) == 4, f"four commands expected, printed was:\n{out}")
        refused = self.run(f"{self.program} new {kind} {name}", expected=1)
        check("is there already" in refused, f"an existing folder must be refused, printed was:\n{refused}")
        return commands

    def check_names(self, name, type_name):
        """No name of ours is left but the SDK's."""
        for path in glob.glob(os.path.join(self.folder, name, "**"), recursive=True, include_hidden=True):
            shown = os.path.relpath(path, self.folder)
            check("template" not in shown, f"{shown} is still named after the template")
            if os.path.isfile(path) and os.path.basename(path) != "LICENSE":
                found = re.search(r".*(_template|Template).*", open(path, encoding="utf-8").read())
                check(not found, f"{shown} still names the template: {found and found.group(0)}")
        check(os.path.isfile(os.path.join(self.folder, name, "src", f"{name}.cpp")), f"src/{name}.cpp is missing")
        check(f"class {type_name} " in open(os.path.join(self.folder, name, "src", f"{name}.hpp"), encoding="utf-8").read(), "no class")

    def check_daemon(self, command, name, todo):
        """The daemon loads the plugin, and the connector fails at the missing call, by its name."""
        log_path = os.path.join(self.folder, f"{name}.log")
        with open(log_path, "w", encoding="utf-8") as log:
            daemon = subprocess.Popen(["bash", "-c", "exec " + command], cwd=self.folder, env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=subprocess.STDOUT)
        try:
            port_file, status, until = os.path.join(self.folder, name, "example/data/http.port"), "", time.monotonic() + START_TIMEOUT_S
            while f"{todo} is not written yet" not in status:
                check(time.monotonic() < until and daemon.poll() is None,
                      f"{name} does not say that {todo} is missing; status: {status}\ndaemon:\n{open(log_path, encoding='utf-8').read()}")
                time.sleep(0.2)
                if os.path.isfile(port_file):
                    port = open(port_file, encoding="utf-8").read().strip()
                    asked = subprocess.run([self.program, "connector", "status", name, "--json", "--server", f"http://127.0.0.1:{port}"],
                                           env=self.environment, capture_output=True, timeout=60, text=True)
                    status = asked.stdout
            check(json.loads(status)["state"] == "error", f"{name} must be in state error: {status}")
            daemon.send_signal(signal.SIGTERM)
            check(daemon.wait(60) == 0, f"the daemon left with {daemon.returncode}:\n{open(log_path, encoding='utf-8').read()}")
        finally:
            if daemon.poll() is None:
                daemon.kill()
                daemon.wait()


def tests_passed(output):
    return int(re.search(r"100% tests passed, 0 tests failed out of (\d+)", output).group(1))


def follow(root, prefix, compiler, connector):
    kind, name, type_name, todo = connector
    started = time.monotonic()
    world = World(root, prefix, compiler)
    configure, build, test, run = world.scaffold(kind, name)
    world.check_names(name, type_name)
    world.run(configure)
    world.run(build)
    tested = world.run(test)
    count = tests_passed(tested)
    check(count >= TESTS_MIN, f"{count} tests, at least {TESTS_MIN} are expected")
    inspected = world.run(f"{world.program} plugin inspect {name}/build/{name}.so")
    check(f"{kind} {name} 0.1.0" in inspected, f"`plugin inspect` does not tell of it:\n{inspected}")
    world.check_daemon(run, name, todo)
    print(f"scaffold: {kind} {name} with {compiler}: {count} tests, loaded, fails at {todo}; {(time.monotonic() - started) / 60:.1f} min",
          flush=True)


def installed(arguments, scratch):
    """The prefix and the compilers that its SDK goes with."""
    compilers = ["clang++-19", "g++-12"]
    if arguments[0] == "--prefix":
        return os.path.abspath(arguments[1]), compilers
    prefix = os.path.join(scratch, "prefix")
    only = installation.install(arguments[0], prefix)
    return prefix, [only] if only else compilers


def main():
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="sluice-scaffold-") as scratch:
        prefix, compilers = installed(sys.argv[1:], scratch)
        try:
            for compiler in compilers:
                for connector in CONNECTORS:
                    follow(os.path.join(scratch, f"{os.path.basename(compiler)}_{connector[1]}"), prefix, compiler, connector)
        except Failed as failed:
            print(f"scaffold: FAILED: {failed}")
            return 1
    print(f"scaffold: {len(compilers)} compilers, {len(CONNECTORS)} connectors each, {(time.monotonic() - started) / 60:.1f} min")
    return 0


if __name__ == "__main__":
    sys.exit(main())
