#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One set of retry keys for all connectors. Usage: retry_keys_test.py BUILD_DIR

Whatever is named like a retry stands in one of the sections connect, retry and breaker, with their keys. The schemas are those that the
plugins of the build give."""
import glob
import json
import os
import re
import subprocess
import sys
import unittest

BUILD = os.path.abspath(sys.argv[1])
SECTIONS = {
    "connect": {"max_attempts", "base_delay", "max_delay"},
    "retry": {"max_attempts", "base_delay", "max_delay"},
    "breaker": {"threshold", "cool_down"},
}
SOUNDS_LIKE_A_RETRY = re.compile(r"retr(y|ies)|attempt|back_?off|breaker|cool_?down|(base|max|initial|retry)_(delay|wait|interval)|reconnect|connect$")


def findings(schema, path=()):
    """Keys that are not where and as the three sections have them."""
    out = []
    for key, child in schema.get("properties", {}).items():
        here = (*path, key)
        if not path and key in SECTIONS:
            extra = set(child.get("properties", {})) - SECTIONS[key]
            if "properties" not in child or extra:
                out.append(f"{key}: a section of {', '.join(sorted(SECTIONS[key]))}, not {', '.join(sorted(extra)) or 'a value'}")
        elif SOUNDS_LIKE_A_RETRY.search(key):
            out.append(f"{'.'.join(here)}: belongs into [connect], [retry] or [breaker]")
        else:
            out += findings(child, here)
    return out


class RetryKeysTest(unittest.TestCase):
    def test_it_finds_other_names_and_other_places(self):
        def properties(**keys):
            return {"properties": keys}

        good = properties(url={}, retry=properties(max_attempts={}, base_delay={}), breaker=properties(threshold={}))
        self.assertEqual(findings(good), [])
        for bad in (properties(retries={}), properties(retry={}), properties(retry=properties(limit={})), properties(breaker=properties(max_delay={})),
                    properties(http=properties(max_attempts={})), properties(backoff={}), properties(initial_delay={})):
            self.assertEqual(len(findings(bad)), 1, bad)

    def test_every_connector_has_the_same_keys(self):
        plugins = sorted(glob.glob(os.path.join(BUILD, "plugins", "*.so")))
        templates = sorted(glob.glob(os.path.join(BUILD, "templates", "*", "*.so")))
        self.assertTrue(plugins and templates)
        for plugin in plugins + templates:
            done = subprocess.run([os.path.join(BUILD, "bin/sluice"), "plugin", "inspect", plugin, "--json"], capture_output=True, text=True, check=True)
            schemas = schemas_in(json.loads(done.stdout))
            self.assertTrue(schemas, plugin)
            for schema in schemas:
                self.assertEqual(findings(schema), [], plugin)


def schemas_in(value):
    """Every JSON Schema of an object in what `plugin inspect` tells."""
    if isinstance(value, dict):
        if value.get("type") == "object" and "properties" in value:
            return [value]
        return [schema for child in value.values() for schema in schemas_in(child)]
    if isinstance(value, list):
        return [schema for child in value for schema in schemas_in(child)]
    return []


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
