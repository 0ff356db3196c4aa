"""The session that README.md shows is what the program prints."""

import os
import re
import shlex
import subprocess

import harness


def test_session():
    readme = (harness.ROOT / "README.md").read_text()
    command, output = re.search(r"```\n\$ spotter (.*)\n((?:.*\n)*?)```\n", readme).groups()
    done = subprocess.run([harness.program(), *shlex.split(command)], cwd=harness.ROOT, capture_output=True, text=True,
                          env={**os.environ, "COLUMNS": "100"})
    assert done.stdout == output
