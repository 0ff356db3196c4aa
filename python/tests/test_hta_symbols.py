"""spotter.hta: symbols, filters, trace files, and what configures a trace."""

import gzip
import json
import logging
import pickle
import re

import pytest

pd = pytest.importorskip("pandas")

from spotter.hta.common.trace_df import (  # noqa: E402
    find_events_by_name_patterns_using_decoded_names,
    find_events_by_name_patterns_using_symbol_table,
    find_op_occurrence,
    get_iterations,
)
from spotter.hta.common.trace_file import (  # noqa: E402
    create_rank_to_trace_dict,
    create_rank_to_trace_dict_from_dir,
    get_trace_files,
    read_trace,
    update_trace_rank,
    write_trace,
)
from spotter.hta.common.trace_filter import (  # noqa: E402
    CompositeFilter,
    CPUOperatorFilter,
    Filter,
    FirstIterationFilter,
    GPUKernelFilter,
    IterationFilter,
    IterationIndexFilter,
    MemCopyEventFilter,
    NameFilter,
    NameIdColumnFilter,
    NameStringColumnFilter,
    QueryFilter,
    RankFilter,
    TimeRangeFilter,
    ZeroDurationFilter,
)
from spotter.hta.common.trace_symbol_table import TraceSymbolTable, decode_symbol_id_to_symbol_name  # noqa: E402
from spotter.hta.common.types import DeviceType, GroupingPattern, infer_device_type, to_grouping_pattern  # noqa: E402
from spotter.hta.configs import env_options  # noqa: E402
from spotter.hta.configs.config import HtaConfig, setup_logger  # noqa: E402
from spotter.hta.configs.default_values import AttributeSpec, ValueType, YamlVersion  # noqa: E402
from spotter.hta.configs.parser_config import (  # noqa: E402
    AVAILABLE_ARGS,
    DEFAULT_PARSE_VERSION,
    ParserBackend,
    ParserConfig,
)
from spotter.hta.utils import utils  # noqa: E402
from spotter.hta.utils.checker import is_valid_directory  # noqa: E402
from spotter.hta.utils.test_utils import data_provider  # noqa: E402


def _table(*symbols):
    table = TraceSymbolTable()
    table.add_symbols(symbols)
    return table


SYMBOLS = _table(
    "cpu_op", "kernel", "cuda_sync", "gpu_memcpy", "aten::mm", "ncclKernel", "Event Sync", "Memcpy DtoH", "Context Sync"
)  # fmt: skip


@pytest.fixture
def encoded():
    """Events 10 ... 17, names and categories as ids of SYMBOLS."""
    return pd.DataFrame(
        {
            "index": range(10, 18),
            "name": [4, 5, 6, 7, 8, 7, 4, 4],
            "cat": [0, 1, 2, 3, 2, 0, 0, 0],
            "ts": [0, 10, 20, 30, 40, 50, 60, 70],
            "dur": [5, 5, 5, 5, 0, 5, -1, 5],
            "stream": [-1, 7, -1, 7, -1, -1, 0, 7],
            "correlation": [-1, 3, 4, 5, -1, 5, 2, -1],
            "iteration": [1, 1, 2, 2, -1, 3, 3, 3],
            "rank": [0, 0, 1, 1, 2, 2, 0, 0],
        },
        index=range(10, 18),
    )


@pytest.fixture
def decoded(encoded):
    """The same, with s_name and s_cat."""
    SYMBOLS.decode_df(encoded)
    return encoded


