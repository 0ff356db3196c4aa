"""The package's logger, and settings from JSON files."""

from __future__ import annotations

import json
import logging
import logging.config
from pathlib import Path

import spotter.hta
from spotter.hta.configs.default_values import DEFAULT_CONFIG_FILENAME

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

logger: logging.Logger = logging.getLogger("hta")
"""Where the package says what it did otherwise than asked. It has HTA's name: what scripts set for that holds here."""


def setup_logger(config_file: str = "logging.config") -> None:
    """Configures logging from a file as `logging.config.fileConfig` reads it; a file that is not there changes nothing."""
    if Path(config_file).is_file():
        logging.config.fileConfig(config_file, disable_existing_loggers=False)


class HtaConfig:
    """Settings: of each file's top-level keys, the last file's value holds."""

    def __init__(self, config_file_path: str | None = None, load_default_paths: bool | None = True) -> None:
        """Args:
            config_file_path: a JSON file, read last.
            load_default_paths: read `get_default_paths` before it.

        Raises:
            json.JSONDecodeError: a file is not JSON.
        """
        paths = self.get_default_paths() if load_default_paths else []
        if config_file_path:
            paths.append(config_file_path)
        self.config_file_paths: list[str] = paths
        self.config: dict[str, Any] = {}
        for path in self.get_config_file_paths():
            self.config.update(json.loads(Path(path).read_text(encoding="utf-8")))

    @staticmethod
    def get_default_paths() -> list[str]:
        """The package's folder, `.hta` in the user's, the current one."""
        folders = (_package(), Path.home() / ".hta", Path.cwd())
        return [str(folder / DEFAULT_CONFIG_FILENAME) for folder in folders]

    @staticmethod
    def get_test_data_path(dataset: str) -> str:
        """Where a folder of test traces lies if the package lies in a source tree."""
        return str(_package().parent / "tests" / "data" / dataset)

    def get_config_file_paths(self) -> list[str]:
        """Those of the files that are there."""
        return [path for path in self.config_file_paths if Path(path).is_file()]

    def get_config(self, dot_path: str | None = None, default_value: Any = None) -> Any:
        """The value at a path of keys, as "trace.ranks", or the default; all settings without a path."""
        value: Any = self.config
        if dot_path is None:
            return value
        for key in dot_path.split("."):
            if not isinstance(value, dict) or key not in value:
                return default_value
            value = value[key]
        return value

    def show(self) -> None:
        """Prints them as JSON."""
        print(json.dumps(self.config, indent=4, sort_keys=True))


def _package() -> Path:
    assert spotter.hta.__file__ is not None
    return Path(spotter.hta.__file__).parent
