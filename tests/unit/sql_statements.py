"""The statements that a module of SQL defines, for tests that look at how each is carried out."""

from types import ModuleType


def statements_of(*modules: ModuleType) -> dict[str, str]:
    """Return the statements by the names of module and constant; templates, which are private, are none."""
    words = ("SELECT", "INSERT", "UPDATE", "DELETE", "WITH")
    return {
        f"{module.__name__.rpartition('.')[2]}.{name}": value
        for module in modules
        for name, value in vars(module).items()
        if isinstance(value, str) and value.lstrip().startswith(words) and not name.startswith("_")
    }
