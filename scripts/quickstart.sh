#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets everything up on Debian 12, builds the release and runs the main job: FILE → file_source → log → file_sink.
#   scripts/quickstart.sh [FILE]   default: /var/log/dpkg.log, or a shipped sample if there is none
#   scripts/quickstart.sh --stop   stops every daemon that it started
# The daemon stays up. A second run finds what it has and delivers nothing twice.
set -euo pipefail
cd "$(dirname "$0")/.."
root=$(pwd -P)
work=$root/.quickstart

# Whether the process that the pid file names is our daemon: after a reboot the number may be anybody's.
runs() {  # pid file
  [ -f "$1" ] && [ "$(readlink "/proc/$(cat "$1")/exe" 2>/dev/null | sed 's/ (deleted)$//')" = "$root/build/release/bin/sluice" ]
}

stop_daemon() {  # pid file
  local pid
  pid=$(cat "$1")
  if runs "$1"; then
    kill -TERM "$pid"
    for _ in $(seq 600); do runs "$1" || break; sleep 0.1; done
    if runs "$1"; then
      echo "quickstart: the daemon with pid $pid is still there after 60 s; see daemon.log beside $1" >&2
      exit 1
    fi
    echo "quickstart: stopped the daemon with pid $pid"
  fi
  rm -f "$1"
}

if [ "${1:-}" = --stop ]; then
  found=0
  for file in "$work"/*/sluice.pid; do
    [ -f "$file" ] || continue
    found=1
    stop_daemon "$file"
  done
  [ $found = 1 ] || echo "quickstart: no daemon is running"
  exit 0
fi

input=${1:-/var/log/dpkg.log}
if [ $# -eq 0 ] && [ ! -s "$input" ]; then input=$root/scripts/sample/access.log; fi
if [ ! -f "$input" ] || [ ! -r "$input" ]; then
  echo "quickstart: $input is not a readable file" >&2
  exit 1
fi
input=$(realpath "$input")

scripts/setup.sh --build
cmake --preset release -DSLUICE_ALL_CONNECTORS=ON >"$(mktemp)" 2>&1 || { cmake --preset release -DSLUICE_ALL_CONNECTORS=ON; exit 1; }
cmake --build --preset release --target product
sluice=$root/build/release/bin/sluice

# Each input file has a workspace of its own (snapshot, configuration, data, output), and so has each new file of the same name after a rotation.
job=$work/$(basename "$input" | tr -c 'A-Za-z0-9\n' _ | cut -c1-32)-$({ printf %s "$input"; head -n 1 "$input"; } | sha256sum | cut -c1-8)
mkdir -p "$job/in" "$job/out" "$job/connectors.d"
snapshot=$job/in/snapshot.log
python3 scripts/lib/snapshot.py "$input" "$snapshot"

cat >"$job/sluice.toml" <<TOML
data_dir = "data"
connectors_dir = "connectors.d"

[http]
address = "127.0.0.1:0"

[plugins]
path = ["$root/build/release/plugins"]
TOML
cat >"$job/connectors.d/file_in.toml" <<TOML
key = "file_in"
type = "source"
plugin = "file_source"

[[streams]]
stream = "quickstart"
topic = "lines"

[plugin_config]
paths = ["$snapshot"]
TOML
cat >"$job/connectors.d/file_out.toml" <<TOML
key = "file_out"
type = "sink"
plugin = "file_sink"

[[streams]]
stream = "quickstart"
topic = "lines"

[plugin_config]
path = "$job/out/lines.ndjson"
format = "ndjson"
TOML

pid_file=$job/sluice.pid
if runs "$pid_file"; then
  echo "quickstart: the daemon is running with pid $(cat "$pid_file")"
else
  rm -f "$pid_file"
  rm -f "$job/data/http.port"
  nohup "$sluice" run --config "$job/sluice.toml" --pid-file "$pid_file" >>"$job/daemon.log" 2>&1 </dev/null &
  daemon=$!
  for _ in $(seq 300); do
    [ -s "$pid_file" ] && [ -s "$job/data/http.port" ] && break
    kill -0 "$daemon" 2>/dev/null || { echo "quickstart: the daemon did not start:" >&2; tail -n 20 "$job/daemon.log" >&2; exit 1; }
    sleep 0.1
  done
fi

python3 scripts/lib/quickstart_check.py --sluice "$sluice" --config "$job/sluice.toml" --snapshot "$snapshot" --output "$job/out/lines.ndjson"

echo
echo "three records of quickstart/lines:"
"$sluice" consume quickstart/lines --config "$job/sluice.toml" --limit 3
echo
echo "output:  $job/out/lines.ndjson"
echo "status:  $sluice connector list --config $job/sluice.toml"
echo "stop:    scripts/quickstart.sh --stop"
