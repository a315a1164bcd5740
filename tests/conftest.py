# SPDX-License-Identifier: Apache-2.0
"""Where the sources and the build are, when pytest is started by hand; ctest says it itself."""

from __future__ import annotations

import os
from pathlib import Path

_SOURCE = Path(__file__).resolve().parent.parent
os.environ.setdefault("WARPOOL_SOURCE_DIR", str(_SOURCE))
os.environ.setdefault("WARPOOL_BUILD_DIR", str(_SOURCE / "build/release"))
