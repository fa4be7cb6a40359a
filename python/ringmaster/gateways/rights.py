# SPDX-License-Identifier: Apache-2.0
"""Who may put what through a gateway. Users and hosts are what clients claim: this keeps order, and no enemies out."""

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Client:
    """Who puts, as it claims to be."""

    user: str
    host: str
    """As it calls itself; its address where the protocol has no such word."""
    address: str
    """Where its connection comes from, without the port."""
    protocol: str

    def __str__(self) -> str:
        here = self.host if self.host == self.address else f"{self.host} ({self.address})"
        return f"{self.user or 'nobody'}@{here} by {self.protocol}"


@dataclass(frozen=True)
class PutRule:
    """Clients that may put, and what. All are shell patterns."""

    to: tuple[str, ...]
    """Names as clients call them."""
    users: tuple[str, ...] = ("*",)
    hosts: tuple[str, ...] = ("*",)
    """Names or addresses."""

    def allows(self, client: Client, name: str) -> bool:
        """Whether this rule lets it."""
        here = _fits(self.hosts, client.host) or _fits(self.hosts, client.address)
        return here and self.allows_user(client.user, name)

    def allows_user(self, user: str, name: str) -> bool:
        """The same from whatever host."""
        return _fits(self.to, name) and _fits(self.users, user)


def _fits(patterns: Sequence[str], word: str) -> bool:
    return any(fnmatchcase(word, pattern) for pattern in patterns)


def forbidden(rules: Sequence[PutRule], client: Client, name: str) -> str:
    """Why a client may not put; empty where it may."""
    if any(rule.allows(client, name) for rule in rules):
        return ""
    if not rules:
        return f"{name}: this gateway is read-only: its file has no `puts`"
    return f"{name}: no rule of the gateway's `puts` lets {client} put it"
