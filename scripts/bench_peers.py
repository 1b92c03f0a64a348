#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Durable small writes by eight clients, on this machine, one after the other: `sluice bench log`, redis-server streams with
`appendfsync always`, and single-row commits of PostgreSQL. Both servers run on loopback in a temporary directory and are stopped again.

    scripts/bench_peers.py [--sluice build/release/bin/sluice] [--scratch DIR] [--seconds 10] [--json]

Needs redis-server and PostgreSQL: apt-get install redis-server postgresql
"""
import argparse
import glob
import json
import os
import pwd
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time

CLIENTS = 8
RECORD_BYTES = 100
BATCH_RECORDS = 10


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def need(program, places=()):
    for place in ["", *places]:
        found = shutil.which(os.path.join(place, program))
        if found:
            return found
    sys.exit(f"bench_peers: {program} is not installed; apt-get install redis-server postgresql")


def wait_for_port(port, process, what):
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if process.poll() is not None:
            sys.exit(f"bench_peers: {what} ended with {process.returncode}")
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    sys.exit(f"bench_peers: {what} does not listen after 20 s")


def row(name, records_per_s, p50_ms, how):
    return {"case": name, "producers": CLIENTS, "records_per_s": records_per_s, "p50_us": p50_ms * 1000, "how": how}


def measure_sluice(program, scratch):
    out = subprocess.run([program, "bench", "log", "--json", "--scratch", scratch], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        figure = json.loads(line)
        if figure["case"] == "8 producers, fsync, 1 partition" and figure["placement"] == "own" and figure["metric"] == "p50":
            return row("sluice log, 8 producers", figure["records_per_s"], figure["p50_us"] / 1000,
                       f"batches of {BATCH_RECORDS} x {RECORD_BYTES} B, one partition")
    sys.exit("bench_peers: `sluice bench log` printed no case with 8 producers")


def measure_redis(scratch, seconds):
    server, client, port = need("redis-server"), need("redis-benchmark"), free_port()
    process = subprocess.Popen([server, "--port", str(port), "--bind", "127.0.0.1", "--dir", scratch, "--save", "", "--appendonly", "yes",
                                "--appendfsync", "always", "--daemonize", "no"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, process, "redis-server")
        command = [client, "-p", str(port), "-c", str(CLIENTS), "-P", str(BATCH_RECORDS), "--csv"]
        write = ["XADD", "stream", "*", "field", "x" * RECORD_BYTES]
        # A short run says how many requests fill the time.
        probe = redis_rate(command + ["-n", "4000"] + write)[0]
        rate, p50_ms = redis_rate(command + ["-n", str(max(4000, int(probe * seconds)))] + write)
        return row("redis streams, appendfsync always", rate, p50_ms, f"XADD of {RECORD_BYTES} B, {BATCH_RECORDS} in a pipeline")
    finally:
        process.terminate()
        process.wait()


def redis_rate(command):
    out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    header, values = [[cell.strip('"') for cell in re.findall(r'"(?:[^"\\]|\\.)*"', line)] for line in out.strip().splitlines()[-2:]]
    cells = dict(zip(header, values))
    return float(cells["rps"]), float(cells["p50_latency_ms"])


def measure_postgres(scratch, seconds):
    places = sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    initdb, postgres, pgbench, psql = (need(name, places) for name in ("initdb", "postgres", "pgbench", "psql"))
    data, port = os.path.join(scratch, "postgres"), free_port()
    as_user = []
    if os.geteuid() == 0:  # PostgreSQL refuses to run as root
        os.mkdir(data)
        shutil.chown(data, pwd.getpwnam("postgres").pw_uid)
        as_user = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"]
    environment = {**os.environ, "PGHOST": "127.0.0.1", "PGPORT": str(port), "PGUSER": "bench", "PGDATABASE": "postgres"}
    subprocess.run([*as_user, initdb, "-D", data, "-U", "bench", "-A", "trust", "--no-sync"], check=True, stdout=subprocess.DEVNULL)
    process = subprocess.Popen([*as_user, postgres, "-D", data, "-p", str(port), "-c", "listen_addresses=127.0.0.1",
                                "-c", f"unix_socket_directories={data}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for_port(port, process, "postgres")
        for _ in range(100):
            if subprocess.run([psql, "-qc", "create table if not exists t (id bigserial primary key, payload text)"], env=environment,
                              stderr=subprocess.DEVNULL, check=False).returncode == 0:
                break
            time.sleep(0.1)
        script = os.path.join(scratch, "insert.sql")
        with open(script, "w", encoding="utf-8") as file:
            file.write(f"insert into t (payload) values ('{'x' * RECORD_BYTES}');\n")
        out = subprocess.run([pgbench, "-n", "-c", str(CLIENTS), "-j", "2", "-T", str(seconds), "-f", script], env=environment, check=True,
                             capture_output=True, text=True).stdout
        rate = float(re.search(r"tps = ([\d.]+)", out).group(1))
        mean_ms = float(re.search(r"latency average = ([\d.]+)", out).group(1))
        return row("PostgreSQL, single-row commits", rate, mean_ms, f"insert of {RECORD_BYTES} B; the latency is the mean")
    finally:
        process.terminate()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sluice", default="build/release/bin/sluice")
    parser.add_argument("--scratch", default=None, help="on the device to be measured; default: the temporary directory")
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    scratch = tempfile.mkdtemp(prefix="sluice-peers-", dir=arguments.scratch)
    os.chmod(scratch, 0o755)
    try:
        rows = [measure_sluice(arguments.sluice, scratch), measure_redis(scratch, arguments.seconds),
                measure_postgres(scratch, arguments.seconds)]
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for measured in rows:
        if arguments.json:
            print(json.dumps(measured))
        else:
            print(f"{measured['case']:36} {measured['records_per_s']:10.0f} records/s   p50 {measured['p50_us']:8.0f} us   {measured['how']}")


if __name__ == "__main__":
    main()
