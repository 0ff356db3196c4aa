"""The page's views, as its own list has them."""

import re

import harness

LIST = (harness.ROOT / "web" / "src" / "views" / "list.ts").read_text()
# Name and where it is shown: everywhere, of a report, of a server.
ALL = [(name, of) for name, of in re.findall(r'\{ name: "([\w-]+)"(?:[^}]*? of: "(\w+)")?[^}]*\}', LIST)]
assert ALL and len(ALL) == LIST.count("{ name: ")


def of(kind):
    return [name for name, where in ALL if where in ("", kind)]
