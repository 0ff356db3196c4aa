"""What Spotter raises: each class is also the built-in exception that fits."""

from __future__ import annotations


class Error(Exception):
    """An error with a sentence for a person: what, where (file, position), and what to do about it."""

    code = "internal"


class NotFound(Error, FileNotFoundError):
    """What was named is not there."""

    code = "not_found"


class Invalid(Error, ValueError):
    """What was asked for makes no sense: a parameter, a name, a range."""

    code = "invalid"


class Corrupt(Error, ValueError):
    """A file is damaged, or not what it seems."""

    code = "corrupt"


class Unsupported(Error, ValueError):
    """A file of another version, or of a form that is not read."""

    code = "unsupported"


class ReadWriteFailed(Error, OSError):
    """The system could not read or write."""

    code = "io"


class Denied(Error, PermissionError):
    """The system or an agent does not permit it."""

    code = "denied"


class Busy(Error, BlockingIOError):
    """Somebody else is at it, such as another capture."""

    code = "busy"


class Cancelled(Error):
    """It was cancelled before it was done."""

    code = "cancelled"


BY_CODE = {
    one.code: one for one in (Error, NotFound, Invalid, Corrupt, Unsupported, ReadWriteFailed, Denied, Busy, Cancelled)
}