class TestSymbolTable:
    def test_ids_are_given_in_order_and_stay(self):
        table = _table("b", "a", "b")
        table.add_symbols_mp([["c", "a"], ["d"]])
        assert table.get_sym_table() == ["b", "a", "c", "d"]
        assert table.get_sym_id_map() == table.get_sym_index() == {"b": 0, "a": 1, "c": 2, "d": 3}
        assert table.get_sym_table_series().to_list() == table.sym_table
        assert table.get_sym_index_series().to_dict() == table.sym_index
        assert pickle.loads(pickle.dumps(table)).sym_index == table.sym_index

    def test_an_empty_table_answers_with_nothing(self):
        table = TraceSymbolTable()
        assert table.is_empty() and not _table("a").is_empty()
        assert table.get_sym_table_series().empty and table.get_sym_index_series().empty
        assert table.get_cpu_event_cat_ids() == table.find_matches(["a"]) == []
        assert table.get_operator_or_cuda_runtime_query() == "(cat == -128 or cat == -128 or cat == -128)"

    def test_matches_are_of_text_not_of_patterns(self):
        table = _table("aten::mm", "a.b", "axb", "ProfilerStep#1")
        assert table.find_matches(["a.b", "Step#"]) == [1, 3]
        assert table.find_matched_symbols(["^aten"]) == []

    def test_groups(self):
        table = _table("cpu_op", "cuda_runtime", "gpu_user_annotation", "kernel", "gpu_memcpy", "cudaLaunchKernelExC",
                      "Memset (Device)", "ProfilerStep#15", "ProfilerStep", "mtia_ccp_events", "cuLaunchKernel")  # fmt: skip
        assert table.get_cpu_event_cat_ids() == [0, 1]
        assert table.get_gpu_kernel_cat_ids() == [3, 4, 9]
        assert table.get_kernel_launch_ids() == [5, 10]
        assert table.get_memory_name_ids() == [6]
        assert table.get_profiler_step_ids() == [7]
        assert table.get_symbol_ids(GroupingPattern(re.compile("c"), inverse_match=True))["kernel"] == 3
        assert table.get_symbol_names([3, -1, 99]) == {3: "kernel"}

    def test_queries_run_on_a_frame(self):
        table = _table("cpu_op", "cuda_driver", "kernel", "cudaLaunchKernel", "x")
        frame = pd.DataFrame({"cat": [0, 1, 2, 1], "name": [4, 3, 4, 3], "index_correlation": [0, 2, 1, 0]})
        assert list(frame.query(table.get_operator_or_cuda_runtime_query()).index) == [0, 1, 3]
        assert list(frame.query(table.get_runtime_launch_events_query()).index) == [1]

    def test_a_frame_is_encoded_and_decoded(self):
        categories = ["kernel", "cpu_op", "kernel", "user_annotation"]
        texts = pd.DataFrame({"name": ["a", "b", "a", "c"], "cat": categories}, index=[5, 6, 7, 8])
        table = TraceSymbolTable.create_from_df(texts)
        assert table.sym_table == ["kernel", "cpu_op", "user_annotation", "a", "b", "c"]
        frame = texts.copy()
        table.encode_df(frame)
        assert frame.to_dict("list") == {"name": [3, 4, 3, 5], "cat": [0, 1, 0, 2]}
        assert (frame.dtypes == "int64").all()
        table.encode_df(frame)  # holds no texts any more
        table.decode_df(frame)
        assert list(frame.columns) == ["name", "cat", "s_name", "s_cat"]
        assert frame["s_name"].to_dict() == texts["name"].to_dict()
        assert frame["s_name"].dtype == texts["name"].dtype
        table.decode_df(frame, create_new_columns=False)
        pd.testing.assert_frame_equal(frame[["name", "cat"]], texts)

    def test_what_is_not_in_the_table_is_an_error(self):
        with pytest.raises(KeyError, match="zz"):
            SYMBOLS.encode_df(pd.DataFrame({"name": ["zz"]}))
        for wrong in (99, -1):
            with pytest.raises(IndexError, match="9 symbols"):
                SYMBOLS.decode_df(pd.DataFrame({"name": [0, wrong]}))
        with pytest.raises(ValueError, match="texts"):
            TraceSymbolTable.create_from_df(pd.DataFrame({"name": ["a"]}))

    def test_a_column_of_ids_becomes_texts(self):
        frame = pd.DataFrame({"user_annotation": [4, -1, 99, 5]})
        SYMBOLS.add_symbols_to_trace_df(frame, "user_annotation")
        assert frame["user_annotation"].to_list() == ["aten::mm", "", "", "ncclKernel"]
        with pytest.raises(KeyError):
            SYMBOLS.add_symbols_to_trace_df(frame, "no such")

    def test_ids_move_to_another_table(self, encoded):
        other = TraceSymbolTable.combine_symbol_tables([_table("new", "kernel"), SYMBOLS])
        before = [SYMBOLS.sym_table[place] for place in encoded["name"]]
        other.update_encoded_df(encoded, SYMBOLS)
        assert [other.sym_table[place] for place in encoded["name"]] == before
        with pytest.raises(KeyError):
            _table("kernel").update_encoded_df(encoded, other)

    def test_copies_are_apart(self):
        table = _table("a")
        copy = TraceSymbolTable.clone(table)
        copy.add_symbols(["b"])
        assert table.sym_table == ["a"] and copy.sym_index == {"a": 0, "b": 1}

    def test_known_ids_leave_gaps(self):
        table = TraceSymbolTable.create_from_symbol_id_map({"A": 1, "C": 3})
        assert table.sym_table == ["Undefined-0", "A", "Undefined-2", "C"] and table.sym_index["C"] == 3
        assert TraceSymbolTable.create_from_symbol_id_map({}).is_empty()
        with pytest.raises(ValueError, match="negative"):
            TraceSymbolTable.create_from_symbol_id_map({"A": -1})

    def test_a_file_gives_the_same_table(self, tmp_path):
        table = _table("a", "NA", 'b,"c"', "")
        table._to_csv_file(str(tmp_path / "symbols.csv"))
        assert TraceSymbolTable.from_csv_file(str(tmp_path / "symbols.csv")).sym_table == table.sym_table

    def test_names_are_shortened_or_not(self):
        table = _table("kernel", "void a<int>(b)", "Memcpy DtoD (Device -> Device)")
        frame = pd.DataFrame({"name": [1, 2], "cat": [0, 0]})
        decode_symbol_id_to_symbol_name(frame, table, use_shorten_name=True)
        assert frame["s_name"].to_list() == ["a", "Memcpy DtoD (Device -> Device)"]
        decode_symbol_id_to_symbol_name(frame, table, use_shorten_name=False)
        assert frame["s_name"].to_list()[0] == "void a<int>(b)" and frame["s_cat"].to_list() == ["kernel", "kernel"]


