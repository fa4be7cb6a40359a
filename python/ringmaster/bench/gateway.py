# SPDX-License-Identifier: Apache-2.0
"""`ringmaster bench gateway`: what programs that speak other protocols get, and what that costs the server."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from statistics import median
from time import sleep

from ringmaster.bench import gateway_fast_archiver as fast_archiver
from ringmaster.bench.gateway_fast_archiver import Served, Window
from ringmaster.bench.measurement import Measurement
from ringmaster.bench.options import COUNT, Finite, option
from ringmaster.report.headlines import of_values
from ringmaster.report.section import Columns, Table
from ringmaster.report.verdicts import Headline

SETTLES_S = 1.0
ALONE, READ = "no gateway", "fast archiver"


@dataclass(frozen=True)
class Options:
    """How much of it."""

    rounds: int = option(4, "Windows with clients and without, by turns.", COUNT)
    seconds: float = option(3.0, "Of each window.", Finite(0.1))
    clients: int = option(10, "Of the fast archiver at once.", COUNT)


class Gateway(Measurement[Options, Window]):
    """Measure what clients of the gateways get, and what the server's receive core has more to do then.

    Clients of the fast archiver take 168 BPMs at 10 kHz, by TCP on loopback. Ctrl-C prints what was measured so far.
    """

    name, title, options_type, repeated = "gateway", "Gateways", Options, "windows"
    examples = ("", "--json > gateway.json", "--clients 4 --rounds 2")
    two_cores = "one for the ring, and one for the server, the gateway and its clients"
    about = (
        "168 BPMs at 10 kHz from a virtual ring over memif to a server on the other core. In every other window ten "
        "clients take all BPMs from the fast-archiver gateway at once, and look at each frame's counter."
    )

    served: Served

    @classmethod
    def peers(cls, _options: Options) -> Sequence[str]:
        """Without and with."""
        return (ALONE, READ)

    @contextmanager
    def around(self) -> Iterator[None]:
        """With a server of its own."""
        with super().around(), fast_archiver.served() as self.served:
            sleep(SETTLES_S)
            yield

    def take(self, peer: str) -> Window:
        """A window."""
        if peer == ALONE:
            return self.served.without(self.options.seconds)
        return self.served.with_clients(self.options.clients, self.options.seconds)

    def headlines(self) -> list[Headline]:
        """No gap, and the difference of the receive core's busy share."""
        read = [row for row in self.rows if row.clients]
        pairs = fast_archiver.busy_differences(self.rows)
        return [
            Headline(
                "fast_archiver_gaps", of_values((row.gaps for row in read), "windows"), "", 0.0, about="of all clients"
            ),
            Headline(
                "fast_archiver_frames_per_s",
                of_values((row.frames_per_s for row in read), "windows"),
                "1/s",
                about="that the slowest client got",
            ),
            Headline(
                "gateway_cores", of_values((row.gateway_cores for row in read), "windows"), "cores", about="of one core"
            ),
            Headline(
                "receive_busy_difference",
                of_values(pairs, "pairs"),
                "",
                about="of the receive core's time, with clients",
            ),
        ]

    def tables(self) -> list[Table]:
        """All windows."""
        columns: Columns = {
            "clients": lambda row: row.clients,
            "receive core busy %": lambda row: 100 * row.busy_share,
            "frames/s": lambda row: row.frames_per_s,
            "gaps": lambda row: row.gaps,
            "gateway, of a core": lambda row: row.gateway_cores,
        }
        return [Table.of("Windows by turns", self.rows, columns)] if self.rows else []

    def data(self) -> dict[str, object]:
        """Every window, and what they come to."""
        read = [row for row in self.rows if row.clients]
        differences = fast_archiver.busy_differences(self.rows)
        return {
            "fast_archiver": {"clients": self.options.clients, "gaps": sum(row.gaps for row in read)} if read else None,
            "receive_busy_difference": median(differences) if differences else None,
            "windows": [asdict(row) for row in self.rows],
        }
