"""The program subsweep: ``python -m subsweep --help``."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def main() -> int:
    """Run the program that the wheel has, with the arguments of this one."""
    name = "subsweep.exe" if os.name == "nt" else "subsweep"
    program = Path(__file__).parent / "bin" / name
    if not program.exists():
        print("subsweep: this package was built without the program: cargo install subsweep-tool", file=sys.stderr)
        return 1
    if os.name == "nt":
        return subprocess.call([program, *sys.argv[1:]])
    os.execv(program, ["subsweep", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
