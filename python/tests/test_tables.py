"""Table: cells, Arrow's capsules and their readers, frames, text, pickles."""

import ctypes
import gc
import json
import math
import pickle
import threading

import pytest

import spotter
from spotter import Field, Note, Table

COLUMNS = [
    Field("rank", "integer", "none", "key", "Whose."),
    Field("time_ns", "integer", "ns", "value", "How long."),
    Field("begun_ns", "integer", "ns", "time", "When."),
    Field("share", "real", "ratio", "value", "A share."),
    Field("name", "text", "none", "key", "A name."),
    Field("slow", "flag", "none", "value", "Whether."),
]
ROWS = [
    (0, 1_500_000, 1_700_000_000_000_000_000, 0.25, "gemm", True),
    (1, None, None, None, None, None),
    (None, 2**62, 5, 1.0, "größe <&>", False),
    (3, -1, 0, 0.0, "gemm", True),
]
NOTE = Note("damaged_event", "loss", 2, 17, "a.json", 1, "events were damaged and left out", "")


@pytest.fixture
def table():
    return Table.of("made", COLUMNS, ROWS, [NOTE])


def test_cells_come_back(table):
    assert len(table) == 4 and table.columns == [c.name for c in COLUMNS]
    assert table.schema == COLUMNS
    assert [tuple(row.values()) for row in table] == ROWS
    assert table["name"] == [row[4] for row in ROWS]
    assert table.to_dict()["slow"] == [True, None, False, True]
    assert table.notes[0].count == 2
    assert table.notes[0].text == "2 events were damaged and left out (first at byte 17, in a.json)"


def test_a_wrong_column_says_which_there_are(table):
    with pytest.raises(spotter.Invalid, match="there is no column \"tim\"; there are rank, time_ns"):
        table["tim"]
    with pytest.raises(ValueError):
        table["tim"]


@pytest.mark.parametrize("row", [(0, 1.5, 0, 0.0, "a", True), (0, 1, 0, "x", "a", True), (0, 1, 0, 0.0, 3, True), (0, 1)])
def test_a_cell_of_another_type_is_refused(row):
    with pytest.raises(spotter.Invalid):
        Table.of("made", COLUMNS, [row])


def test_pickles_are_the_same_table(table):
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(table, protocol))
        assert again == table and again.schema == table.schema and again.notes == table.notes


def test_what_is_no_number_is_as_itself():
    share = [Field("share", "real", "ratio", "value", "A share.")]
    table = Table.of("made", share, [(math.nan,), (1.0,)])
    assert pickle.loads(pickle.dumps(table)) == table == Table.of("made", share, [(math.nan,), (1.0,)])
    assert table != Table.of("made", share, [(math.nan,), (2.0,)]) and table != Table.of("made", share, [(math.nan,)])
    assert table != "made"


@pytest.mark.parametrize("note", [(1, 2), ("kind", "grave", 1, -1, "", 1, "said"), ("kind", "loss", "one", -1, "", 1, "said"), 7, {}])
def test_a_note_of_another_shape_is_refused(note):
    with pytest.raises(spotter.Invalid, match="a note is"):
        spotter._core.Table("made", [], [], [note], None)


def test_text_has_units_and_notes(table):
    text = table.to_text()
    assert "1.50 ms" in text and "25.0 %" in text and "damaged" in text
    assert table.to_csv().splitlines()[1].startswith("0,1500000,")
    assert json.loads(table.to_json())["tables"][0]["rows"][0][1] == 1_500_000


def test_html_is_safe_and_short():
    rows = [(i, i, i, 0.5, "<script>alert(1)</script>", True) for i in range(50)]
    html = Table.of("made", COLUMNS, rows, [NOTE])._repr_html_()
    assert "<script" not in html and "&lt;script&gt;" in html
    assert "… 30 more rows" in html and html.count("<tr>") == 21
    assert 'title="How long."' in html and "damaged" in html


