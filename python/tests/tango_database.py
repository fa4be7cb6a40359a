# SPDX-License-Identifier: Apache-2.0
"""A TANGO database of the test's own: Debian's DataBaseds on its MariaDB, both unpacked into .venv/tango."""

import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from gateway_clients import TIMEOUT_S, free_ports, wait_for

UNPACKED = Path(__file__).parents[2] / ".venv/tango"
LIBRARIES = UNPACKED / "usr/lib/x86_64-linux-gnu"
DATABASE = "usr/lib/tango/DataBaseds"
SYSTEM_TABLES = "usr/share/mysql/mysql_system_tables.sql"
TANGO_TABLES = "usr/share/tango-db/create_db_tables.sql"
PROCEDURES = "usr/share/tango-db/stored_proc.sql"
ENTRIES = "usr/share/dbconfig-common/data/tango-db/install/mysql"
"""It begins with `source` of the two files before."""


def found(path: str) -> Path:
    """A file of the packages: unpacked, or of a host that has them installed."""
    here = UNPACKED / path
    return here if here.exists() else Path("/") / path


def skip_without_database() -> None:
    """Where the packages are not to be had."""
    if not found(DATABASE).exists() or not found("usr/sbin/mariadbd").exists():
        pytest.skip("NO TANGO DATABASE HERE: Debian's tango-db and mariadb-server-core could not be had (`make test`)")


class TangoDatabase:
    """Both servers, and what they keep in a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._socket = folder / "mariadb.sock"
        self._programs: list[subprocess.Popen[bytes]] = []
        (self.port,) = free_ports(1)
        (folder / "data").mkdir()
        self._mariadbd("--bootstrap", statements=_statements())
        self.start()

    @property
    def host(self) -> str:
        """As TANGO_HOST has it."""
        return f"127.0.0.1:{self.port}"

    def _mariadbd(self, *more: str, statements: str | None = None) -> None:
        messages = found("usr/share/mysql")
        command = [
            str(found("usr/sbin/mariadbd")),
            *("--no-defaults", "--skip-grant-tables", f"--datadir={self._folder / 'data'}"),
            *(f"--lc-messages-dir={messages}", f"--character-sets-dir={messages / 'charsets'}"),
            *("--innodb-log-file-size=8M", "--innodb-buffer-pool-size=16M"),
            f"--pid-file={self._folder / 'mariadb.pid'}",
            *(["--user=root"] if os.geteuid() == 0 else []),
            *more,
        ]
        if statements is None:
            self._start(command, {})
            return
        given, here = statements.encode(), _environment({})
        done = subprocess.run(command, input=given, capture_output=True, check=False, timeout=TIMEOUT_S, env=here)
        assert done.returncode == 0, done.stderr.decode(errors="replace")

    def _start(self, command: list[str], variables: dict[str, str]) -> None:
        with (self._folder / "log").open("ab") as log:
            program = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=_environment(variables)
            )
        self._programs.append(program)

    def start(self) -> None:
        """Begins, or begins again."""
        self._mariadbd("--skip-networking", f"--socket={self._socket}")
        wait_for(self._accepts, self._log)
        # MariaDB's library reads the socket's name from MYSQL_UNIX_PORT; without grants any password will do.
        user = {"MYSQL_USER": "root", "MYSQL_PASSWORD": "none", "MYSQL_HOST": "localhost"}
        command = [str(found(DATABASE)), "2", "-ORBendPoint", f"giop:tcp:127.0.0.1:{self.port}"]
        self._start(command, user | {"MYSQL_UNIX_PORT": str(self._socket), "TANGO_HOST": self.host})
        wait_for(self._answers, self._log)

    def _accepts(self) -> bool:
        with suppress(OSError), socket.socket(socket.AF_UNIX) as probe:
            probe.connect(str(self._socket))
            return True
        return self._ended()

    def _answers(self) -> bool:
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            return True
        return self._ended()

    def _ended(self) -> bool:
        assert all(program.poll() is None for program in self._programs), self._log()
        return False

    def _log(self) -> str:
        return f"the TANGO database:\n{(self._folder / 'log').read_text(errors='replace')}"

    def end(self) -> None:
        """It goes away, as by a fault of its host; what it keeps stays."""
        for program in reversed(self._programs):
            program.send_signal(signal.SIGKILL)
            program.wait(TIMEOUT_S)
        self._programs.clear()


def _statements() -> str:
    """All that makes an empty MariaDB a TANGO database."""
    lines = found(ENTRIES).read_text().splitlines()
    entries = [line for line in lines if not line.lower().startswith(("source", "use"))]
    parts = [
        *("create database mysql;", "use mysql;", found(SYSTEM_TABLES).read_text()),
        *("create database tango;", "use tango;", found(TANGO_TABLES).read_text(), found(PROCEDURES).read_text()),
        *entries,
    ]
    return "\n".join(parts) + "\n"


def _environment(variables: dict[str, str]) -> dict[str, str]:
    return os.environ | {"LD_LIBRARY_PATH": str(LIBRARIES)} | variables


@contextmanager
def tango_database(folder: Path) -> Iterator[TangoDatabase]:
    """Runs one meanwhile; skips where there is none to be had."""
    skip_without_database()
    made = TangoDatabase(folder)
    try:
        yield made
    finally:
        made.end()
