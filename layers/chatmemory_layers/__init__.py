"""How memory is kept, and what it runs on: every module exports Layer values."""

import chatmemory

if getattr(chatmemory, "__distribution__", None) != "chatmemory-effect":
    # See chatmemory/namesake.py, which may be gone.
    message = (
        f"'import chatmemory' finds another project ({getattr(chatmemory, '__file__', None) or 'without __init__.py'}), "
        "which has overwritten or taken files of chatmemory-effect: uninstall both "
        "(pip uninstall chatmemory chatmemory-effect), then install the one that you want "
        "(pip install chatmemory-effect), the other one in an environment of its own"
    )
    raise ImportError(message)
