# SPDX-License-Identifier: Apache-2.0
"""`ringmaster gateway epics`: parameters and streams as PVs."""

from pathlib import Path

import click

from ringmaster.cli.options import examples, workspace_option
from ringmaster.cli.signals import end_asked


@click.command(
    epilog=examples(
        "ringmaster gateway epics",
        "ringmaster gateway epics configs/gateways/epics.yaml",
        "EPICS_PVAS_INTF_ADDR_LIST=127.0.0.1 EPICS_CAS_INTF_ADDR_LIST=127.0.0.1 ringmaster gateway epics",
    )
)
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path), required=False)
@workspace_option
def epics(file: Path | None, workspace: str | None) -> None:
    """Serve every parameter as a PV, over PV Access and Channel Access, until it is ended.

    FILE says under which names, and who may put what; without it names are WORKSPACE:NAME with colons for slashes, and
    nothing may be put. Ports and interfaces are those of the EPICS_PVAS_… and EPICS_CAS_… variables, as for any IOC.
    docs/epics.md has all of it.
    """
    from ringmaster.gateways.epics import serve
    from ringmaster.gateways.gateway import say
    from ringmaster.gateways.settings import Settings, read_settings

    with end_asked() as over:
        serve(Settings() if file is None else read_settings(file), workspace, over, say)
