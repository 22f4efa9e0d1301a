"""Prompts, which clients of the Model Context Protocol offer to people."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Argument:
    """What a person fills in when they choose a prompt."""

    name: str
    description: str
    required: bool = True


@dataclasses.dataclass(frozen=True)
class Prompt:
    """A request to an agent. `{name}` in its text stands for an argument."""

    name: str
    title: str
    description: str
    text: str
    arguments: tuple[Argument, ...] = ()
    requires: tuple[str, ...] = ()

    def declaration(self):
        """Returns the descriptor's record."""
        arguments = [dataclasses.asdict(each) for each in self.arguments]
        return vars(self) | {"arguments": arguments, "requires": list(self.requires)}
