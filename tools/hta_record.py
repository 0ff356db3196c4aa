#!/usr/bin/env python3
"""Writes what HTA answers (python/tests/hta_questions.py) about the traces in ../shared and the project's own. usage, with HTA's Python:
hta_record.py OUTPUT"""
import json
import logging
import pathlib
import sys
import warnings

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python" / "tests"))

import hta_questions  # noqa: E402
import hta_jobs  # noqa: E402


def main(output):
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    answers = {}
    for name, path in hta_jobs.jobs().items():
        print(name, file=sys.stderr, flush=True)
        try:
            answers[name] = hta_questions.answers(str(path))
        except Exception as error:  # noqa: BLE001
            answers[name] = {"raises": f"{type(error).__name__}"}
    lines = [json.dumps(name) + ": " + json.dumps(found, sort_keys=True) for name, found in sorted(answers.items())]
    pathlib.Path(output).write_text("{\n" + ",\n".join(lines) + "\n}\n")


if __name__ == "__main__":
    main(sys.argv[1])