class TestFilters:
    @pytest.mark.parametrize(
        ("one", "left"),
        [
            (IterationFilter(1), [10, 11]),
            (IterationFilter([1, 2]), [10, 11, 12, 13]),
            (IterationFilter([9]), []),
            (IterationIndexFilter(1), [12, 13]),
            (IterationIndexFilter([0, 9]), [10, 11]),
            (IterationIndexFilter(-1), []),
            (FirstIterationFilter(), [10, 11]),
            (RankFilter(1), [12, 13]),
            (TimeRangeFilter((0, 15)), [10, 11]),
            (TimeRangeFilter((10, 14)), []),
            (QueryFilter("stream == 7 and dur > 0"), [11, 13, 17]),
            (ZeroDurationFilter, [10, 11, 12, 13, 15, 17]),
            (NameFilter("aten"), [10, 16, 17]),
            (NameFilter("mm"), []),
            (NameFilter(".*Sync$"), [12, 14]),
            (NameFilter("aten", symbol_table=_table("aten")), []),
            (GPUKernelFilter(), [11, 12, 13, 14, 16]),
            (CPUOperatorFilter(), [10, 15, 17]),
            (MemCopyEventFilter("Memcpy DtoH"), [13]),
            (MemCopyEventFilter("Memcpy HtoD"), []),
            (CompositeFilter([GPUKernelFilter(), IterationFilter(2), ZeroDurationFilter]), [12, 13]),
            (CompositeFilter([]), [10, 11, 12, 13, 14, 15, 16, 17]),
        ],
    )
    def test_rows_left(self, one, left, encoded):
        before = encoded.copy()
        assert list(one(encoded, SYMBOLS).index) == left
        pd.testing.assert_frame_equal(encoded, before)

    def test_without_symbol_table(self, decoded):
        assert list(GPUKernelFilter()(decoded).index) == [11, 13, 16]
        assert list(CPUOperatorFilter()(decoded).index) == [10, 12, 14, 15]
        assert list(NameFilter("aten")(decoded).index) == [10, 16, 17]
        assert list(NameFilter("aten", name_column="s_cat")(decoded).index) == []
        assert list(NameStringColumnFilter("nccl")(decoded).index) == [11]
        assert list(MemCopyEventFilter("Memcpy DtoH")(decoded).index) == [13]

    def test_names_in_place_of_ids(self, decoded):
        frame = decoded.drop(columns=["s_name", "s_cat"]).assign(name=decoded["s_name"], cat=decoded["s_cat"])
        assert list(GPUKernelFilter()(frame, SYMBOLS).index) == [11, 12, 13, 14, 16]
        assert list(NameFilter("aten", SYMBOLS)(frame).index) == [10, 16, 17]
        assert list(MemCopyEventFilter("Memcpy DtoH", SYMBOLS)(frame).index) == [13]

    @pytest.mark.parametrize(
        ("one", "column"),
        [
            (IterationFilter(1), "iteration"),
            (IterationIndexFilter(0), "iteration"),
            (RankFilter(0), "rank"),
            (TimeRangeFilter((0, 1)), "dur"),
            (GPUKernelFilter(), "stream"),
            (CPUOperatorFilter(), "correlation"),
            (NameFilter("aten"), "name"),
            (NameIdColumnFilter("aten"), "name"),
        ],
    )
    def test_a_missing_column_is_told_and_nothing_filtered(self, one, column, encoded, caplog):
        frame = encoded.drop(columns=column)
        with caplog.at_level(logging.WARNING, "hta"):
            assert one(frame, SYMBOLS) is frame
        assert len(caplog.records) == 1

    def test_ids_without_their_table(self, encoded, caplog):
        for one in (NameFilter("aten"), NameIdColumnFilter("aten")):
            assert one(encoded) is encoded
        assert MemCopyEventFilter("Memcpy DtoH")(encoded).empty
        assert len(caplog.records) == 3

    def test_a_frame_without_steps_stays(self, encoded):
        frame = encoded.assign(iteration=-1)
        assert FirstIterationFilter()(frame) is frame

    @pytest.mark.parametrize("one", [IterationFilter, IterationIndexFilter, RankFilter])
    @pytest.mark.parametrize("wrong", ["a", None, 1.5, (1, 2), True])
    def test_numbers_that_are_none(self, one, wrong):
        with pytest.raises(TypeError):
            one(wrong)

    @pytest.mark.parametrize("wrong", [[0, 10], (10, 0), (1,), ("a", 1), 5, (0.5, 1)])
    def test_ranges_that_are_none(self, wrong):
        with pytest.raises(ValueError, match="time range"):
            TimeRangeFilter(wrong)

    def test_composites_are_of_filters(self):
        with pytest.raises(TypeError, match="int"):
            CompositeFilter([5])
        with pytest.raises(TypeError):
            Filter()


