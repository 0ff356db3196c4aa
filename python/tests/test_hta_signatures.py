"""spotter.hta: signatures are those of HTA."""

import inspect

import pytest

pytest.importorskip("pandas")

from spotter.hta.common.trace_df import find_op_occurrence  # noqa: E402
from spotter.hta.common.trace_filter import MemCopyEventFilter, NameFilter  # noqa: E402
from spotter.hta.common.types import GroupingPattern, to_grouping_pattern  # noqa: E402
from spotter.hta.configs.config import HtaConfig  # noqa: E402


def test_signatures_are_hta_s():
    """Some that scripts call with positions."""
    expected = {
        NameFilter: "(name_pattern, symbol_table=None, name_column=None)",
        MemCopyEventFilter: "(memory_copy_type, symbol_table=None)",
        find_op_occurrence: "(df, op_name, position, name_column='s_name')",
        HtaConfig: "(config_file_path=None, load_default_paths=True)",
        to_grouping_pattern: "(pattern, group_name=None, inverse_match=None)",
        GroupingPattern: "(pattern, inverse_match=False, group_name='')",
    }
    for what, words in expected.items():
        signature = inspect.signature(what)
        bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
        assert str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty)) == words
