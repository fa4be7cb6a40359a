# SPDX-License-Identifier: Apache-2.0
"""Lines of commands, typed or out of scripts: words of the page are done here, all others by the server."""

import re
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.commands import CommandRefused
from ringmaster.traffic.pages import PAGES, page_named, ports_per_page
from ringmaster.traffic.watch import GeneratorWatch

SCRIPTS_DEEP = 8
"""Scripts that load scripts."""
LOCAL = {
    "page": "page NAME|next|prev|NUMBER       another page, other ports",
    "load": "load FILE                        the lines of a script",
    "delay": "delay MS, sleep S                wait, in a script",
    "wait": "wait                             until no port sends any more, in a script",
    "clear": "clear PORTS stats, clr           count from now on",
    "quit": "quit, exit                       the end",
}
"""Words that this side does, and their help."""
DELAY_DIGITS = 9
"""Most of a delay's, which is some years then."""
FILES_OF = ("capture", "pcap", "instruments")
"""Words whose third one is a file."""


class ScriptFailed(RuntimeError):
    """A line of a script was refused; the text says which, and why."""


@dataclass
class Waiting:
    """A line of a script that is to be done."""

    text: str
    place: str
    """ "FILE:LINE"; empty for one that was typed."""
    depth: int


@dataclass
class Session:
    """What has been said, and what it has led to."""

    watch: GeneratorWatch
    clock: Callable[[], float] = monotonic
    page: str = "main"
    first_port: int = 0
    scroll: int = 0
    answer: list[str] = field(default_factory=list)
    """To the last line that was typed."""
    refused: str = ""
    """Why it was not done."""
    ended: bool = False
    _waiting: deque[Waiting] = field(default_factory=deque)
    _resumes_s: float = 0.0
    _waits_for_ports: bool = False

    def first(self, width: int) -> int:
        """The port that stands first: a page of ports begins with it, also after the screen has become wider."""
        step = ports_per_page(width)
        return self.first_port // step * step

    @property
    def idle(self) -> bool:
        """Whether all lines are done."""
        return not self._waiting

    def say(self, text: str, width: int = 80) -> None:
        """Does one line, which a person has typed; what comes of it is ``answer`` or ``refused``."""
        self.answer, self.refused, self.scroll = [], "", 0
        try:
            self.answer = self._do(Waiting(text, "", 0), width)
            self.go_on(width)
        except (WorkspaceError, CommandRefused, ScriptFailed, OSError) as error:
            self.refused = " ".join(str(error).split())

    def go_on(self, width: int = 80) -> list[str]:
        """Does the lines of scripts as far as no delay holds them; returns their answers.

        Raises ScriptFailed where one is refused; the others are then forgotten.
        """
        answers: list[str] = []
        while self._waiting and self.clock() >= self._resumes_s and not self.ended and not self._awaits_ports():
            one = self._waiting.popleft()
            try:
                answers += self._do(one, width)
            except (WorkspaceError, CommandRefused, OSError) as error:
                self._waiting.clear()
                raise ScriptFailed(f"{one.place}: {error}" if one.place else str(error)) from None
        self.answer += answers
        return answers

    def _awaits_ports(self) -> bool:
        if self._waits_for_ports and not any(port.settings.sending for port in self.watch.look()):
            self._waits_for_ports = False
        return self._waits_for_ports

    def queue(self, commands: Sequence[str]) -> None:
        """Lines that ``go_on`` does."""
        self._waiting += [Waiting(text, "", 0) for text in commands]

    def complete(self, text: str) -> list[str]:
        """The words that the last word of a line may become; "<RATE>" where it is any rate."""
        *before, begun = text.split(" ")
        if before and before[0] in ("load", *FILES_OF) and len(before) == (1 if before[0] == "load" else 2):
            return _files(begun)
        if not before:
            words = [*LOCAL, *self._server_words(text)]
        elif before[0] == "page":
            words = [*(page.name for page in PAGES), "next", "prev"]
        else:
            words = self._server_words(text)
        return [word for word in words if word.startswith((begun, "<"))]

    def _server_words(self, text: str) -> list[str]:
        try:
            told = self.watch.commands.complete(text)
        except (WorkspaceError, CommandRefused):
            return []
        names = ["all", *(port.settings.name for port in self.watch.ports)]
        return [name for word in told for name in (names if word == "PORTS" else [_argument(word)])]

    def _do(self, one: Waiting, width: int) -> list[str]:
        words = _split(one.text)
        if not words:
            return []
        if words[0] in ("quit", "exit", "q"):
            self.ended = True
        elif words[0] == "page":
            self._turn(words[1:], width)
        elif words[0] == "load" and len(words) == 2:
            self._load(Path(words[1]), one)
        elif words == ["wait"]:
            self._waits_for_ports = True
        elif words[0] in ("delay", "sleep") and len(words) == 2:
            self._delay(words[1], 1e-3 if words[0] == "delay" else 1.0)
        else:
            return self._tell(one.text, words)
        return []

    def _tell(self, text: str, words: list[str]) -> list[str]:
        """Has the server do it. A file's name is that of this process's folder, not the server's."""
        if len(words) > 2 and words[0] in FILES_OF and words[2] not in ("off", ""):
            words[2] = str(Path(words[2]).absolute())
            text = " ".join(map(quoted, words))
        answer = self.watch.commands.run(text)
        if words[0] in ("clear", "clr"):
            self.watch.clear()
        return [*LOCAL.values(), *answer] if words == ["help"] else answer

    def _turn(self, words: Sequence[str], width: int) -> None:
        ports, step = len(self.watch.ports), ports_per_page(width)
        name = words[0] if len(words) == 1 else ""
        page = page_named(name)
        if page is not None:
            self.page, self.scroll = page.name, 0
        elif name in ("next", "prev"):
            first = self.first(width) + (step if name == "next" else -step)
            self.first_port = min(max(0, first), (max(0, ports - 1)) // step * step)
        elif name.isdecimal() and int(name) * step < ports:
            self.first_port = int(name) * step
        else:
            known = ", ".join(page.name for page in PAGES)
            raise CommandRefused(
                f"page: found {name!r}, expected one of {known}, next, prev, or a number of ports' pages"
            )

    def _load(self, path: Path, one: Waiting) -> None:
        if one.depth == SCRIPTS_DEEP:
            raise CommandRefused(f"load: {path} is loaded by {SCRIPTS_DEEP} scripts within each other, expected fewer")
        try:
            lines = path.read_text().splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is no text"
            raise CommandRefused(f"load: {path}: {reason}; expected a file of commands, one a line") from None
        self._waiting.extendleft(
            Waiting(text, f"{path}:{number}", one.depth + 1) for number, text in reversed(list(enumerate(lines, 1)))
        )

    def _delay(self, text: str, unit_s: float) -> None:
        if not text.isdecimal() or len(text) > DELAY_DIGITS:
            raise CommandRefused(f"delay: found {text!r}, expected a whole number of milliseconds; sleep has seconds")
        self._resumes_s = self.clock() + int(text) * unit_s


def quoted(word: str) -> str:
    """A word as a line may hold it."""
    return f'"{word}"' if not word or re.search(r"[\s#]", word) else word


def _split(text: str) -> list[str]:
    """The words of a line, as src/commands/words.h has them: quotes hold one together, # begins a comment."""
    words: list[str] = []
    for found in re.finditer(r'#|(?:"[^"]*"|[^\s"#])+', text):
        if found[0] == "#":
            break
        words.append(found[0].replace('"', ""))
    return words


def _argument(word: str) -> str:
    return f"<{word}>" if word[:1].isupper() or word == "…" else word


def _files(begun: str) -> list[str]:
    """Paths that begin so; folders end with a slash."""
    folder, _, name = begun.rpartition("/")
    place = Path(f"{folder}/" if begun.startswith("/") or folder else ".")
    try:
        found = sorted(place.iterdir())
    except OSError:
        return []
    prefix = f"{folder}/" if "/" in begun else ""
    return [f"{prefix}{path.name}{'/' if path.is_dir() else ''}" for path in found if path.name.startswith(name)]


def help_texts() -> Mapping[str, str]:
    """Of the words that the page does itself."""
    return LOCAL