class TestLookUps:
    def test_iterations(self, encoded):
        assert get_iterations(encoded) == [1, 2, 3]
        assert get_iterations(pd.DataFrame({"iteration": [-1, -1]})) == []
        assert get_iterations(pd.DataFrame({"iteration": [2.0, float("nan"), 1.0, -1.0]})) == [1, 2]
        for wrong in (pd.DataFrame({"x": [1]}), pd.DataFrame({"iteration": ["1"]})):
            with pytest.raises(TypeError):
                get_iterations(wrong)

    def test_occurrences_are_counted_in_time(self, decoded):
        backward = decoded.iloc[::-1]
        assert find_op_occurrence(backward, "aten::mm", 0)[1]["index"] == 10
        assert find_op_occurrence(backward, "aten::mm", -1)[1]["index"] == 17
        for name, position in (("aten::mm", 3), ("aten::mm", -4), ("aten", 0)):
            found, event = find_op_occurrence(decoded, name, position)
            assert not found and event.empty
        assert not find_op_occurrence(pd.DataFrame(), "a", 0)[0]

    def test_events_by_patterns(self, decoded):
        patterns = ["aten", "mm", "Event.*c"]
        assert list(find_events_by_name_patterns_using_symbol_table(decoded, patterns, SYMBOLS)) == [10, 12, 16, 17]
        assert list(find_events_by_name_patterns_using_decoded_names(decoded, patterns)) == [10, 12, 16, 17]
        assert list(find_events_by_name_patterns_using_decoded_names(decoded, ["cpu"], "s_cat")) == [10, 15, 16, 17]
        assert find_events_by_name_patterns_using_decoded_names(decoded, []).empty


