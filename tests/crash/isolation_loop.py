#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a bad sink in a process of its own costs the others.

    tests/crash/isolation_loop.py --build build/release [--rounds 5] [--records 30000000]

Moves records through random_source → log → null_sink, in turn alone and beside a sink on the same topic that segfaults, leaks or spins in
every write, under isolation = "process". Each time all records must arrive, the good connectors must be `running` without a restart whenever they are looked at, and the bad
one must say why. Prints the median rate of each over the rounds, and its ratio to the rate alone.
"""
import argparse
import os
import statistics
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WHY = {
    "segfault": ("plugin.process_ended", "was killed by SIGSEGV"),
    "leak": ("plugin.process_ended", "it had used up process.memory_max"),
    "spin": ("plugin.process_hung", "write did not return within "),
}
TOPIC = """[[streams]]
stream = "demo"
topic = "random"
enforce_fsync = false
"""


def connectors(build, bad, records):
    out = {
        "numbers": f'key = "numbers"\ntype = "source"\nplugin = "random_source"\n{TOPIC}[plugin_config]\ncount = {records}\nrate = 0\nseed = 7\n',
        "drain": f'key = "drain"\ntype = "sink"\nplugin = "null_sink"\n{TOPIC}',
    }
    if bad:
        # A spinning call is ended after two seconds, so that the cause is there while the others still run; the next one spins again.
        out["bad"] = (f'key = "bad"\ntype = "sink"\nplugin = "{build}/broken_plugins/unruly.so"\nisolation = "process"\n'
                      f'process = {{ call_timeout = "2s" }}\n{TOPIC}[plugin_config]\ndo = "{bad}"\n')
    return out


def delivered(status):
    return sum(p["accounting"]["delivered"] for p in status["partitions"])


def run(fixture, bad, records):
    """Records per second of the good pipeline, from the first tenth on."""
    daemon = fixture.Daemon(connectors(fixture.BUILD, bad, records))
    try:
        daemon.start()
        for key in ("numbers", "drain"):
            fixture.wait_for(lambda key=key: daemon.get(f"/api/v1/connectors/{key}")["state"] == "running", 60, f"running {key}")
        first = None
        deadline = time.monotonic() + 300
        while True:
            status = {key: daemon.get(f"/api/v1/connectors/{key}") for key in ("numbers", "drain")}
            now = time.monotonic()
            for key in status:
                if status[key]["state"] != "running" or status[key]["restarts"] != 0:
                    raise AssertionError(f"beside '{bad}' {key} is {status[key]['state']} after {status[key]['restarts']} restarts")
            count = delivered(status["drain"])
            if first is None and count >= records / 10:
                first = (now, count)
            if count == records:
                break
            if now > deadline:
                raise AssertionError(f"beside '{bad}' {count} of {records} records arrived in 300 s")
            time.sleep(0.02)
        rate = (count - first[1]) / (now - first[0])
        if bad:
            code, text = WHY[bad]
            error = fixture.wait_for(lambda: daemon.get("/api/v1/connectors/bad")["last_error"], 60, "error of the bad sink")
            if error["code"] != code or text not in error["text"]:
                raise AssertionError(f"the sink that should {bad} says {error['code']}: {error['text']}")
        if daemon.stop() != 0:
            raise AssertionError(f"beside '{bad}' the daemon left with {daemon.process.returncode}:\n{daemon.read('daemon.log')}")
        return rate
    finally:
        daemon.remove()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--records", type=int, default=30_000_000)
    options = parser.parse_args()
    sys.argv = [sys.argv[0], options.build, os.path.join(HERE, "../..")]
    sys.path.insert(0, os.path.join(HERE, "../integration/control"))
    import daemon_fixture  # it takes the build from the command line  # pylint: disable=import-outside-toplevel
    rates = {bad: [] for bad in (None, *WHY)}
    for _ in range(options.rounds):
        for bad, found in rates.items():
            found.append(run(daemon_fixture, bad, options.records))
    alone = statistics.median(rates[None])
    for bad, found in rates.items():
        median = statistics.median(found)
        print(f"isolation: {bad or 'alone':9} {median:12.0f} records/s  {median / alone:5.2f}   of {' '.join(f'{rate:.0f}' for rate in found)}")


if __name__ == "__main__":
    main()
