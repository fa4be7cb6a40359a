# SPDX-License-Identifier: Apache-2.0
"""`ringmaster gateway metrics`: what the server counts, for Prometheus."""

import click

from ringmaster.cli.options import examples, workspace_option
from ringmaster.cli.signals import end_asked


@click.command(
    epilog=examples(
        "ringmaster gateway metrics",
        "ringmaster gateway metrics --address 0.0.0.0 --port 9464",
        "ringmaster gateway metrics --once | promtool check metrics",
    )
)
@click.option("--address", default="127.0.0.1", show_default=True, help="Where Prometheus finds it.")
@click.option("--port", type=click.IntRange(1, 65535), default=9464, show_default=True, help="Its TCP port.")
@click.option("--once", is_flag=True, help="Print what a scrape would get, and end.")
@workspace_option
def metrics(address: str, port: int, once: bool, workspace: str | None) -> None:
    """Serve every counter, histogram and busy share of a server to Prometheus, until it is ended.

    docs/metrics.md says what they are called. configs/grafana-dashboard.json is a dashboard of them.
    """
    from importlib.util import find_spec

    from ringmaster.metrics.serve import serve, text_of

    if find_spec("prometheus_client") is None:
        raise click.ClickException("prometheus_client is not installed; `make gateways` installs it")
    if once:
        click.echo(text_of(workspace), nl=False)
        return
    with end_asked() as over:
        click.echo(f"serving metrics on http://{address}:{port}/metrics", err=True)
        serve(workspace, address, port, over)