class TestTraceFiles:
    def test_ranks_of_a_folder(self, tmp_path, caplog):
        (tmp_path / "a.json").write_text('{"distributedInfo": {"rank": 3}, "traceEvents": []}')
        (tmp_path / "b.json").write_text('{"traceEvents":[],"distributedInfo":{"rank":12}}')
        (tmp_path / "c.json.gz").write_bytes(gzip.compress(b'{"traceEvents": [], "distributedInfo": {"rank": 1}}'))
        (tmp_path / "notes.txt").write_text('"rank": 9')
        (tmp_path / "deeper").mkdir()
        (tmp_path / "deeper" / "d.json").write_text('{"rank": 7}')
        expected = {3: str(tmp_path / "a.json"), 12: str(tmp_path / "b.json"), 1: str(tmp_path / "c.json.gz")}
        assert create_rank_to_trace_dict_from_dir(str(tmp_path)) == (True, expected)
        assert get_trace_files(str(tmp_path)) == expected
        assert not caplog.records

    def test_a_rank_far_into_the_file(self, tmp_path):
        for gap in ((1 << 20) - 12, (1 << 20) - 9, (1 << 20) - 3, 3 << 20):
            path = tmp_path / "far.json"
            path.write_text(" " * gap + '"rank": 1234')
            assert create_rank_to_trace_dict([str(path)]) == (True, {1234: str(path)})

    def test_files_without_rank_or_with_the_same(self, tmp_path, caplog):
        paths = [str(tmp_path / name) for name in ("a.json", "b.json")]
        for path in paths:
            write_trace({"traceEvents": []}, path)
        assert create_rank_to_trace_dict(paths) == (True, {0: paths[1]})
        assert sum("trace file does not have the rank" in record.getMessage() for record in caplog.records) == 2
        assert sum("has the same rank" in record.getMessage() for record in caplog.records) == 1

    def test_folders_without_traces(self, tmp_path, caplog):
        assert create_rank_to_trace_dict_from_dir(str(tmp_path)) == (False, {})
        assert get_trace_files(str(tmp_path / "none")) == {}
        assert len(caplog.records) == 2
        with pytest.raises(FileNotFoundError):
            create_rank_to_trace_dict([str(tmp_path / "none.json")])

    @pytest.mark.parametrize("name", ["new/trace.json", "new/trace.json.gz"])
    def test_writing_and_reading(self, tmp_path, name):
        path, trace = str(tmp_path / name), {"traceEvents": [{"name": "ä", "ts": 1.5}]}
        write_trace(trace, path)
        update_trace_rank(path, 99)
        assert read_trace(path) == {**trace, "distributedInfo": {"rank": 99}}
        assert create_rank_to_trace_dict([path]) == (True, {99: path})

    def test_other_files_are_no_traces(self, tmp_path):
        with pytest.raises(ValueError, match="json"):
            read_trace(str(tmp_path / "trace.txt"))


