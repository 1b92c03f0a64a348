# SPDX-License-Identifier: Apache-2.0
"""snapshot.py FILE SNAPSHOT: makes SNAPSHOT hold the whole lines of FILE. If FILE has only grown, the new lines are appended in place."""
import os
import sys

source, target = sys.argv[1], sys.argv[2]
with open(source, "rb") as file:
    wanted = file.read()
if wanted and not wanted.endswith(b"\n"):
    wanted += b"\n"
have = b""
if os.path.exists(target):
    with open(target, "rb") as file:
        have = file.read()
if not wanted.startswith(have):
    sys.exit(f"quickstart: {source} was changed in its middle since the last run; remove {os.path.dirname(os.path.dirname(target))} and run again")
if len(wanted) > len(have):
    with open(target, "ab") as file:
        file.write(wanted[len(have):])
print(f"quickstart: {wanted.count(10)} lines of {source}")
