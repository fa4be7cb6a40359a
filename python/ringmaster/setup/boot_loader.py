# SPDX-License-Identifier: Apache-2.0
"""The kernel's command line: in a file of ours for grub, in /etc/kernel/cmdline for kernel-install."""

import re
from collections.abc import Sequence

from ringmaster.doctor.host import Host
from ringmaster.setup.changes import Change, Put, Run

GRUB = "/etc/default/grub"
DROP_IN = "/etc/default/grub.d/90-ringmaster.cfg"
INSTALLED = "/etc/kernel/cmdline"
HEAD = "# Written by `ringmaster setup`, which takes it away again with --undo.\n"


def ours(host: Host) -> tuple[str, ...]:
    """Arguments that our file for grub has."""
    found = re.search(r'^GRUB_CMDLINE_LINUX="\$GRUB_CMDLINE_LINUX ([^"]*)"$', host.text(DROP_IN) or "", re.MULTILINE)
    if found is not None:
        return tuple(found[1].split())
    return tuple((host.text(INSTALLED) or "").split()) if not host.exists(GRUB) else ()


def merged(before: Sequence[str], more: Sequence[str]) -> tuple[str, ...]:
    """One value for each name, the newer one; hugepagesz= and hugepages= belong together, and go together."""
    if any(name.startswith("hugepages") for name in more):
        before = [word for word in before if not re.match("(default_)?hugepages", word)]
    names = {word.partition("=")[0] for word in more}
    kept = [word for word in before if word.partition("=")[0] not in names]
    return tuple(dict.fromkeys((*kept, *more)))


def changes(host: Host, arguments: Sequence[str]) -> tuple[Change, ...] | None:
    """That add arguments; none where they are there, None where no boot loader is known."""
    before = ours(host)
    words = merged(before, arguments)
    if set(words) == set(before):
        return ()
    if host.exists(GRUB):
        text = f'{HEAD}GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(words)}"\n'
        update = _first(host, "/usr/sbin/update-grub", "/usr/sbin/grub2-mkconfig", "/usr/sbin/grub-mkconfig")
        command: tuple[str, ...] = ("update-grub",)
        if update is not None and update.endswith("mkconfig"):
            command = (update, "-o", "/boot/grub2/grub.cfg" if "grub2" in update else "/boot/grub/grub.cfg")
        return _around(Put(DROP_IN, text), command)
    if host.exists(INSTALLED):
        release = host.text("/proc/sys/kernel/osrelease") or ""
        image = _first(host, f"/boot/vmlinuz-{release}", f"/usr/lib/modules/{release}/vmlinuz")
        if image is not None:
            return _around(Put(INSTALLED, f"{' '.join(words)}\n"), ("kernel-install", "add", release, image))
    return None


def _first(host: Host, *paths: str) -> str | None:
    return next((path for path in paths if host.exists(path)), None)


def _around(put: Put, command: tuple[str, ...]) -> tuple[Change, ...]:
    """The first undoes last: the boot loader reads the file as it was."""
    return (Run((), command), put, Run(command))