class TestParserConfig:
    def test_columns_by_default(self):
        names = ["stream", "correlation", "bytes", "memory_bw_gbps", "wait_on_stream", "wait_on_cuda_event_record_corr_id",
                 "input_dims", "input_type", "input_strides", "external_id"]  # fmt: skip
        assert [spec.name for spec in ParserConfig().get_args()] == names
        assert [spec.name for spec in ParserConfig(ParserConfig.get_minimum_args()).get_args()] == names[:2]
        assert AVAILABLE_ARGS["data::bandwidth"] == AttributeSpec(
            "memory_bw_gbps", "memory bandwidth (GB/s)", ValueType.Float, 0.0, YamlVersion(1, 0, 0)
        )
        assert len(AVAILABLE_ARGS) == len(ParserConfig.get_all_available_args()) == 49
        assert len(ParserConfig.ARGS_COMPLETE) == 44

    def test_groups_do_not_change(self):
        config = ParserConfig(ParserConfig.ARGS_MINIMUM)
        config.add_args(ParserConfig.ARGS_MINIMUM + ParserConfig.ARGS_BANDWIDTH)
        assert [spec.name for spec in config.args] == ["stream", "correlation", "bytes", "memory_bw_gbps"]
        assert len(ParserConfig.ARGS_MINIMUM) == 2
        config.set_args(ParserConfig.ARGS_SYNC)
        assert config.get_args() == ParserConfig.ARGS_SYNC
        assert list(config.arg_map) == ["wait_on_stream", "wait_on_cuda_event_record_corr_id"]

    def test_selected_columns(self):
        config = ParserConfig(selected_arg_keys=["correlation", "stream"])
        assert [spec.name for spec in config.get_args()] == ["correlation", "stream"]
        assert len(config.set_args_selector(None).get_args()) == 10
        with pytest.raises(KeyError):
            config.set_args_selector(["no such"]).get_args()

    def test_communication_args(self):
        config = ParserConfig(ParserConfig.get_minimum_args())
        assert ParserConfig.enable_communication_args(config) is config
        assert config.args[2:] == ParserConfig.ARGS_COMMUNICATION
        before = ParserConfig.get_default_cfg()
        try:
            assert len(ParserConfig.enable_communication_args().args) == len(before.args) + 8 == len(ParserConfig.get_default_cfg().args)
        finally:
            ParserConfig.set_default_cfg(before)

    def test_the_default_is_a_copy(self):
        before = ParserConfig.get_default_cfg()
        try:
            config = ParserConfig(ParserConfig.get_minimum_args())
            ParserConfig.set_default_cfg(config)
            config.add_args(ParserConfig.ARGS_SYNC)
            assert len(ParserConfig.get_default_cfg().args) == 2
            ParserConfig.set_global_parser_config_version(YamlVersion(1, 1, 0))
            assert ParserConfig.get_default_cfg().version.get_version_str() == "1.1.0"
        finally:
            ParserConfig.set_default_cfg(before)

    def test_settings(self):
        config = ParserConfig()
        assert config.skip_event_types == {"python_function"} and config.parser_backend is None and not config.trace_memory
        assert config.set_skip_event_types(set()).set_parse_all_args(True) is config
        config.set_parser_backend(ParserBackend.IJSON)
        config.set_trace_memory(True)
        config.set_drop_gpu_user_annotation(False)
        config.set_min_required_cols(["ts"])
        assert vars(config.clone()) == vars(config) and config.clone().args is not config.args
        assert config.get_min_required_cols() == ["ts"] and config.skip_event_types == set() and config.parse_all_args

    @pytest.mark.parametrize(
        ("raw", "column"),
        [
            ("Kernel Queued", "kernel_queued"),
            ("Kernel.a(.Queued)__b_%", "kernel_a_b"),
            ("memory bandwidth (GB/s)", "memory_bandwidth"),
            ("smsp__x.sum", "smsp_x_sum"),
            ("Cuda-Kernel/Queued", "cuda_kernel_queued"),
            ("name", "arg_name"),
        ],
    )
    def test_names_of_columns(self, raw, column):
        assert ParserConfig.transform_arg_name(raw) == column

    def test_specifications_from_values(self):
        args = pd.Series([{"a": 1, "b": 1.5}, None, {"a": 2.5, "c": "x", "d": [1]}, {"e": True, "stream": 7}], dtype=object)
        specs = ParserConfig.infer_attribute_specs(args, {"s": AVAILABLE_ARGS["cuda::stream"]})
        assert {raw: (spec.value_type.name, spec.default_value) for raw, spec in specs.items()} == {
            "a": ("Int", 0),
            "b": ("Float", 0.0),
            "c": ("String", ""),
            "d": ("Object", None),
            "e": ("Int", 0),
            "stream": ("Int", -1),
        }
        spec = ParserConfig.make_attribute_spec("A b", "x")
        assert spec == AttributeSpec("a_b", "A b", ValueType.String, "", DEFAULT_PARSE_VERSION)

    def test_versions(self):
        assert YamlVersion.from_string("1.2.3") == YamlVersion(1, 2, 3)
        for wrong in ("1.0", "a.b.c", "1.2.3.4"):
            with pytest.raises(ValueError, match="three numbers"):
                YamlVersion.from_string(wrong)


