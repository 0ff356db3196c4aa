"""Table: what every analysis answers with. Numbers are as the program has them: times are integer nanoseconds,
ratios 0 to 1; only what is shown to people is rounded and given units."""

from __future__ import annotations

from collections import namedtuple

from spotter import _core
from spotter.errors import Invalid

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from typing import Any

    import pandas
    import polars
    import pyarrow

Field = namedtuple("Field", "name type unit role help")
Field.__doc__ = """A column: its `type` is integer, real, text or flag; `unit` none, ns, bytes, ratio, count ...; `role` key
(what the row is about), value, counter, time (a position in time) or detail; `help` one sentence."""

Note = namedtuple("Note", "kind severity count position scope scopes sentence text")
Note.__doc__ = """What a number's reader should know. `severity`: info (a choice), repair (the input was wrong and was mended) or
loss (something is missing from the numbers). `text` is the whole note as a sentence; `position` a byte of the file `scope`,
-1 where it has none."""

_HTML_ROWS = 20


class Table:
    """Rows under typed columns, which do not change.

    Any library that knows Arrow's PyCapsule interface reads it without a copy: `pyarrow.table(t)`,
    `polars.DataFrame(t)`, `duckdb.sql("from t")`, `pandas.DataFrame.from_arrow(t)`.
    """

    __slots__ = ("_core", "_fields", "__weakref__")

    def __init__(self, core: _core.Table) -> None:
        self._core = core
        self._fields: list[Field] | None = None

    @staticmethod
    def of(name: str, columns: Iterable[Field], rows: Iterable[tuple], notes: Iterable[Note] = ()) -> Table:
        """A table of one's own.

        Raises:
            Invalid: a cell is not of its column's type.
        """
        return Table(_core.Table(name, [tuple(c) for c in columns], [tuple(r) for r in rows], [tuple(n) for n in notes], None))

    @property
    def name(self) -> str:
        return self._core.name

    @property
    def schema(self) -> list[Field]:
        """The columns with their types, units and meanings."""
        if self._fields is None:
            self._fields = [Field(*field) for field in self._core.fields]
        return list(self._fields)

    @property
    def columns(self) -> list[str]:
        """Their names."""
        return [field.name for field in self.schema]

    @property
    def notes(self) -> list[Note]:
        """What is to be known of these numbers: losses, repairs and choices."""
        return [Note(*note) for note in self._core.notes]

    def __len__(self) -> int:
        return self._core.length

    def __bool__(self) -> bool:
        return True

    def __contains__(self, column: object) -> bool:
        """Whether there is a column of that name."""
        return column in self.columns

    def _place(self, column: str) -> int:
        for place, field in enumerate(self.schema):
            if field.name == column:
                return place
        raise Invalid(f'{self.name}: there is no column "{column}"; there are {", ".join(self.columns)}')

    def __getitem__(self, column: str) -> list:
        """The cells of a column: numbers, texts, flags, and None where there is none."""
        return self._core.column(self._place(column))

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Its rows."""
        names = self.columns
        batch = 4096
        for first in range(0, len(self), batch):
            for row in self._core.rows(first, batch):
                yield dict(zip(names, row))

    def to_dict(self) -> dict[str, list]:
        """Of each column its cells."""
        return {name: self._core.column(place) for place, name in enumerate(self.columns)}

    def __arrow_c_schema__(self) -> object:
        return self._core.arrow_schema()

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._core.arrow_stream()

    def to_arrow(self) -> pyarrow.Table:
        """Without a copy: it looks into this table's memory, and keeps it."""
        import pyarrow

        return pyarrow.table(self)

    def to_polars(self) -> polars.DataFrame:
        """Numbers without a copy; texts are re-coded into polars' categories."""
        import polars

        return polars.DataFrame(self)

    def to_pandas(self, *, copy: bool = True, times: bool = False) -> pandas.DataFrame:
        """A pandas frame; pyarrow is not needed.

        Integers are int64 (Int64 where a cell is missing), reals float64 (NaN where one is missing), flags bool (boolean),
        texts categories. Units and notes are in `frame.attrs["spotter"]`.

        Args:
            copy: False: columns of numbers look into this table's memory, and cannot be written.
            times: positions in time become datetime64[ns] (UTC), durations timedelta64[ns]; else both are integers.
        """
        from spotter.frames import frame_of

        return frame_of(self, copy, times)

    def to_text(self, width: int | None = None) -> str:
        """As the program prints it, notes below. width: columns of the terminal; None: no limit."""
        return self._core.rendered("text", width or 0, False)

    def to_csv(self) -> str:
        return self._core.rendered("csv", 0, False)

    def to_json(self) -> str:
        """The document that `spotter analyze --format json` prints."""
        return self._core.rendered("json", 0, False)

    def to_arrow_file(self) -> bytes:
        """An Arrow IPC stream, which `spotter analyze --format arrow` writes."""
        return self._core.arrow_file()

    def plot(self, **options: Any) -> Any:
        """A plotly figure, for the tables that are rather looked at than read (`spotter.plots`)."""
        from spotter import plots

        return plots.plot(self, **options)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<spotter.Table {self.name}: {len(self)} rows, {len(self.schema)} columns>"

    def _repr_html_(self) -> str:
        from spotter.html import table_html

        return table_html(self, _HTML_ROWS)

    def __reduce__(self) -> tuple:
        core = self._core
        return _unpickled, (core.name, core.fields, core.rows(0, core.length), core.notes, core.time_zero)

    def __eq__(self, other: object) -> bool:
        """The same name, columns, notes and cells; NaN is as NaN."""
        if not isinstance(other, Table):
            return NotImplemented
        (name, fields, rows, *rest), (its_name, its_fields, its_rows, *its_rest) = self.__reduce__()[1], other.__reduce__()[1]
        return (name, fields, rest, len(rows)) == (its_name, its_fields, its_rest, len(its_rows)) and all(map(_are_same, rows, its_rows))

    __hash__ = None  # type: ignore[assignment]


def _are_same(row: tuple, its: tuple) -> bool:
    return row == its or all(a == b or (a != a and b != b) for a, b in zip(row, its))


def _unpickled(*state: Any) -> Table:
    return Table(_core.Table(*state))
