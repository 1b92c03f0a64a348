# SPDX-License-Identifier: Apache-2.0
"""Plays a tutorial of docs/tutorials/: runs every command it shows and compares every output it shows. docs/tutorials/README.md says how
they are written."""
import os
import re
import subprocess
import tempfile
import threading
import time

import installation

COMMAND_TIMEOUT_S = 300
SETTLE_TIMEOUT_S = 90
MARK = "=end-of-command="
HOME = "/home/you"
# In namespaces of its own: an installation in /opt/sluice, an empty HOME, no network but its own loopback, and no process that outlives it.
WORLD = f"""set -e
mount -t tmpfs tmpfs /opt && mkdir /opt/sluice && mount --bind "$1" /opt/sluice
for place in /tmp /home /dev/shm; do mount -t tmpfs tmpfs $place; done
ip link set lo up
mkdir {HOME} && cd {HOME}
exec env -i PATH=/opt/sluice/bin:/usr/local/bin:/usr/bin:/bin HOME={HOME} LANG=C.UTF-8 USER=you CMAKE_BUILD_PARALLEL_LEVEL=2 $2 bash
"""


class Failed(Exception):
    pass


class Step:
    """One fenced block: a file to write, or commands with their outputs."""

    def __init__(self, line, kind, path, text, marks):
        self.line, self.kind, self.path, self.text, self.marks = line, kind, path, text, marks

    def commands(self):
        """(command, expected lines) in order. A command goes on in lines that begin with `> `."""
        out = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                out.append((line[2:], []))
            elif line.startswith("> ") and out and not out[-1][1]:
                out[-1] = (out[-1][0] + "\n" + line[2:], out[-1][1])
            elif out:
                out[-1][1].append(line)
            else:
                raise Failed(f"line {self.line}: output before the first command")
        return out


def steps(path):
    """The blocks that something is to be done with. Marks are comments on the lines before a block: `<!-- file: NAME -->` and so on."""
    marks, step = {}, None
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        text = line.rstrip("\n")
        if step is not None:
            if text == "```":
                yield step
                step, marks = None, {}
            else:
                step.text += line
            continue
        mark = re.fullmatch(r"<!-- (file|not run|settles|exit)(?:: ?| )?(.*?) ?-->", text)
        if mark:
            marks[mark.group(1)] = mark.group(2)
        elif text.startswith("```"):
            if text == "```console":
                step = Step(number, "console", None, "", marks)
            elif "file" in marks:
                step = Step(number, "file", marks["file"], "", marks)
            elif text == "```sh":
                raise Failed(f"line {number}: commands belong into a ```console block, with their output")
            else:
                step = Step(number, "shown", None, "", marks)
        elif text:
            marks = {}


def matches(expected, got):
    """`…` stands for anything within a line, a line of `…` alone for any lines; runs of spaces are one space."""
    pattern = ""
    for line in expected:
        line = re.sub(r"[ \t]+", " ", line.strip())
        pattern += r"(?:[^\n]*\n)*?" if line == "…" else re.escape(line).replace("…", r"[^\n]*?") + r"\n"
    text = "".join(re.sub(r"[ \t]+", " ", line.strip()) + "\n" for line in got)
    return re.fullmatch(pattern, text) is not None


class Shell:
    def __init__(self, prefix, variables):
        namespaces = ["--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc"]
        if os.geteuid() != 0:
            namespaces += ["--user", "--map-root-user"]
        self.process = subprocess.Popen(["unshare", *namespaces, "sh", "-c", WORLD, "sh", prefix, variables], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, command):
        """Exit status and output lines of one command."""
        killer = threading.Timer(COMMAND_TIMEOUT_S, self.process.kill)
        killer.start()
        try:
            self.process.stdin.write(f"{{ {command}\n}} 2>&1 </dev/null\nprintf '%s %s\\n' '{MARK}' $?\n")
            self.process.stdin.flush()
            lines = []
            for line in self.process.stdout:
                text, found, status = line.rstrip("\n").partition(MARK)
                if text or not found:
                    lines.append(text)
                if found:
                    return int(status), lines
        except BrokenPipeError:
            lines = []
        finally:
            killer.cancel()
        raise Failed("the shell has gone, or a command took too long; its last words:\n" + "\n".join(lines))

    def stop(self):
        self.process.kill()
        self.process.communicate()


def run_commands(shell, step):
    commands = step.commands()
    for number, (command, expected) in enumerate(commands):
        is_last = number + 1 == len(commands)
        wanted = int(step.marks["exit"]) if is_last and "exit" in step.marks else 0
        until = time.monotonic() + (SETTLE_TIMEOUT_S if is_last and "settles" in step.marks else 0)
        while True:
            status, got = shell.run(command)
            if status == wanted and matches(expected, got):
                break
            if time.monotonic() >= until:
                raise Failed(f"line {step.line}: $ {command}\nexit status {status}, {wanted} expected\n--- shown\n" + "\n".join(expected) +
                             "\n--- printed\n" + "\n".join(got))
            time.sleep(0.2)
    return len(commands)


def play(path, build):
    """Raises Failed; answers how many commands ran and how many are marked not run."""
    ran, skipped = 0, 0
    with tempfile.TemporaryDirectory(prefix="sluice-tutorial-") as prefix:
        compiler = installation.install(build, prefix)
        shell = Shell(prefix, f"CXX={compiler}" if compiler else "A=")
        try:
            for step in steps(path):
                if "not run" in step.marks:
                    print(f"run-docs: {os.path.basename(path)}:{step.line}: not run: {step.marks['not run']}")
                    skipped += 1
                elif step.kind == "file":
                    shell.run(f"mkdir -p \"$(dirname '{step.path}')\" && cat > '{step.path}' <<'=end-of-file='\n{step.text}=end-of-file=")
                elif step.kind == "console":
                    ran += run_commands(shell, step)
        finally:
            shell.stop()
    return ran, skipped
