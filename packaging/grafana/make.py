#!/usr/bin/env python3
"""Writes fleet.json, job.json and host.json, which Grafana imports as they are: python3 packaging/grafana/make.py"""

import json
import pathlib

from fleet import FLEET
from host import HOST
from job import JOB

FOLDER = pathlib.Path(__file__).resolve().parent
DASHBOARDS = {"fleet": FLEET, "job": JOB, "host": HOST}


def text(name):
    return json.dumps(DASHBOARDS[name], indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    for name in DASHBOARDS:
        (FOLDER / f"{name}.json").write_text(text(name), encoding="utf-8")
