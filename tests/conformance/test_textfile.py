"""Metrics in text files, read by Spotter and by node_exporter's collector textfile: the same samples under the same names, the same
files refused."""

import os
import re
import subprocess
import time

import pytest

import monitoring

MTIME = 1_700_000_000
OWN = re.compile(r"(spotter|node|go|process|promhttp)_")
GOOD = {
    "untyped": "a 1\n",
    "gauge": "# HELP a What \\\\ it is,\\nin two lines.\n# TYPE a gauge\na{x=\"1\"} 1.5\na{x=\"2\",y=\"a\\\"b\\\\c\\nd\"} -2e-3\n",
    "counter": "# TYPE a_total counter\na_total 12345678901234\n",
    "counter_without_total": "# TYPE a counter\na 3\n",
    "histogram": "# TYPE a histogram\na_bucket{le=\"0.5\"} 1\na_bucket{le=\"+Inf\"} 2\na_sum 3.5\na_count 2\n",
    "summary": "# TYPE a summary\na{quantile=\"0.5\"} 1\na{quantile=\"0.99\"} 2\na_sum 3.5\na_count 2\n",
    "odd_numbers": "a NaN\na{x=\"1\"} +Inf\na{x=\"2\"} -Inf\na{x=\"3\"} .5\na{x=\"4\"} +7\na{x=\"5\"} 0.1\n",
    "blanks": "\n  \t a  { x = \"1\" , } \t 2\n#\n# a word\n#  TYPE  b\tgauge\nb 1\n",
    "interleaved": "a 1\nb 2\na{x=\"1\"} 3\n",
    "labels_that_are_empty": "a{x=\"\"} 1\na{x=\"1\"} 2\n",
    "labels_of_prometheus": "a{job=\"backup\",instance=\"x\"} 1\n",
    "letters": "a:b_C9{d=\"\u00e4\u20ac\"} 1\n",
    "help_alone": "# HELP a x\n# TYPE b gauge\nc 1\n",
    "help_after": "a 1\n# HELP a x\n",
    "type_in_capitals": "# TYPE a GAUGE\na 1\n",
    "twice": "a{x=\"1\"} 1\na{x=\"1\"} 2\nb 3\n",
    "empty": "",
}
BAD = {
    "no_end": "a 1\nb 2",
    "no_number": "a 1\nb x\n",
    "nothing": "a\n",
    "two_signs": "a +-1\n",
    "hexadecimal": "a 0x1p3\n",
    "underscore": "a 1_0\n",
    "nan_of_a_kind": "a nan(1)\n",
    "carriage_return": "a 1\r\n",
    "time": "a 1 1700000000000\n",
    "digit_first": "9a 1\n",
    "no_quotes": "a{b=1} 1\n",
    "colon_in_label": "a{b:c=\"1\"} 1\n",
    "reserved_label": "a{__name__=\"b\"} 1\n",
    "lone_comma": "a{,} 1\n",
    "no_comma": "a{b=\"1\" c=\"2\"} 1\n",
    "no_last_quote": "a{b=\"1} 1\n",
    "unknown_escape": "a{b=\"\\t\"} 1\n",
    "no_utf8": b"a{b=\"\xff\"} 1\n",
    "unknown_type": "# TYPE a float\na 1\n",
    "two_types": "# TYPE a gauge\n# TYPE a gauge\na 1\n",
    "late_type": "a 1\n# TYPE a gauge\n",
    "two_helps": "# HELP a x\n# HELP a x\na 1\n",
    "no_name": "# HELP a{} x\na 1\n",
}


class Both:
    def __init__(self, folder, agent, url):
        self.folder, self.agent, self.url = folder, agent, url

    def write(self, **files):
        """These are all there are."""
        for old in self.folder.iterdir():
            old.unlink()
        for name, text in files.items():
            path = self.folder / f"{name}.prom"
            path.write_bytes(text if isinstance(text, bytes) else text.encode())
            os.utime(path, (MTIME, MTIME))

    def theirs(self):
        return monitoring.samples_of(monitoring.fetch(self.url)[1])

    def ours(self):
        written = time.time()

        def fresh():
            samples = self.agent.samples()
            when = samples.get(("spotter_sample_timestamp_seconds", (("table", "textfile"),)), 0)
            return samples if when > written else None
        return monitoring.wait_for(fresh, "a sample of the files")


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    folder = tmp_path_factory.mktemp("texts")
    options = ["--collector.disable-defaults", "--collector.textfile", f"--collector.textfile.directory={folder}"]
    with (monitoring.node_exporter(tmp_path_factory.mktemp("node_exporter"), *options) as url,
          monitoring.Agent(tmp_path_factory.mktemp("agent"), "textfile:50ms", {"textfile_directory": str(folder)}) as agent):
        yield Both(folder, agent, url)


