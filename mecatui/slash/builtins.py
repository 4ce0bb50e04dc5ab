"""The commands that the app runs itself: one table, in the order in which they are shown."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol


class Actions(Protocol):
    """What a builtin may set off. Each answers whether the typed text was taken; if not, it stays in the prompt."""

    def show_help(self) -> bool:
        """Open the page of commands and keys."""
        ...

    def reload_skills(self) -> bool:
        """Reload the skills of this session, or say why not now."""
        ...

    def show_skills(self) -> bool:
        """Open the list of skills."""
        ...

    def clear_conversation(self) -> bool:
        """Begin a new conversation."""
        ...

    def show_model_view(self) -> bool:
        """Open the page of what the model is told."""
        ...

    def leave(self) -> bool:
        """End the app."""
        ...


@dataclass(frozen=True, slots=True)
class Builtin:
    """One command of the app."""

    name: str
    summary: str
    run: Callable[[Actions, str], bool]
    """Takes the actions and the arguments as typed; answers whether the typed text was taken."""
    aliases: tuple[str, ...] = ()
    takes_arguments: bool = False
    waits: bool = False
    """While a run or reload is active it waits in the queue, as a prompt would."""

    @property
    def names(self) -> tuple[str, ...]:
        """The name and the aliases."""
        return (self.name, *self.aliases)


BUILTINS: tuple[Builtin, ...] = (
    Builtin("help", "show all commands and keys", lambda actions, _: actions.show_help()),
    Builtin("reload-skills", "load changed skills into this session", lambda actions, _: actions.reload_skills()),
    Builtin("skills", "list the skills of this session", lambda actions, _: actions.show_skills()),
    Builtin(
        "clear",
        "begin a new conversation; the model then sees the skills as they are now",
        lambda actions, _: actions.clear_conversation(),
        aliases=("new",),
        waits=True,
    ),
    Builtin("model-view", "show what the model is told", lambda actions, _: actions.show_model_view()),
    Builtin("quit", "leave", lambda actions, _: actions.leave(), aliases=("exit",)),
)


def builtin_names() -> dict[str, Builtin]:
    """Each name and alias with its builtin."""
    return {name: builtin for builtin in BUILTINS for name in builtin.names}
