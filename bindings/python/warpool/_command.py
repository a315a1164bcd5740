# SPDX-License-Identifier: Apache-2.0
"""The command ``warpool`` of an installed package: hands over to the program that the package carries."""

from __future__ import annotations

import os
import sys


def main() -> int:
    """Replaces this process by the program; returns only if it cannot."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "warpool")
    if not os.access(program, os.X_OK):
        print(
            f"warpool: {program} is missing: this package was built without the command; build it from the source tree",
            file=sys.stderr,
        )
        return 78
    return os.execv(program, [program, *sys.argv[1:]])
