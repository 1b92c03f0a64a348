# SPDX-License-Identifier: Apache-2.0
# stage NAME COMMAND…: runs the command, remembers its minutes; a failure ends the script. stage_summary prints them.
stage_names=()
stage_seconds=()
stage() {
  local name=$1 begin=$SECONDS
  shift
  echo "=== $name"
  "$@" || { local status=$?; echo "=== $name failed with status $status after $((SECONDS - begin)) s" >&2; stage_summary; exit "$status"; }
  stage_names+=("$name")
  stage_seconds+=($((SECONDS - begin)))
}
stage_summary() {
  local i
  echo "--- minutes per stage"
  for i in "${!stage_names[@]}"; do
    printf '%6s  %s\n' "$((stage_seconds[i] / 60)):$(printf %02d $((stage_seconds[i] % 60)))" "${stage_names[i]}"
  done
}
