# SPDX-License-Identifier: Apache-2.0
"""The commands that mend a host, as a script for a person to read, to shorten and to run."""

import textwrap
from collections.abc import Iterable, Sequence

from ringmaster.doctor.findings import Finding, Verdict

HEAD = """\
#!/bin/sh
# What `ringmaster doctor --for {use}` would do to make this host better. It was printed, and nothing was done yet.
# Read it, and take out what you do not want: every step says why, and none needs another. Run it as root.
# What shall outlast a reboot goes into files of its own, /etc/*/90-ringmaster*: remove them to undo it.
# What is marked BY HAND is no command here: it could cut you off, or needs a look first.
set -eu
[ "$(id -u)" = 0 ] || {{ echo 'this must be run as root' >&2; exit 1; }}
"""
FOLDERS = "mkdir -p /etc/sysctl.d /etc/tmpfiles.d /etc/udev/rules.d /etc/security/limits.d\n"
BOOT = """\

# {names}: arguments of the kernel's command line, from the next boot on.
arguments='{arguments}'
if command -v grubby >/dev/null; then
    grubby --update-kernel=ALL --args="$arguments"
elif command -v update-grub >/dev/null; then
    mkdir -p /etc/default/grub.d
    printf 'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX %s"\\n' "$arguments" > /etc/default/grub.d/90-ringmaster.cfg
    update-grub
else
    echo "add to the kernel's command line, wherever your boot loader has it: $arguments" >&2
fi
"""


def script(findings: Iterable[Finding], use: str) -> str:
    """For all that is wrong or could be better."""
    ill = [finding for finding in findings if finding.verdict in (Verdict.WRONG, Verdict.BETTER)]
    parts = [HEAD.format(use=use), *(_step(finding) for finding in ill)]
    if any(finding.keep for finding in ill):
        parts.insert(1, FOLDERS)
    if any(finding.boot for finding in ill):
        names = ", ".join(finding.name for finding in ill if finding.boot)
        parts.append(BOOT.format(names=names, arguments=" ".join(boot_arguments(ill))))
    if not ill:
        parts.append("# Nothing to do.\n")
    return "".join(parts)


def boot_arguments(findings: Sequence[Finding]) -> tuple[str, ...]:
    """Of all of them, each once, in their order."""
    return tuple(dict.fromkeys(argument for finding in findings for argument in finding.boot))


def _step(finding: Finding) -> str:
    source = f" ({finding.source})" if finding.source else ""
    lines = [
        "",
        *_comment(f"{finding.name}, {finding.verdict}: {finding.is_now}; should be {finding.should_be}"),
        *_comment(finding.why + source),
    ]
    if finding.boot:
        lines += _comment(f"At the end of this script: {' '.join(finding.boot)}")
    if finding.by_hand:
        lines += _comment(f"BY HAND: {finding.by_hand}")
    lines += finding.mend
    if finding.keep:
        lines += ["# At each boot:", *finding.keep]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> list[str]:
    """Lines that the shell passes over, whatever the host's files put into the text."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    return textwrap.wrap(plain, 116, initial_indent="# ", subsequent_indent="#   ", break_long_words=False)
