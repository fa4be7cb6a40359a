# SPDX-License-Identifier: Apache-2.0
"""What the key ``postmortem`` of a recorder's file amounts to, or what is wrong with it, without a workspace."""

from pathlib import Path

from ringmaster.errors import TwinError
from ringmaster.machine.server_file import read_yaml
from ringmaster.postmortem.machine import Machine
from ringmaster.postmortem.settings import KEY, read_settings


def check(path: Path) -> list[str]:
    """Lines for a person; none where the file has no such key.

    Raises ValueError for all that the watch refuses, and for a description of the machine that names what is not there.
    """
    if KEY not in read_yaml(path):
        return []
    settings = read_settings(path)
    lines = [f"post-mortem: at most {settings.quota_bytes / 1e9:.4g} GB of events"]
    lines += [f"  {trigger.name:<22} {trigger.kind}" for trigger in settings.triggers]
    if settings.machine is None:
        return [*lines, "  no machine: causes that need the twin are not looked for"]
    try:
        machine = Machine.from_description(read_yaml(settings.machine))
    except KeyError as error:
        raise ValueError(f"{settings.machine}: there is no key {error}, which a description of a machine has") from None
    except (ValueError, TypeError, TwinError) as error:
        raise ValueError(f"{settings.machine}: {' '.join(str(error).split())}") from None
    return [
        *lines,
        f"  {'machine':<22} {settings.machine}: {len(machine.places)} readings, {len(machine.actors)} supplies",
    ]
