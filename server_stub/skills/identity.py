"""Identities: the one name that lists, `/name`, the `Skill` tool and the model all use."""

import re
import unicodedata

from server_stub.skills.diagnostic import SkipCode
from server_stub.skills.rejected import Rejected
from server_stub.skills.warning import SkillWarning, WarningCode

LONGEST_SHOWN = 64
"""Characters of a name that lists show; a longer one is a warning."""

_LONGEST = 1024
_PLAIN = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_MARKS = frozenset("_-.:")


def normalise(name: str) -> str:
    """The form in which names are compared."""
    return name if name.isascii() else unicodedata.normalize("NFKC", name)


def identify(declared: str, folder_name: str) -> tuple[str, list[SkillWarning]]:
    """The identity of a skill, and what is unusual about it. Both inputs are clean lines.

    Raises:
        Rejected: nothing of either name can be typed.
    """
    folder = normalise(folder_name)
    if declared == folder and len(declared) <= LONGEST_SHOWN and _PLAIN.fullmatch(declared):
        return declared, []
    warnings = []
    wanted = normalise(declared) or folder
    if not declared:
        warnings.append(SkillWarning(WarningCode.NAME_MISSING, "no `name` is given; the folder's name is used"))
    elif wanted != folder:
        warnings.append(SkillWarning(WarningCode.NAME_DIFFERS, "`name` differs from the folder's name; `name` is used"))
    name = _typeable(wanted) or _typeable(folder)
    if not name or len(name) > _LONGEST:
        raise Rejected(SkipCode.UNUSABLE_NAME, "no letter or digit in its name, or far too long a name")
    if name != wanted:
        warnings.append(
            SkillWarning(
                WarningCode.NAME_REWRITTEN,
                f"the name holds characters that cannot be typed as a command; it is `{name}` here",
            )
        )
    return name, warnings + _unusual(name)


def _typeable(name: str) -> str:
    """The name itself where all of it can be typed; otherwise its slug, which may be empty."""
    if not any(character.isalnum() for character in name):
        return ""
    if all(_is_allowed(character) for character in name):
        return name
    kept = "".join(character if _is_allowed(character) else " " for character in name)
    return "-".join(kept.split()).strip("-")


def _is_allowed(character: str) -> bool:
    return character.isalnum() or character in _MARKS or unicodedata.category(character)[0] == "M"


def _unusual(name: str) -> list[SkillWarning]:
    warnings = []
    if len(name) > LONGEST_SHOWN:
        warnings.append(
            SkillWarning(WarningCode.NAME_LONG, f"the name is longer than {LONGEST_SHOWN} characters; lists clip it")
        )
    bare = name.replace("-", "")
    if name != name.lower() or "--" in name or name[0] == "-" or name[-1] == "-" or not _is_plain_word(bare):
        warnings.append(
            SkillWarning(
                WarningCode.NAME_UNUSUAL,
                "other clients take only lower-case letters, digits and single hyphens in a name",
            )
        )
    return warnings


def _is_plain_word(text: str) -> bool:
    return all(character.isalnum() or unicodedata.category(character)[0] == "M" for character in text)
