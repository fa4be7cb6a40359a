# SPDX-License-Identifier: Apache-2.0
"""A section as plain data for JSON, and back from it."""

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from ringmaster.report.conditions import StallFloor
from ringmaster.report.headlines import Figure, figure_of
from ringmaster.report.section import Bars, Chart, Lines, Quantiles, Section, Table
from ringmaster.report.verdicts import Conditions, Headline
from ringmaster.report.verdicts import as_json as headlines_as_json

KINDS: dict[str, type[Chart]] = {"quantiles": Quantiles, "lines": Lines, "bars": Bars}
"""Of charts, as JSON calls them."""


class NotASection(ValueError):
    """What was read is not what as_json() made."""


def finite(value: object) -> Any:
    """The same with None for what is not a number, which JSON does not have; and texts for what it does not know."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set):
        return [finite(item) for item in value]
    return finite(value.item()) if hasattr(value, "item") else str(value)


def as_json(section: Section) -> dict[str, Any]:
    """All of it. `spreads` is what `ringmaster bench compare` reads; each headline's median stands under its name."""
    kinds = {made: kind for kind, made in KINDS.items()}
    return finite(  # type: ignore[no-any-return]
        {
            **headlines_as_json(section.headlines),
            **{name: getattr(section, name) for name in ("name", "title", "about", "command", "interrupted", "notes")},
            "headlines": [asdict(row) | {"verdict": row.verdict} for row in section.headlines],
            "conditions": asdict(section.conditions) if section.conditions else None,
            "tables": [asdict(table) for table in section.tables],
            "charts": [{"kind": kinds[type(chart)], **asdict(chart)} for chart in section.charts],
            "data": section.data,
        }
    )


def of_json(said: Mapping[str, Any]) -> Section:
    """The section again. Raises NotASection with what was missing."""
    try:
        return Section(
            **{name: said[name] for name in ("name", "title", "about", "command", "notes", "interrupted", "data")},
            headlines=[_headline(row) for row in said["headlines"]],
            tables=[Table(**table) for table in said["tables"]],
            charts=[_chart(chart) for chart in said["charts"]],
            conditions=_conditions(said["conditions"]),
        )
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise NotASection(f"found no section of a report ({error!r})") from error


def _headline(said: Mapping[str, Any]) -> Headline:
    values = {name: value for name, value in said.items() if name not in ("verdict", "figure")}
    return Headline(figure=_figure(said["figure"]), **values)


def _figure(said: Mapping[str, Any] | None) -> Figure | None:
    return figure_of(said) if said else None


def _conditions(said: Mapping[str, Any] | None) -> Conditions | None:
    if said is None:
        return None
    floors = tuple(StallFloor(**floor) for floor in said["stall_floors"])
    return Conditions(_figure(said["core_to_core_ns"]), floors, _figure(said.get("core_share")))


def _number(value: float | None) -> float:
    return math.nan if value is None else value


def _chart(said: Mapping[str, Any]) -> Chart:
    values = {name: value for name, value in said.items() if name != "kind"}
    kind = KINDS[said["kind"]]
    series = values.pop("series")
    if kind is Bars:
        return Bars(series={name: [_number(y) for y in row] for name, row in series.items()}, **values)
    points = {name: [(_number(x), _number(y)) for x, y in row] for name, row in series.items()}
    return kind(series=points, **values)  # type: ignore[arg-type]
