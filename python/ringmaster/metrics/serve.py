# SPDX-License-Identifier: Apache-2.0
"""The endpoint that Prometheus scrapes."""

from threading import Event
from typing import TYPE_CHECKING, cast

from ringmaster.fabric.workspace import directory_of
from ringmaster.metrics.collector import WorkspaceCollector

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.registry import Collector


def registry_of(workspace: str | None) -> "CollectorRegistry":
    """Of one workspace; without a name the only one that there is now."""
    from prometheus_client import CollectorRegistry

    registry = CollectorRegistry(auto_describe=False)
    registry.register(cast("Collector", WorkspaceCollector(workspace or directory_of(None).name)))
    return registry


def text_of(workspace: str | None) -> str:
    """What is told now, as a scrape gets it."""
    from prometheus_client import generate_latest

    return generate_latest(registry_of(workspace)).decode()


def serve(workspace: str | None, address: str, port: int, over: Event) -> None:
    """Answers scrapes until `over` is set."""
    from prometheus_client import start_http_server

    server, thread = start_http_server(port, address, registry_of(workspace))
    try:
        over.wait()
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
