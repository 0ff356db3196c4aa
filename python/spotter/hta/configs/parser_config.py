"""Which arguments of the events become columns of a trace's frame."""

from __future__ import annotations

import copy
import pprint
import re
from enum import Enum

from spotter.hta.configs.default_values import AttributeSpec, EventArgs, ValueType, YamlVersion
from spotter.hta.configs.event_args_yaml_parser import parse_event_args_yaml

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pandas as pd

DEFAULT_PARSE_VERSION: YamlVersion = YamlVersion(1, 0, 0)
DEFAULT_VER_EVENT_ARGS: EventArgs = parse_event_args_yaml(DEFAULT_PARSE_VERSION)
AVAILABLE_ARGS: dict[str, AttributeSpec] = DEFAULT_VER_EVENT_ARGS.AVAILABLE_ARGS


class ParserBackend(str, Enum):
    """HTA's ways of reading JSON. Here all of them are Spotter's reader."""

    JSON = "json"
    IJSON = "ijson"
    IJSON_BATCHED = "ijson_batched"
    IJSON_BATCH_AND_COMPRESS = "ijson_batch_and_compress"


class TraceType(str, Enum):
    """What was traced."""

    Training = "training"
    TrainingWoProfilerstepAnnot = "training_wo_profilerstep_annot"
    Inference = "inference"


