"""`spotter rules test`: what the rules would have said of the history."""

import json
import os

from agent import Agent, run, until
from incident import JOB, an_incident


def replayed(agent, *words):
    done = run("rules", "test", *words, "--socket", agent.api_socket, "--format", "json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    [table] = document["tables"]
    names = [column["name"] for column in table["columns"]]
    return [dict(zip(names, row, strict=True)) for row in table["rows"]], {note["kind"]: note["sentence"] for note in document["notes"]}


def test_what_was_is_found_again(tmp_path):
    with an_incident(tmp_path) as (agent, id):
        def told():
            rows, notes = replayed(agent, "--since", "10m", "--job", JOB)
            return rows and rows[0]["told"] and (rows, notes)

        rows, notes = until(told, 10, "it would have been told")
        assert [(row["rule"], row["rank"], row["host"], row["incident"], row["told"], row["ended"]) for row in rows] == \
            [("rank_gone", 1, os.uname().nodename, id, True, None)]
        assert "step_time_up" in notes["not_in_history"] and "rank_gone" not in notes["not_in_history"]
        # With rules that the agent does not have.
        config = tmp_path / "new.yaml"
        config.write_text("rules: {rank_gone: {for: 1h}}\n")
        assert replayed(agent, "--since", "10m", "--job", JOB, "--config", config)[0] == []
        config.write_text("rules: {rank_gon: false}\n")
        wrong = run("rules", "test", "--config", config, "--socket", agent.api_socket)
        assert wrong.returncode != 0 and "rank_gone" in wrong.stderr
        # Before there were samples.
        said = run("rules", "test", "--since", "10m", "--job", "nobody", "--socket", agent.api_socket)
        assert said.returncode == 0 and said.stdout.startswith("No rule would have fired.")


def test_without_a_history_that_is_said():
    with Agent("--collect", "load", "--history", "off") as agent:
        done = run("rules", "test", "--socket", agent.api_socket)
        assert done.returncode != 0 and "keeps no history" in done.stderr