# Arrow's capsules.


class ArrowStream(ctypes.Structure):
    pass


_Get = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ArrowStream), ctypes.c_void_p)
_Release = ctypes.CFUNCTYPE(None, ctypes.POINTER(ArrowStream))
ArrowStream._fields_ = [("get_schema", _Get), ("get_next", _Get), ("get_last_error", ctypes.c_void_p), ("release", _Release),
                        ("private_data", ctypes.c_void_p)]  # fmt: skip


def pointer(capsule, name):
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return get(capsule, name)


def test_a_capsule_has_its_name_and_may_be_dropped(table):
    for _ in range(3):
        stream = table.__arrow_c_stream__()
        assert pointer(stream, b"arrow_array_stream")
        assert pointer(table.__arrow_c_schema__(), b"arrow_schema")
        del stream
    gc.collect()


def test_a_stream_that_was_released_is_not_released_again(table):
    capsule = table.__arrow_c_stream__()
    stream = ArrowStream.from_address(pointer(capsule, b"arrow_array_stream"))
    stream.release(ctypes.byref(stream))
    assert not stream.release
    del capsule
    gc.collect()


def test_pyarrow_looks_into_the_table(table):
    pyarrow = pytest.importorskip("pyarrow")
    arrow = table.to_arrow()
    assert arrow.to_pylist() == [dict(zip(table.columns, row)) for row in ROWS]
    again = pyarrow.table(table)
    for one, other in zip(arrow.columns, again.columns):
        for a, b in zip(one.chunk(0).buffers(), other.chunk(0).buffers()):
            assert (a is None) == (b is None) and (a is None or a.address == b.address)
    assert arrow.schema.field("time_ns").metadata[b"spotter.unit"] == b"ns"
    assert json.loads(arrow.schema.metadata[b"spotter.notes"])[0]["kind"] == "damaged_event"


def test_who_shares_memory_shares_it():
    """pyarrow, polars and frames that are not copied look at the same numbers; DuckDB reads through pyarrow's streams and copies."""
    numpy, pyarrow = pytest.importorskip("numpy"), pytest.importorskip("pyarrow")
    polars = pytest.importorskip("polars")
    whole = Table.of("whole", [COLUMNS[1], COLUMNS[3]], [(i, i / 7) for i in range(1000)])
    own = {field.name: numpy.asarray(whole._core.memory(place)[0]).ctypes.data for place, field in enumerate(whole.schema)}
    arrow = pyarrow.table(whole)
    assert {name: arrow[name].chunk(0).buffers()[1].address for name in own} == own
    frame = polars.DataFrame(whole)
    assert {name: frame[name].to_numpy(allow_copy=False).ctypes.data for name in own} == own
    looked = whole.to_pandas(copy=False)
    assert {name: looked[name].to_numpy().ctypes.data for name in own} == own
    copied = whole.to_pandas()
    assert not {copied[name].to_numpy().ctypes.data for name in own} & set(own.values())


def test_views_outlive_the_table():
    pytest.importorskip("pyarrow")
    arrow = Table.of("made", COLUMNS, ROWS).to_arrow()
    gc.collect()
    assert arrow.column("rank").to_pylist() == [0, 1, None, 3]