class ParserConfig:
    """The arguments wanted as columns (`args`), and settings that scripts made for HTA set.

    A `Trace` takes one; where none is given, it is a copy of the process's default (`get_default_cfg`).
    """

    ARGS_INPUT_SHAPE: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_INPUT_SHAPE
    ARGS_BANDWIDTH: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_BANDWIDTH
    ARGS_SYNC: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_SYNC
    ARGS_MINIMUM: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_MINIMUM
    ARGS_COMPLETE: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_COMPLETE
    ARGS_INFO: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_INFO
    ARGS_COMMUNICATION: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_COMMUNICATION
    ARGS_TRITON_KERNELS: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_TRITON_KERNELS
    ARGS_DEFAULT: list[AttributeSpec] = DEFAULT_VER_EVENT_ARGS.ARGS_DEFAULT

    DEFAULT_MIN_REQUIRED_COLS: list[str] = ["ts", "dur", "name", "cat", "pid", "tid"]

    def __init__(
        self,
        args: list[AttributeSpec] | None = None,
        user_provide_trace_type: TraceType | None = None,
        version: YamlVersion = DEFAULT_PARSE_VERSION,
        parse_all_args: bool = False,
        selected_arg_keys: list[str] | None = None,
        skip_event_types: set[str] | None = None,
    ) -> None:
        """Args:
            args: columns wanted; None: those of `get_default_args`.
            parse_all_args: every argument that occurs becomes a column.
            selected_arg_keys: columns of `args` that alone are wanted, in this order.
            skip_event_types, and what is set below but `args` and the selector: is kept, and changes nothing. There is one
                reader, which reads all events, as HTA's default does.
        """
        self.args = list(self.get_default_args(version) if args is None else args)
        self.arg_map = {spec.name: spec for spec in self.args}
        self.parser_backend: ParserBackend | None = None
        self.trace_memory = False
        self.user_provide_trace_type = user_provide_trace_type
        self.skip_event_types: set[str] | None = {"python_function"} if skip_event_types is None else skip_event_types
        self.min_required_cols = list(self.DEFAULT_MIN_REQUIRED_COLS)
        self.drop_gpu_user_annotation = True
        self.version = version
        self.parse_all_args = parse_all_args
        self.selected_arg_keys = selected_arg_keys

    def clone(self) -> ParserConfig:
        """A copy that shares nothing with it."""
        return copy.deepcopy(self)

    def get_args(self) -> list[AttributeSpec]:
        """The columns wanted.

        Raises:
            KeyError: the selector names a column that is not among them.
        """
        if self.selected_arg_keys is None:
            return self.args
        return [self.arg_map[name] for name in self.selected_arg_keys]

    def set_args(self, args: list[AttributeSpec]) -> None:
        """These instead of the columns so far."""
        self.args = list(args)
        self.arg_map = {spec.name: spec for spec in self.args}

    def add_args(self, args: list[AttributeSpec]) -> None:
        """These as well; those that are there already do not change."""
        for spec in args:
            if self.arg_map.setdefault(spec.name, spec) is spec and spec not in self.args:
                self.args.append(spec)

    def set_args_selector(self, selected_arg_keys: list[str] | None = None) -> ParserConfig:
        """Only these of the columns, by name; None: all."""
        self.selected_arg_keys = selected_arg_keys
        return self

    def set_parse_all_args(self, parse_all_args: bool) -> ParserConfig:
        """Whether every argument that occurs becomes a column."""
        self.parse_all_args = parse_all_args
        return self

    def set_skip_event_types(self, skip_event_types: set[str] | None = None) -> ParserConfig:
        """Is kept, and changes nothing: all categories are read, as by HTA's default backend."""
        self.skip_event_types = skip_event_types
        return self

    def set_parser_backend(self, parser_backend: ParserBackend) -> None:
        """Is kept, and changes nothing: there is one reader."""
        self.parser_backend = parser_backend

    def set_min_required_cols(self, cols: list[str]) -> None:
        self.min_required_cols = cols

    def get_min_required_cols(self) -> list[str]:
        return self.min_required_cols

    def set_trace_memory(self, trace_memory: bool) -> None:
        self.trace_memory = trace_memory

    def set_drop_gpu_user_annotation(self, should_drop: bool) -> None:
        self.drop_gpu_user_annotation = should_drop

    @classmethod
    def get_default_cfg(cls) -> ParserConfig:
        """A copy of what a trace is read with when it is given no configuration."""
        return _default.clone()

    @classmethod
    def set_default_cfg(cls, cfg: ParserConfig) -> None:
        """From now on, in this process, traces are read with a copy of it."""
        global _default
        _default = cfg.clone()

    @staticmethod
    def set_global_parser_config_version(version: YamlVersion) -> None:
        """The process's default becomes the one of this version."""
        ParserConfig.set_default_cfg(ParserConfig.get_versioned_cfg(version))

    @classmethod
    def get_versioned_cfg(cls, version: YamlVersion) -> ParserConfig:
        """The default columns of a version."""
        return ParserConfig(version=version)

    @classmethod
    def get_minimum_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        return list(parse_event_args_yaml(version).ARGS_MINIMUM)

    @classmethod
    def get_default_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        return list(parse_event_args_yaml(version).ARGS_DEFAULT)

    @classmethod
    def get_info_args(cls, version: YamlVersion = DEFAULT_PARSE_VERSION) -> list[AttributeSpec]:
        return list(parse_event_args_yaml(version).ARGS_INFO)

    @classmethod
    def enable_communication_args(
        cls, cfg: ParserConfig | None = None, version: YamlVersion = DEFAULT_PARSE_VERSION
    ) -> ParserConfig:
        """Adds the columns of collectives to `cfg`, and returns it; None: to what traces are read with from now on."""
        config = cls.get_default_cfg() if cfg is None else cfg
        config.add_args(parse_event_args_yaml(version).ARGS_COMMUNICATION)
        if cfg is None:
            cls.set_default_cfg(config)
        return config

    @classmethod
    def get_all_available_args(cls) -> dict[str, AttributeSpec]:
        """The known arguments by key ("family::argument")."""
        return AVAILABLE_ARGS

    @classmethod
    def show_available_args(cls) -> None:
        """Prints them."""
        pprint.pprint(AVAILABLE_ARGS)

    @classmethod
    def transform_arg_name(cls, arg: str) -> str:
        """The column that an argument without a specification becomes: lower case, without what is in parentheses,
        and underscores for what separates words; "arg_name" for "name", which is a column of its own."""
        name = re.sub(r"\([^)]*\)", "", arg.lower())
        name = re.sub(r"[ \-/.%_]+", "_", name).strip("_")
        return "arg_name" if name == "name" else name

    @classmethod
    def make_attribute_spec(
        cls, raw_name: str, value: object, min_supported_version: YamlVersion = DEFAULT_PARSE_VERSION
    ) -> AttributeSpec:
        """The specification of an argument of which one value is known."""
        value_type, default = ValueType.Object, None
        for kind, spec_type in ((int, ValueType.Int), (float, ValueType.Float), (str, ValueType.String)):
            if isinstance(value, kind):
                value_type, default = spec_type, kind()
                break
        return AttributeSpec(cls.transform_arg_name(raw_name), raw_name, value_type, default, min_supported_version)

    @classmethod
    def infer_attribute_specs(
        cls, args: pd.Series, reference_specs: dict[str, AttributeSpec] | None = None
    ) -> dict[str, AttributeSpec]:
        """Specifications of the arguments that occur, by their names in the file.

        Args:
            args: `args` of each event; what is not a dict is passed over.
            reference_specs: taken for the arguments that they name; the others' types are those of their first values.
        """
        known = {spec.raw_name: spec for spec in (reference_specs or {}).values()}
        first: dict[str, object] = {}
        for values in args:
            if isinstance(values, dict):
                first = {**values, **first} if values.keys() - first.keys() else first
        return {raw: known.get(raw) or cls.make_attribute_spec(raw, value) for raw, value in first.items()}


_default = ParserConfig()
