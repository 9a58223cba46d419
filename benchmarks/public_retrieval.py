"""Retrieval on a copy of a public suite, as ``chatmemory bench`` measures it: ``python benchmarks/public_retrieval.py DATA [--json FILE]``.

DATA is ``locomo_dev.json``, or a folder that holds it, or any suite that the command knows.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from figures import json_option, write

from chatmemory.programs.bench.measuring import COLUMNS

FILE = "locomo_dev.json"
RUN = "from chatmemory_layers.entry import chatmemory; chatmemory()"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    json_option(parser)
    arguments = parser.parse_args()
    path = arguments.data / FILE if (arguments.data / FILE).exists() else arguments.data
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "figures.json"
        command = [sys.executable, "-c", RUN, "bench", str(path), "-o", str(told)]
        subprocess.run(command, check=True)
        suites = json.loads(told.read_text(encoding="utf-8"))["suites"]
    rows = {}
    for suite in suites:
        for row in suite["rows"]:
            cells = {column: _cell(row["figures"][column]) for column in COLUMNS}
            rows[f"{suite['name']}: {row['way']}"] = cells
    write(arguments.json, rows)


def _cell(figure: dict[str, float]) -> str:
    return f"{figure['mean']:.1f} ({figure['low']:.1f}-{figure['high']:.1f})"


if __name__ == "__main__":
    main()
