"""Fields: frontmatter values read as what each key means, every guess noted as a warning."""

import re

from server_stub.skills.frontmatter import Value
from server_stub.skills.text import clean_line, clean_text, clip_graphemes, hidden_characters
from server_stub.skills.warning import SkillWarning, WarningCode

KNOWN_KEYS = frozenset(
    [
        "name", "description", "license", "compatibility", "metadata", "allowed-tools", "version", "argument-hint",
        "arguments", "user-invocable", "disable-model-invocation", "includes", "tools", "input_schema", "output_schema",
    ]
)  # fmt: skip

_USUAL_KEYS = frozenset(["name", "description", "license", "version", "metadata"])
_SQUASHED = {key.replace("-", "").replace("_", ""): key for key in KNOWN_KEYS}
_YES = frozenset(["true", "yes", "on", "y", "1"])
_NO = frozenset(["false", "no", "off", "n", "0"])
_TOOL = re.compile(r"[^\s,(]+(?:\([^)]{0,256}\))?|\(")
_LONGEST_LIST = 8_192
"""Characters of a text that is read as a list of words."""
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")


class Fields:
    """The values of one frontmatter, and the warnings that reading them gave."""

    def __init__(self, mapping: dict[str, Value], warnings: list[SkillWarning]) -> None:
        self.warnings = warnings
        self.hidden: tuple[str, ...] = ()
        """Classes of unseen characters that only an escape in a quoted value brought in."""
        self._values = mapping if KNOWN_KEYS.issuperset(mapping) else self._spelled(mapping)

    @property
    def has_options(self) -> bool:
        """Whether any key is given besides those that nearly every skill has."""
        return not _USUAL_KEYS.issuperset(self._values)

    def warn(self, code: WarningCode, reason: str) -> None:
        """Note something unusual."""
        self.warnings.append(SkillWarning(code, reason))

    def line(self, key: str) -> str:
        """A text on one line; `""` where there is none."""
        value = self._values.get(key)
        if value is None:
            return ""
        if isinstance(value, str) and value.isprintable():  # nearly always: there is nothing to clean
            return value.strip()
        return clean_line(self._noted(self._text(key, value)))

    def text(self, key: str) -> str:
        """A text that may hold line breaks; `""` where there is none."""
        value = self._values.get(key)
        if value is None:
            return ""
        if isinstance(value, str) and value.isprintable():
            return value.strip()
        return clean_text(self._noted(self._text(key, value))).strip()

    def flag(self, key: str, *, default: bool) -> bool:
        """A switch, in any of the words that people write."""
        value = self._values.get(key)
        if value is None:
            return default
        word = value.strip().lower() if isinstance(value, str) else ""
        if word not in _YES and word not in _NO:
            self.warn(WarningCode.VALUE_IGNORED, f"`{key}` is neither true nor false and is ignored")
            return default
        return word in _YES

    def names(self, key: str) -> tuple[str, ...]:
        """A list of words, or a text that holds words apart by spaces or commas; `Bash(git add:*)` is one word."""
        value = self._values.get(key)
        match value:
            case None:
                return ()
            case str():
                text = clean_line(value)[:_LONGEST_LIST]
                if "(" not in text:
                    return tuple(text.replace(",", " ").split())
                return tuple(word for word in _TOOL.findall(text) if word != "(")
            case list():
                words = [clean_line(item) for item in value if isinstance(item, str)]
                if len(words) < len(value):
                    self.warn(WarningCode.VALUE_IGNORED, f"a part of `{key}` is not text and is ignored")
                return tuple(word for word in words if word)
            case dict():
                self.warn(WarningCode.VALUE_IGNORED, f"`{key}` is not a list of names and is ignored")
                return ()

    def variables(self, key: str) -> tuple[str, ...]:
        """Names that a body can use as `$name`; anything else in the list is noted and left out."""
        words = self.names(key)
        fit = tuple(word for word in words if _VARIABLE.fullmatch(word))
        if len(fit) < len(words):
            self.warn(WarningCode.VALUE_IGNORED, f"a part of `{key}` is no name of letters and digits and is ignored")
        return fit

    def tools(self) -> tuple[str, ...]:
        """The declared tools: `allowed-tools`, and plain names under `tools`."""
        tools = self._values.get("tools")
        declared = self.names("allowed-tools")
        is_names = isinstance(tools, str) or (isinstance(tools, list) and all(isinstance(item, str) for item in tools))
        if not is_names or not tools:
            return declared
        self.warn(WarningCode.KEY_SPELLING, "`tools` holds plain names and is read as `allowed-tools`")
        return tuple(dict.fromkeys(declared + self.names("tools")))

    def version(self) -> str:
        """The version, at the top level or within `metadata`."""
        own = self.line("version")
        metadata = self._values.get("metadata")
        nested = metadata.get("version") if isinstance(metadata, dict) and not own else None
        return clean_line(nested) if isinstance(nested, str) else own

    def hint(self, key: str) -> str:
        """A text in which `[name]`, a list to YAML, means just what it says."""
        value = self._values.get(key)
        if isinstance(value, list):
            return clean_line("[" + ", ".join(item for item in value if isinstance(item, str)) + "]")
        return self.line(key)

    def _noted(self, text: str) -> str:
        if not text.isprintable():
            self.hidden += tuple(label for label in hidden_characters(text) if label not in self.hidden)
        return text

    def _text(self, key: str, value: str | list[Value] | dict[str, Value]) -> str:
        if isinstance(value, str):
            return value
        items = [item for item in value if isinstance(item, str)] if isinstance(value, list) else []
        if items:
            self.warn(WarningCode.VALUE_AS_TEXT, f"`{key}` is a list; its items are joined")
            return ", ".join(items)
        self.warn(WarningCode.VALUE_IGNORED, f"`{key}` is not text and is ignored")
        return ""

    def _spelled(self, mapping: dict[str, Value]) -> dict[str, Value]:
        """Known keys under their own spelling; an exact one wins over a variant, unknown ones are dropped."""
        values = {key: value for key, value in mapping.items() if key in KNOWN_KEYS}
        for key, value in mapping.items():
            meant = _SQUASHED.get(key.replace("-", "").replace("_", "").lower())
            if meant is None or key in KNOWN_KEYS or meant in values:
                continue
            values[meant] = value
            shown = clip_graphemes(clean_line(key), 64)
            self.warn(WarningCode.KEY_SPELLING, f"`{shown}` is read as `{meant}`")
        return values
