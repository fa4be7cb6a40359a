# SPDX-License-Identifier: Apache-2.0
"""Plans and what became of them, for people."""

from collections.abc import Sequence

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ringmaster.doctor import cpu_list
from ringmaster.doctor.show import console
from ringmaster.setup.changes import Change, Put, Set
from ringmaster.setup.journal import Journal
from ringmaster.setup.plan import Plan
from ringmaster.setup.run import End, Outcome
from ringmaster.setup.step import State, Step

MARKS = {
    State.REFUSED: "✗",
    State.TODO: "→",
    State.BOOT: "↻",
    State.HAND: "!",
    State.UNKNOWN: "?",
    State.DONE: "✓",
}
STYLES = {
    State.REFUSED: "bold red",
    State.TODO: "bold",
    State.BOOT: "cyan",
    State.HAND: "yellow",
    State.UNKNOWN: "magenta",
    State.DONE: "green",
}
ENDS = {End.DONE: ("✓", "green"), End.LATER: ("↻", "cyan"), End.LEFT: ("!", "yellow"), End.FAILED: ("✗", "bold red")}


def print_plan(plan: Plan, journal: Journal | None, verbose: bool) -> None:
    """The whole, the steps that are done on a line."""
    out = console()
    setting = plan.setting
    out.print(Text(f"{plan.config}, for {setting.use}"), soft_wrap=True)
    cards = f"; cards {', '.join(setting.cards)}" if setting.cards else "; no cards"
    out.print(Text(f"the server's: {cpu_list.words(setting.cores)}; Linux's: {cpu_list.words(plan.linux)}{cards}\n"))
    table = Table(box=None, padding=(0, 1, 0, 0), expand=True, header_style="dim", show_edge=False)
    for name, ratio in (("", 0), ("step", 0), ("now", 4), ("expected", 5), ("how", 4)):
        table.add_column(name, ratio=ratio or None, overflow="fold")
    for step in sorted(plan.steps, key=lambda step: list(State).index(step.state)):
        if step.state is not State.DONE:
            style = STYLES[step.state]
            table.add_row(
                Text(MARKS[step.state], style), Text(step.name, style), step.is_now, step.should_be, Text(_how(step))
            )
    out.print(table)
    if done := [step.name for step in plan.steps if step.state is State.DONE]:
        out.print(Text.assemble(("✓ ", "green"), "as expected: ", ", ".join(done)))
    if verbose:
        _print_reasons(plan.steps)
    out.print()
    _print_next(plan, journal)


def _how(step: Step) -> str:
    if step.state is State.HAND:
        return step.by_hand or "by hand"
    if step.state is State.BOOT:
        return "done; true after a reboot"
    made = [change for change in step.changes if change.after]
    files = [change for change in made if isinstance(change, Put)]
    parts = [_short(change) for change in (files or made)[:1]]
    if len(made) > 1 and not files:
        parts[0] += f" and {len(made) - 1} more"
    if step.boot and not step.changes:
        parts.append("by the kernel's command line")
    if step.boot:
        parts.append("then a reboot")
    return ", ".join(parts)


def _short(change: Change) -> str:
    if isinstance(change, Put):
        return "write the file"
    if isinstance(change, Set):
        return f"{change.after} > {change.path.rpartition('/')[2]}"
    return str(change)


def _print_reasons(steps: Sequence[Step]) -> None:
    out = console()
    for step in steps:
        if step.state is not State.DONE:
            out.print(Text(f"\n{step.name}: {step.state}", STYLES[step.state]))
            for line in (step.why, *map(str, step.changes)):
                out.print(Padding(Text(line), (0, 0, 0, 2)))


def _print_next(plan: Plan, journal: Journal | None) -> None:
    out = console()
    counts = {state: sum(step.state is state for step in plan.steps) for state in State}
    words = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    out.print(Text(words, "bold"))
    if journal is not None and journal.config != plan.config:
        out.print(Text(f"this host is set up for {journal.config}: ringmaster setup --undo first", "yellow"))
    elif journal is not None and not journal.complete:
        made = len(journal.entries)
        text = f"half applied: it ended after {made} changes. --apply goes on, ringmaster setup --undo puts all back"
        out.print(Text(text, "yellow"))
    if plan.refused:
        out.print(Text("nothing can be applied while a step is refused", "bold red"))
    elif plan.todo:
        boot = "; some of it needs a reboot" if plan.reboots else ""
        out.print(f"apply it: sudo ringmaster setup {plan.config} --apply{boot}", style="dim", soft_wrap=True)
    elif plan.reboots:
        out.print("reboot, then look again", style="dim")
    else:
        print_start(plan)
    out.print("what else could be better: ringmaster doctor --config " + plan.config, style="dim", soft_wrap=True)


def print_start(plan: Plan) -> None:
    """How the server is started now."""
    out = console()
    place = f"/etc/ringmaster/{plan.name}.yaml"
    copy = "" if plan.config == place else f"sudo cp {plan.config} {place}; "
    out.print(f"start it: {copy}sudo systemctl enable --now ringmaster@{plan.name}", style="dim", soft_wrap=True)


def print_outcome(outcome: Outcome) -> None:
    """One line, as soon as it is known."""
    mark, style = ENDS[outcome.end]
    words = f": {outcome.words}" if outcome.words else ""
    text = Text.assemble((f"{mark} {outcome.step}", style), f" {outcome.change}{words}")
    console().print(text, soft_wrap=True)