class TestConfig:
    def test_later_files_win(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", str(tmp_path / "home"))
        (tmp_path / "home" / ".hta").mkdir(parents=True)
        (tmp_path / "home" / ".hta" / "trace_analyzer.json").write_text('{"a": 1, "b": {"x": 1, "y": 2}}')
        (tmp_path / "mine.json").write_text('{"b": {"x": {"z": 3}}}')
        monkeypatch.chdir(tmp_path)
        config = HtaConfig("mine.json")
        assert config.get_config() == {"a": 1, "b": {"x": {"z": 3}}}
        assert config.get_config("b.x.z") == 3 and config.get_config("b.y") is None and config.get_config("a.b", 5) == 5
        assert [path.rpartition("/")[2] for path in config.get_config_file_paths()] == ["trace_analyzer.json", "mine.json"]
        assert len(HtaConfig.get_default_paths()) == 3
        assert HtaConfig("none.json", load_default_paths=False).get_config() == {}

    def test_it_shows_itself(self, tmp_path, capsys):
        (tmp_path / "mine.json").write_text('{"b": [1]}')
        HtaConfig(str(tmp_path / "mine.json"), load_default_paths=False).show()
        assert json.loads(capsys.readouterr().out) == {"b": [1]}
        setup_logger(str(tmp_path / "none"))

    def test_environment(self, monkeypatch):
        assert not env_options.disable_ns_rounding()
        monkeypatch.setenv("HTA_DISABLE_NS_ROUNDING", "1")
        monkeypatch.setenv("HTA_DISABLE_CG_DEPTH", "true")
        assert env_options.disable_ns_rounding() and not env_options.disable_call_graph_depth()
        assert "HTA_DISABLE_NS_ROUNDING=1" in env_options.get_options()


class TestUtilities:
    @pytest.mark.parametrize(
        ("name", "kind"),
        [
            ("ncclDevKernel_AllGather", "COMMUNICATION"),
            ("x ncclKernel", "COMMUNICATION"),
            ("hipLaunch", "COMMUNICATION"),
            ("void ncclDevKernel_x", "COMPUTATION"),
            ("Memcpy DtoH (Device -> Pinned)", "MEMORY"),
            ("dma_x", "MEMORY"),
            ("CopyHostToDevice", "COMPUTATION"),
            ("triton_poi_fused_add_0", "COMPUTATION"),
            ("Stream Wait Event", "OTHER"),
            ("x SyncBatchNorm_kernel", "OTHER"),
            ("void rdma_copy_kernel()", "OTHER"),
            ("cudaXLaunchKernelY", "OTHER"),
        ],
    )
    def test_kinds_of_kernels(self, name, kind):
        assert utils.get_kernel_type(name) == kind
        assert utils.is_memory_kernel(name) == (kind == "MEMORY")

    def test_kinds_of_copies(self):
        names = ("Memset (Device)", "Memcpy DtoH (Device -> Pinned)", "dma")
        assert [utils.get_memory_kernel_type(name) for name in names] == ["Memset", "Memcpy DtoH", "Memcpy Unknown"]

    @pytest.mark.parametrize(
        ("name", "short"),
        [
            ("aten::empty", "aten::empty"),
            ("a<int>(b)", "a"),
            ("void at::elementwise<4, at::add<int>, at::Array<char*, 3> >(int, at::add<int>)", "at::elementwise"),
            ("Memcpy DtoD (Device -> Device)", "Memcpy DtoD (Device -> Device)"),
            ("std::enable_if<!(false), void>::type foo<int>(x)", "foo"),
            ("void foo<(X)1, (4 > 3)>(int)", "foo"),
            ("foo::operator<<(a)", "foo::operator<<"),
            ("a<b", "a<b"),
            ("f(x", "f(x"),
            ("g<decltype(a->b)>(c)", "g"),
            ("(a)", "(a)"),
            ("a(b) ", "a"),
        ],
    )
    def test_short_names(self, name, short):
        assert utils.shorten_name(name) == short

    def test_intervals_unite(self):
        frame = pd.DataFrame({"ts": [10, 0, 5, 30, 20], "dur": [2, 5, 1, 1, 10]})
        before = frame.copy()
        assert utils.merge_kernel_intervals(frame).to_dict("list") == {"ts": [0, 10, 20], "end": [6, 12, 31]}
        pd.testing.assert_frame_equal(frame, before)
        within = pd.DataFrame({"ts": [0, 3, 3], "dur": [5.0, -1.0, 1.0]})
        assert utils.merge_kernel_intervals(within).to_dict("list") == {"ts": [0], "end": [5.0]}
        assert utils.merge_kernel_intervals(frame[:0]).empty

    def test_columns(self):
        frame = pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("c", "")]))
        utils.flatten_column_names(frame)
        assert list(frame.columns) == ["a_b", "c"]
        assert utils.get_symbol_column_names(pd.DataFrame({"name": [1], "cat": ["x"]})) == ("", "cat")
        assert utils.get_symbol_column_names(pd.DataFrame({"name": ["x"], "s_name": ["y"]})) == ("s_name", "")
        streams = pd.DataFrame({"stream": ["7", "x", None, "0x0", 20]})
        utils.normalize_gpu_stream_numbers(streams)
        assert streams["stream"].to_list() == [7, -1, -1, -1, 20] and streams["stream"].dtype == "int64"

    def test_paths(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HOME", "/home/x")
        monkeypatch.chdir(tmp_path)
        paths = [utils.normalize_path(path) for path in ("~/a", "./a", "a", "/a")]
        assert paths == ["/home/x/a", str(tmp_path / "a"), "a", "/a"]
        (tmp_path / "file").touch()
        assert is_valid_directory(str(tmp_path), must_be_writable=True).success
        for wrong in ("", str(tmp_path / "none"), str(tmp_path / "file")):
            assert not is_valid_directory(wrong).success and is_valid_directory(wrong).reason
        assert utils.get_mp_pool_size(1 << 60, 4) == utils.get_mp_pool_size(1, 1) == 1

    def test_groups_and_devices(self):
        assert to_grouping_pattern(["a", "b.c"], "G").pattern.pattern == "(a)|(b.c)"
        assert to_grouping_pattern("a", inverse_match=True).match("b")
        group = GroupingPattern(re.compile("q"))
        assert to_grouping_pattern(group) is group and not group.match("aq")
        with pytest.raises(ValueError, match="int"):
            to_grouping_pattern(5)
        kinds = [infer_device_type(pd.DataFrame({"stream": streams})) for streams in ([-1, -1], [0, 7], [7, -1], [])]
        assert kinds == [DeviceType.CPU, DeviceType.GPU, DeviceType.UNKNOWN, DeviceType.UNKNOWN]

    def test_cases_are_handed_to_a_test(self):
        seen = []

        class Case:
            @data_provider(lambda: ({"a": 1, "b": 2}, (3, 4)))
            def test(self, a, b):
                seen.append((a, b))

        Case().test()
        assert seen == [(1, 2), (3, 4)]
