# SPDX-License-Identifier: Apache-2.0
"""The only module that writes to a host or runs its commands."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

LONGEST_S = 300.0
"""A command of the host: update-grub takes seconds, on slow disks a minute."""


class Writer:
    """Of this host, or of a folder with a host's files, in which no command is run."""

    def __init__(self, is_tree: bool) -> None:
        self.is_tree = is_tree
        self.not_run: list[tuple[str, ...]] = []
        """Commands that a folder could not have."""

    def put(self, path: Path, text: str | None) -> None:
        """Replaces a file whole, or removes it, and folders of ours that are empty then."""
        beside = path.with_name(f".{path.name}.ringmaster-setup")
        if text is None:
            beside.unlink(missing_ok=True)
            path.unlink(missing_ok=True)
            folder = path.parent
            if folder.name.startswith("ringmaster") and folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
            return
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("w", errors="surrogateescape") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode)
        beside.rename(path)

    def set(self, path: Path, value: str) -> None:
        """Writes a value into a file of the kernel's, at once."""
        try:
            with path.open("w") as file:
                file.write(value)
        except OSError as error:
            raise OSError(f"{path}: {value.strip() or 'nothing'} was refused: {error.strerror}") from error

    def run(self, command: Sequence[str]) -> None:
        """Runs it to its end. Raises OSError with its last line where it fails."""
        if not command:
            return
        if self.is_tree:
            self.not_run.append(tuple(command))
            return
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=LONGEST_S
            )
        except FileNotFoundError:
            raise OSError(f"{command[0]} is not installed on this host") from None
        except subprocess.TimeoutExpired:
            raise OSError(f"{' '.join(command)} took more than {LONGEST_S:.0f} s") from None
        if done.returncode != 0:
            last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
            raise OSError(f"{' '.join(command)} failed with {done.returncode}: {last}")
