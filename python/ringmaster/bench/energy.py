# SPDX-License-Identifier: Apache-2.0
"""Energy of the processor packages, as the processor counts it (RAPL: running average power limit).

The kernel shows the counters under /sys/class/powercap: one folder per package, `intel-rapl:0` and so on, also for AMD,
with `name` (package-0), `energy_uj` and `max_energy_range_uj`, where the counter begins again at 0. At 300 W that is
after a quarter of an hour: looks must be closer together than that. Since 2020 only root may read it. Virtual machines
have none as a rule.
"""

from dataclasses import dataclass
from pathlib import Path

from ringmaster.bench.log import NotMeasured

SYS = Path("/sys")
POWERCAP = Path("class/powercap")


@dataclass(frozen=True)
class Counter:
    """Of one package."""

    name: str
    path: Path
    range_uj: int
    """The largest value, after which it begins again."""

    def read_uj(self) -> int:
        """Microjoules since some moment. Raises NotMeasured."""
        return _number(self.path / "energy_uj")


def _number(path: Path) -> int:
    try:
        return int(path.read_text())
    except PermissionError as error:
        raise NotMeasured(f"package energy: {path} may be read by root alone; run this as root") from error
    except (OSError, ValueError) as error:
        raise NotMeasured(f"package energy: {path}: {error}; expected a whole number of microjoules") from error


def counters(sys: Path = SYS) -> list[Counter]:
    """One of each package, also where two drivers show the same one. Raises NotMeasured with the reason."""
    folder = sys / POWERCAP
    found: dict[str, Counter] = {}
    for path in sorted(folder.glob("*-rapl*:*"), key=lambda path: ("mmio" in path.name, path.name)):
        name = (path / "name").read_text().strip() if (path / "name").exists() else ""
        if name.startswith("package-") and name not in found:
            found[name] = Counter(name, path, _number(path / "max_energy_range_uj"))
    if not found:
        raise NotMeasured(
            f"package energy: no RAPL package under {folder}: a virtual machine, or without `modprobe intel_rapl_msr`"
        )
    for counter in found.values():
        counter.read_uj()
    return list(found.values())


def joules(before_uj: int, after_uj: int, range_uj: int) -> float:
    """Between two looks; a counter that fell has begun again once."""
    grown = after_uj - before_uj
    return (grown if grown >= 0 else grown + range_uj) * 1e-6
