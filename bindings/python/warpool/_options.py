# SPDX-License-Identifier: Apache-2.0
"""From what people write for permissions, times and attributes to what libwarpool takes."""

from __future__ import annotations

from warpool._errors import InvalidArgumentError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, TypeAlias

    Mode: TypeAlias = int | str | None
    Wait: TypeAlias = float | bool | None
    Attributes: TypeAlias = Mapping[str, Any] | None

_FOREVER = -1
_LONGEST_S = 2**53 / 1000
_SYMBOLS = "rwxrwxrwx"


def wait_ms(wait: Wait) -> int:
    """None and False: do not wait. True: without limit. A number: seconds."""
    if wait is None or wait is False:
        return 0
    if wait is True:
        return _FOREVER
    if not isinstance(wait, (int, float)):
        raise TypeError(f"wait must be None, True or seconds as a number, not {type(wait).__name__}")
    if not wait >= 0:
        raise InvalidArgumentError(f"wait is {wait!r}: give seconds >= 0, or True to wait without limit")
    if wait > _LONGEST_S:
        return _FOREVER
    # A wait that is not zero must not become one.
    return max(1, round(wait * 1000)) if wait > 0 else 0


def ttl_ms(seconds: float | None, what: str = "ttl") -> int:
    """None: stays. Else seconds, more than 0."""
    if seconds is None:
        return 0
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"{what} must be None or seconds as a number, not {type(seconds).__name__}")
    if not 0 < seconds <= _LONGEST_S:
        raise InvalidArgumentError(f"{what} is {seconds!r}: give seconds > 0, or None for an array that stays")
    return max(1, round(seconds * 1000))


def mode_bits(mode: Mode) -> int:
    """None: private (0600). 0o640, "0640", "640" and "rw-r-----" all mean the same."""
    if mode is None:
        return 0
    if isinstance(mode, bool) or not isinstance(mode, (int, str)):
        raise TypeError(f"mode must be an int such as 0o640 or a str such as 'rw-r-----', not {type(mode).__name__}")
    bits = _parse_mode(mode) if isinstance(mode, str) else mode
    if not 0 < bits <= 0o777:
        hint = f"; did you mean 0o{mode}?" if str(mode) in ("600", "640", "644", "660", "664", "666", "604") else ""
        raise InvalidArgumentError(f"mode is {mode!r}: write 0o600, 0o640 or 0o644, or 'rw-r-----'{hint}")
    return bits


def _parse_mode(text: str) -> int:
    if len(text) == len(_SYMBOLS) and all(letter in (symbol, "-") for letter, symbol in zip(text, _SYMBOLS, strict=True)):
        return int("".join("0" if letter == "-" else "1" for letter in text), 2)
    digits = text[2:] if text[:2] in ("0o", "0O") else text
    if digits and all(digit in "01234567" for digit in digits):
        return int(digits, 8)
    raise InvalidArgumentError(f"mode {text!r} is neither octal, such as '0640', nor nine letters, such as 'rw-r-----'")


def attributes_json(attrs: Attributes) -> str | None:
    """A JSON object, or None."""
    if attrs is None:
        return None
    import json

    if not hasattr(attrs, "keys"):
        raise TypeError(f"attrs must be a dict of JSON values, not {type(attrs).__name__}")
    for key in attrs:
        if not isinstance(key, str):
            raise TypeError(f"attrs has the key {key!r}: keys must be str, so that every language can read them")
    try:
        return json.dumps(dict(attrs), default=_plain, allow_nan=False)
    except ValueError as error:
        raise InvalidArgumentError(f"attrs cannot be written as JSON: {error}; write NaN and infinity as text") from None


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON values."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(
        f"attrs holds a {type(value).__name__}: use numbers, text, booleans, None, lists and dicts, or put it as an array"
    )