def test_streams_are_read_in_other_threads_and_again(table):
    pyarrow = pytest.importorskip("pyarrow")
    seen = []
    threads = [threading.Thread(target=lambda: seen.append(pyarrow.table(table).num_rows)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert seen == [4] * 8


def test_polars(table):
    pytest.importorskip("polars")
    frame = table.to_polars()
    assert frame["time_ns"].to_list() == [row[1] for row in ROWS]
    assert frame["name"].cast(str).to_list() == [row[4] for row in ROWS]


def test_duckdb(table):
    duckdb = pytest.importorskip("duckdb")
    made = table  # noqa: F841  (found by its name)
    assert duckdb.sql("select name, count(*) from made where slow group by name").fetchall() == [("gemm", 2)]


def test_pandas(table):
    pandas = pytest.importorskip("pandas")
    frame = table.to_pandas()
    assert frame["rank"].dtype == "Int64" and frame["share"].dtype == "float64" and frame["slow"].dtype == "boolean"
    assert frame["time_ns"].tolist()[0] == 1_500_000 and frame["time_ns"].isna().tolist() == [False, True, False, False]
    assert frame["time_ns"][2] == 2**62
    assert math.isnan(frame["share"][1]) and frame["slow"].isna()[1]
    assert [None if pandas.isna(v) else v for v in frame["name"]] == [row[4] for row in ROWS]
    assert frame.attrs["spotter"]["units"]["time_ns"] == "ns"
    times = table.to_pandas(times=True)
    assert times["time_ns"][0] == pandas.Timedelta("1.5ms") and pandas.isna(times["time_ns"][1])
    assert times["begun_ns"][0] == pandas.Timestamp(1_700_000_000, unit="s", tz="UTC")


def test_pandas_without_a_copy_is_read_only():
    pytest.importorskip("pandas")
    table = Table.of("made", COLUMNS[:2], [(1, 2), (3, 4)])
    looked_at, copied = table.to_pandas(copy=False), table.to_pandas()
    assert not looked_at["rank"].to_numpy().flags.writeable
    copied.loc[0, "rank"] = 7
    assert looked_at["rank"].tolist() == [1, 3] and copied["rank"].tolist() == [7, 3]
    words = Table.of("made", [spotter.Field("name", "text", "none", "key", "")], [(f"w{i}",) for i in range(40_000)])
    frame = words.to_pandas()
    frame.loc[0, "name"] = "w5"  # of so many words the numbers need no other type
    assert frame["name"].tolist()[:2] == ["w5", "w1"]


def test_whether_there_is_a_column(table):
    assert "rank" in table and "nobody" not in table and None not in table and {} not in table


CELLS = {kind: spotter.Field("cell", kind, "none", "key", "") for kind in ("integer", "real", "text", "flag")}


def test_cells_of_numpy():
    numpy = pytest.importorskip("numpy")
    row = (numpy.int32(3), numpy.float32(0.5), numpy.str_("x"), numpy.bool_(True))
    fields = [CELLS[kind]._replace(name=kind) for kind in CELLS]
    assert Table.of("made", fields, [row]) == Table.of("made", fields, [(3, 0.5, "x", True)])
    assert Table.of("made", [CELLS["real"]], [(numpy.int64(2),)])["cell"] == [2.0]


@pytest.mark.parametrize("kind, cell", [
    ("integer", 2**64), ("integer", -(2**70)), ("integer", 1.5), ("integer", "1"), ("integer", True), ("integer", object()), ("real", "1"),
    ("real", 1j), ("real", b"1"), ("text", object()), ("text", b"x"), ("text", "\ud800"), ("text", 1), ("flag", 1), ("flag", "x"),
])  # fmt: skip
def test_cells_of_another_type(kind, cell):
    with pytest.raises(spotter.Invalid, match="column cell"):
        Table.of("made", [CELLS[kind]], [(cell,)])


@pytest.mark.parametrize("fields, words", [
    ([CELLS["integer"]] * 2, "two columns are called cell"),
    ([("cell", "integer")], "five texts"),
    ([("cell", "integer", "none", "key", None)], "five texts"),
    ([("cell", "number", "none", "key", "")], "no such type"),
])  # fmt: skip
def test_columns_that_are_none(fields, words):
    with pytest.raises(spotter.Invalid, match=words):
        Table.of("made", fields, [])


def test_without_rows(table):
    empty = Table.of("made", COLUMNS, [])
    assert len(empty) == 0 and list(empty) == [] and empty.to_dict()["name"] == []
    pytest.importorskip("pandas")
    assert empty.to_pandas().shape == (0, 6)
