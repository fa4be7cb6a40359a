# SPDX-License-Identifier: Apache-2.0
"""The commands, and how they end."""

import sys
import warnings
from collections import UserDict
from importlib import import_module
from typing import Any, NoReturn, TextIO

import click

from ringmaster import __version__
from ringmaster.errors import (
    ObjectNotFound,
    WorkspaceAbsent,
    WorkspaceDamaged,
    WorkspaceDead,
    WorkspaceError,
    WorkspaceHalfMade,
    WorkspaceStopped,
    WorkspaceVersion,
    WorkspaceWarning,
)
from ringmaster.fabric.naming import without_controls

EXIT_CODES: dict[type[WorkspaceError], int] = {
    WorkspaceAbsent: 3,
    WorkspaceHalfMade: 4,
    WorkspaceVersion: 5,
    WorkspaceDead: 6,
    ObjectNotFound: 7,
    WorkspaceDamaged: 8,
    WorkspaceStopped: 9,
}

HELP = """Ringmaster takes every instrument of a ring, turn by turn, into plain memory.

\b
Examples:
  ringmaster demo
  ringmaster check configs/demo.yaml
  ringmaster run configs/demo.yaml
  ringmaster reload configs/demo.yaml
  ringmaster virtual configs/demo.yaml configs/demo-ring.yaml
  ringmaster ls
  ringmaster get bpm01/turn
  ringmaster put ramp/rate 0.5
  ringmaster monitor 'ramp/*'
  ringmaster save monday.yaml
  ringmaster change apply gradients.yaml
  ringmaster orbit show --target golden.csv
  ringmaster record configs/record.yaml
  ringmaster top
  ringmaster view --camera cam01
  ringmaster twin elettra2.mat
  ringmaster spectrum bpm01/turn/x1
  ringmaster tune chromaticity elettra2.mat --mapping bpms.yaml
  ringmaster bba report bba.h5
  ringmaster response plan elettra2.mat --mapping machine.yaml
  ringmaster feedback why
  ringmaster tunefeedback status
  ringmaster sequence run degauss
  ringmaster standby status configs/standby.yaml
  ringmaster doctor --for ingest
  ringmaster plan configs/demo.yaml
  ringmaster setup configs/elettra.yaml
  ringmaster qualify
  ringmaster archive ls /archive
  ringmaster gateway epics
  ringmaster gateway tango --port 10001
  ringmaster postmortem ls
  ringmaster gateway fast-archiver configs/fast-archiver.yaml
  ringmaster generate --port p0=ring
  ringmaster forward -c configs/router.yaml
  ringmaster cameras run configs/cameras.yaml
  ringmaster simulate config.yaml overlay.yaml feedback --seconds 2 --out run

\b
Exit codes:
  0 done               4 workspace half made         7 no such object
  1 failed             5 workspace of another        8 workspace damaged
  2 wrong usage          version                     9 its server is stopped
  3 no such workspace  6 its server has ended        127 program not found
"""


MODULES = {
    **dict.fromkeys(("run", "check", "virtual", "application", "record"), "programs"),
    **dict.fromkeys(("save", "diff", "restore"), "snapshot"),
    **{name: name for name in ("demo", "ls", "get", "put", "monitor", "top", "feedback", "replay", "calibration")},
    "premortem": "premortem",
    "change": "change",
    "loco": "loco",
    "orbit": "orbit",
    "commissioning": "commissioning",
    "standby": "standby",
    "spectrum": "spectrum",
    "correlate": "correlate",
    "optics": "optics",
    "bba": "bba",
    "tune": "tune",
    "tunefeedback": "tunefeedback",
    "sequence": "sequence",
    "response": "response",
    "plan": "plan",
    "setup": "setup",
    "qualify": "qualify",
    **{name: name for name in ("align", "doctor", "bench", "measure", "simulate", "twin", "clean", "flags")},
    **{name: name for name in ("align", "doctor", "plan", "setup", "bench", "measure", "simulate", "twin", "clean")},
    "flags": "flags",
    "gateway": "gateway",
    "archive": "archive",
    "postmortem": "postmortem",
    "cameras": "cameras",
    "reload": "reload",
    "generate": "generate",
    "forward": "forward",
    "view": "view",
    "completion": "complete",
}
"""Of ringmaster.cli, by command: each has the command under its name."""


class Commands(UserDict[str, Any]):
    """By name. The module of one is imported when it is asked for, and no other's."""

    def __getitem__(self, name: str) -> Any:
        return getattr(import_module(f"ringmaster.cli.{self.data[name]}"), name)


@click.group(
    help=HELP,
    commands=Commands(MODULES),
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, message="%(version)s")
def cli() -> None:
    """Groups the commands."""


def main() -> NoReturn:
    """Runs the command line; an error is one line on stderr and an exit code."""
    warnings.showwarning = _show_warning
    warnings.simplefilter("always", WorkspaceWarning)
    try:
        cli.main(prog_name="ringmaster", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        print(error.format_message())
        sys.exit(error.exit_code)
    except click.UsageError as error:
        where = error.ctx.command_path if error.ctx else "ringmaster"
        _fail(f"{error.format_message()} (`{where} --help` shows how)", error.exit_code)
    except click.ClickException as error:
        _fail(error.format_message(), error.exit_code)
    except click.Abort:
        sys.exit(130)
    except WorkspaceError as error:
        _fail(str(error), next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1))
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(1)
    except (OSError, RuntimeError, ValueError) as error:
        _fail(_text(error), 1)
    sys.exit(0)


def _text(error: Exception) -> str:
    """What happened, without the number that the system gives it."""
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror[0].lower()}{error.strerror[1:]}"
    return str(error)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    if issubclass(category, WorkspaceWarning):
        print("ringmaster: warning:", " ".join(str(message).split()), file=sys.stderr)
    else:
        print(warnings.formatwarning(message, category, filename, lineno, line), end="", file=file or sys.stderr)


def _fail(text: str, code: int) -> NoReturn:
    print("ringmaster:", without_controls(" ".join(text.split())), file=sys.stderr)
    sys.exit(code)
