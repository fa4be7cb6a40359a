# SPDX-License-Identifier: Apache-2.0
"""The EPICS gateway: one process, both protocols, under the same names."""

import os
import resource
from contextlib import ExitStack, closing
from importlib.util import find_spec
from threading import Event

from ringmaster.fabric.naming import counted
from ringmaster.gateways.gateway import Gateway, Say
from ringmaster.gateways.names import Legal
from ringmaster.gateways.packages import PackagesMissing
from ringmaster.gateways.settings import Settings

LEGAL = Legal(
    letters=r"A-Za-z0-9_\-+:\[\]<>;",
    longest=60,
    slash=":",
    suffixes=(":TURN", ":REFUSAL"),
    protocol="EPICS",
)
"""Names of records: docs.epics-controls.org, Application Developer's Guide, Database Definition."""
REAL_TIME = "EPICS_ALLOW_POSIX_THREAD_PRIORITY_SCHEDULING"
"""libCom's variable. Where it may, it gives its threads real-time priority, even before those of our server."""
PACKAGES = ("p4p", "caproto")
INSTALL = "pip install 'ringmaster[epics]', or `make gateways` in a checkout"


def check_packages() -> None:
    """Raises PackagesMissing."""
    missing = [name for name in PACKAGES if find_spec(name) is None]
    if missing:
        raise PackagesMissing(f"the EPICS gateway needs {' and '.join(missing)}: {INSTALL}")


def serve(settings: Settings, workspace: str | None, over: Event, say: Say) -> None:
    """Serves until ``over`` is set.

    Raises PackagesMissing, what ``attach`` raises, ValueError for names that cannot be, OSError for ports.
    """
    check_packages()
    os.environ.setdefault(REAL_TIME, "NO")
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))  # a file for each client
    from ringmaster.gateways.ca import ChannelAccess
    from ringmaster.gateways.pva import PvAccess

    with ExitStack() as stack:
        gateway = stack.enter_context(closing(Gateway(settings, workspace, LEGAL, say)))
        pva = stack.enter_context(closing(PvAccess(gateway, say)))
        ca = stack.enter_context(closing(ChannelAccess(gateway)))
        rights = f"{counted(len(settings.puts), 'rule')} for puts" if settings.puts else "read-only"
        say(
            f"{len(gateway.points)} PVs of {gateway.workspace.name}, {rights}; "
            f"PV Access on port {pva.port}, Channel Access on port {ca.port}"
        )
        gateway.run(over)