def of_others(samples):
    """Those of the files; a label that is empty is none."""
    return {(name, tuple((k, v) for k, v in labels if v)): repr(value) for (name, labels), value in samples.items() if not OWN.match(name)}


def files(samples, name):
    return {os.path.basename(dict(labels)["file"]): value for (metric, labels), value in samples.items() if metric == name}


@pytest.mark.parametrize("name", GOOD)
def test_good_files(both, name):
    both.write(**{name: GOOD[name]})
    theirs, ours = both.theirs(), both.ours()
    assert of_others(ours) == of_others(theirs)
    assert theirs["node_textfile_scrape_error", ()] == 0
    assert files(ours, "spotter_textfile_failed") == {f"{name}.prom": 0}
    assert files(ours, "spotter_textfile_mtime_seconds") == files(theirs, "node_textfile_mtime_seconds") == {f"{name}.prom": MTIME}


@pytest.mark.parametrize("name", BAD)
def test_bad_files(both, name):
    """Neither takes anything of them, and both take the good one beside."""
    both.write(**{name: BAD[name]}, good="good_one 1\n")
    theirs, ours = both.theirs(), both.ours()
    assert of_others(ours) == of_others(theirs) == {("good_one", ()): "1.0"}
    assert theirs["node_textfile_scrape_error", ()] == 1
    assert files(ours, "spotter_textfile_failed") == {f"{name}.prom": 1, "good.prom": 0}
    assert files(ours, "spotter_textfile_mtime_seconds") == files(theirs, "node_textfile_mtime_seconds") == {"good.prom": MTIME}


def test_types_and_help(both):
    both.write(gauge=GOOD["gauge"], histogram="# TYPE h histogram\nh_bucket{le=\"+Inf\"} 2\nh_sum 3.5\nh_count 2\n")
    both.ours()

    def comments(page):
        return {line for line in page.splitlines() if re.match(r"# (TYPE|HELP a) ", line) and not OWN.match(line.split()[2])}
    ours = comments(both.agent.page())
    assert ours == comments(monitoring.fetch(both.url)[1]) and len(ours) == 3


def test_duplicates_across_files(both):
    both.write(first="a{x=\"1\"} 1\nb 1\n", second="a{x=\"1\"} 2\na{x=\"2\"} 3\n")
    theirs, ours = both.theirs(), both.ours()
    assert of_others(ours) == of_others(theirs)
    assert files(ours, "spotter_textfile_samples_left_out") == {"first.prom": 0, "second.prom": 1}


def test_types_that_differ_across_files(both):
    both.write(first="# TYPE a gauge\na{x=\"1\"} 1\n", second="# TYPE a counter\na{x=\"2\"} 3\n")
    theirs, ours = both.theirs(), both.ours()
    assert of_others(ours) == of_others(theirs)
    assert files(ours, "spotter_textfile_samples_left_out") == {"first.prom": 0, "second.prom": 1}


def test_help_that_differs_across_files(both):
    """node_exporter 1.5 leaves out the samples of the second; here the first text is told of all."""
    both.write(first="# HELP a One.\na{x=\"1\"} 1\n", second="# HELP a Two.\na{x=\"2\"} 3\n")
    theirs, ours = of_others(both.theirs()), of_others(both.ours())
    assert theirs == {("a", (("x", "1"),)): "1.0"}
    assert ours == theirs | {("a", (("x", "2"),)): "3.0"}


def test_blanks_at_the_end_of_a_line(both):
    """The format ignores them; node_exporter refuses the file."""
    both.write(blanks="a 1 \t\n")
    theirs, ours = both.theirs(), both.ours()
    assert theirs["node_textfile_scrape_error", ()] == 1
    assert of_others(ours) == {("a", ()): "1.0"}


def test_formats(both):
    """promtool has no complaint beyond what these files do to themselves; in OpenMetrics a counter has its "_total" behind its samples only."""
    both.write(gauge=GOOD["gauge"].replace("\\n", " "), counter="# HELP b_total Of.\n# TYPE b_total counter\nb_total 12345678901234\n",
               untyped="# HELP c Of.\nc 1\n")
    both.ours()
    done = subprocess.run([monitoring.tool("promtool"), "check", "metrics"], input=both.agent.page(), text=True, capture_output=True,
                          timeout=60, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    page = monitoring.fetch(both.agent.url, Accept="application/openmetrics-text;version=1.0.0")[1]
    assert "# TYPE b counter\nb_total 12345678901234\n" in page and "# TYPE c unknown\nc 1\n" in page
