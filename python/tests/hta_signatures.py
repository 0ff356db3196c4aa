"""Prints what the modules of the package `hta` offer: a line for each public class, function and method with its parameters and their
defaults, and for each member of an enumeration. Annotations are left out: their text depends on versions."""

import enum
import importlib
import inspect
import pkgutil
import sys


def _parameters(function):
    signature = inspect.signature(function)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in signature.parameters.values()]
    text = str(signature.replace(parameters=plain, return_annotation=inspect.Signature.empty))
    return text.split(" at 0x")[0] if " at 0x" in text else text


def _of_class(name, cls):
    yield f"class {name}"
    if issubclass(cls, enum.Enum):
        yield from (f"{name}.{member.name} = {member.value!r}" for member in cls)
        return
    for key, member in vars(cls).items():
        if key.startswith("_") and key not in ("__init__", "__call__"):
            continue
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function) and not (key == "__init__" and _parameters(function) == "(self)"):
            kind = "static " if isinstance(member, staticmethod) else "class " if isinstance(member, classmethod) else ""
            yield f"{name}.{key} {kind}{_parameters(function)}"


def _of_module(name):
    module = importlib.import_module(name)
    own = module.__name__
    for key, value in vars(module).items():
        if key.startswith("_") or getattr(value, "__module__", None) != own:
            continue
        if inspect.isclass(value):
            yield from _of_class(f"{name}.{key}", value)
        elif inspect.isfunction(value):
            yield f"{name}.{key} {_parameters(value)}"


def main():
    if "spotter" in sys.argv:
        import spotter.hta

        spotter.hta.install()
    import hta

    lines = set()
    for info in pkgutil.walk_packages(hta.__path__, "hta."):
        lines |= set(_of_module(info.name))
    print("\n".join(sorted(lines)))


if __name__ == "__main__":
    main()
