# SPDX-License-Identifier: Apache-2.0
"""The serial console of a machine that boots from a disk, as a person at it reads and types."""

import codecs
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic, sleep

from guest import PROCESSOR, Card, program

TIMEOUT_S = 600.0
PROMPT = r"root@ringmaster:~# "
INITRAMFS = "(initramfs) "
"""The prompt of a boot that went no further."""
END = "end-of-command"
CONTROL = re.compile(r"\x1b[\[(][0-9;?]*[a-zA-Z]|\r")


class Console:
    """What a machine shows, and what it is told."""

    def __init__(self, link: socket.socket, process: subprocess.Popen[bytes]) -> None:
        self._link = link
        self._process = process
        self._said = ""
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode

    def wait_for(self, pattern: str) -> str:
        """Waits until it shows that; returns all until then, and forgets it."""
        give_up = monotonic() + TIMEOUT_S
        while (found := re.search(pattern, self._said)) is None:
            assert monotonic() < give_up, f"waited {TIMEOUT_S:.0f} s in vain for {pattern!r}: {self._said[-3000:]}"
            assert self._process.poll() is None, f"QEMU has ended: {self._said[-3000:]}"
            assert INITRAMFS not in self._said, f"the stick's root is not mounted: {self._said[-3000:]}"
            try:
                raw = self._link.recv(1 << 16)
            except TimeoutError:
                continue
            self._said = CONTROL.sub("", self._said + self._decode(raw))  # a sequence may come in two parts
        shown, self._said = self._said[: found.end()], self._said[found.end() :]
        return shown

    def reach_prompt(self) -> str:
        """Waits for the prompt; returns all that was shown until then. What is typed from now on is not shown."""
        shown = self.wait_for(PROMPT)
        self._type("exec bash --noediting --norc --noprofile")
        self._type(f"PS1=; stty -echo; echo {END[:6]}''{END[6:]} 0")
        self.wait_for(rf"{END} 0\n")
        return shown

    def run(self, line: str, expect: int | None = 0) -> str:
        """What a line of the shell shows. ``expect=None``: it may fail."""
        self._type(f"{line}\ns=$?; echo; echo {END} $s")
        shown = self.wait_for(rf"(^|\n){END} [0-9]+\n")
        output, _, status = shown.rstrip().rpartition(f"{END} ")
        assert expect is None or int(status) == expect, f"{line}: {shown}"
        return output.strip("\n")

    def write(self, file: str, text: str) -> None:
        """A file."""
        self.run(f"cat >{file} <<'{END}.'\n{text}\n{END}.")

    def _type(self, line: str) -> None:
        self._link.sendall(line.encode() + b"\n")


@contextmanager
def booted(
    disk: Path, plugged: Sequence[str], cards: Sequence[Card] = (), enter: Sequence[str] = ()
) -> Iterator[Console]:
    """A machine of two cores, with an IOMMU, that has begun to boot. ``plugged``: QEMU's words for what the disk, its
    drive ``stick``, is plugged into, and for the firmware.
    """
    path = disk.with_suffix(".console")
    command = [*enter, "setpriv", "--pdeathsig", "KILL", program(), "-accel", "tcg"]
    command += ["-machine", "q35,kernel-irqchip=split", "-cpu", PROCESSOR, "-smp", "2", "-m", "2048"]
    command += ["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]
    command += ["-device", "intel-iommu,intremap=on,caching-mode=on"]
    command += ["-drive", f"file={disk},format=raw,if=none,id=stick", *plugged]
    command += ["-chardev", f"socket,id=tty,path={path},server=on,wait=off,logfile={disk.with_suffix('.log')}"]
    command += ["-serial", "chardev:tty", *(word for card in cards for word in card.words())]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        while not path.exists():
            assert process.poll() is None, "QEMU has ended"
            sleep(0.05)
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(path))
            link.settimeout(1.0)
            yield Console(link, process)
    finally:
        process.kill()
        process.wait()
        path.unlink(missing_ok=True)
