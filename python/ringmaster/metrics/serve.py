# SPDX-License-Identifier: Apache-2.0
"""The endpoint that Prometheus scrapes."""

from threading import Event, Thread
from typing import TYPE_CHECKING, cast

from ringmaster.fabric.workspace import directory_of
from ringmaster.metrics.collector import WorkspaceCollector

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry
    from prometheus_client.registry import Collector

CLIENT_S = 10.0
"""How long a client may say nothing, or take nothing, before it is closed."""
WAITING = 1024
"""Clients that have come, and wait for a thread."""


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
    from socket import AF_INET, AF_INET6
    from socketserver import ThreadingMixIn
    from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

    from prometheus_client import make_wsgi_app

    class Server(ThreadingMixIn, WSGIServer):
        """A thread for each client."""

        address_family = AF_INET6 if ":" in address else AF_INET
        daemon_threads = True
        request_queue_size = WAITING

    class Handler(WSGIRequestHandler):
        """Of one client."""

        timeout = CLIENT_S

        def log_message(self, *_: object) -> None:
            """Scrapes are not told one by one."""

    with make_server(address, port, make_wsgi_app(registry_of(workspace)), Server, Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            over.wait()
        finally:
            server.shutdown()
            thread.join()
