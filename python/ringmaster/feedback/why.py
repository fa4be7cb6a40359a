# SPDX-License-Identifier: Apache-2.0
"""Why is it off? The answer in sentences: what it does, what is missing, who is to blame, and what to do."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ringmaster.errors import WorkspaceError
from ringmaster.fabric.layout import ApplicationState
from ringmaster.fabric.simulated_time import stands_still
from ringmaster.feedback.loop import Feedback
from ringmaster.feedback.names import (
    ACTUATOR_FAULTS,
    ADVICE,
    MISSING,
    ROW_FAULTS,
    ActuatorFault,
    EnableCondition,
    Loop,
    RowFault,
    State,
    bit_names,
    bits,
)

MOST_NAMED = 12
"""Names that are listed of one kind; of more there are too many to read."""
ABOUT_ROWS = EnableCondition.FEW_BPMS | EnableCondition.LATE | EnableCondition.NO_BEAM
"""Causes whose number is a row's."""
ABOUT_ACTUATORS = EnableCondition.SATURATION | EnableCondition.FEW_ACTUATORS


@dataclass
class Answer:
    """Sentences in the order in which a person wants them."""

    state: str
    """The state's name in small letters; "unknown" where it cannot be asked."""
    sentences: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    """Names of enable conditions that are missing now."""
    cause: list[str] = field(default_factory=list)
    """Of those that were missing when it left ON by itself."""
    out: dict[str, list[str]] = field(default_factory=dict)
    """Rows and actuators that are out, with why."""
    advice: list[str] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """For scripts."""
        return dict(vars(self))


def explain(feedback: Feedback) -> Answer:
    """Of an application that is there."""
    state = feedback.state
    answer = Answer(state.name.lower())
    enable_conditions = EnableCondition(int(feedback.number("enable_conditions")))
    cause = EnableCondition(int(feedback.number("cause")))
    answer.missing = bit_names(EnableCondition, enable_conditions)
    answer.cause = bit_names(EnableCondition, cause)
    _grant(feedback, answer)
    _state(feedback, state, enable_conditions, answer)
    _time(feedback, answer)
    _withdrawn(feedback, answer)
    _cause(feedback, state, cause, answer)
    _missing(state, enable_conditions, answer)
    _out(feedback, answer)
    _advice(state, enable_conditions | (cause if state == State.FAULT else EnableCondition(0)), answer)
    return answer


def unknown(name: str, error: WorkspaceError) -> Answer:
    """Where neither server nor application can be asked: then nothing is known, least of all that it is off."""
    return Answer("unknown", [f"It is not known whether {name} is on: {error}"])


def _grant(feedback: Feedback, answer: Answer) -> None:
    """What the server's guard thinks of it."""
    if feedback.name not in feedback.ws.grants:
        return
    grant = feedback.ws.grants[feedback.name].read()
    name = feedback.name
    if grant.state == ApplicationState.RUNNING:
        return
    if grant.state == ApplicationState.JOINED:
        answer.sentences.append(
            "It has not made a step yet, so all that it says is as it was at first: no BPM has sent, or no chain of "
            "supplies answers."
        )
        answer.advice.append("`ringmaster top` shows which instruments send, and which chains answer.")
        return
    reason = {
        ApplicationState.DEAD: f"its process ({grant.pid}) has ended",
        ApplicationState.STALLED: "it has sent no good row for longer than its watchdog allows"
        if _has_stepped(feedback)
        else "it has never stepped: its inputs do not come, no chain answers, or its first step hangs",
    }.get(grant.state, f"it is {grant.state.name.lower()}")
    answer.sentences.append(f"The server sends none of its setpoints: {reason}.")
    if grant.offence is not None:
        whom = grant.offence.supply or "the whole row"
        answer.sentences.append(
            f"The newest thing that the guard refused was {grant.offence.refusal.name.lower().replace('_', ' ')} of "
            f"{whom}: {grant.offence.value:g}, where the limit is {grant.offence.limit:g}."
        )
    answer.advice.append(f"`ringmaster get grant/{name}` has all that the guard knows of it.")


def _has_stepped(feedback: Feedback) -> bool:
    name = f"application/{feedback.name}"
    return name not in feedback.ws.counter_blocks or feedback.ws.counter_blocks[name]["steps"] > 0


def _state(feedback: Feedback, state: State, enable_conditions: EnableCondition, answer: Answer) -> None:
    wanted = int(feedback.number("loop"))
    shadow = feedback.number("shadow") == 1
    words = {
        State.OFF: "Off. Inputs were missing just now." if enable_conditions == EnableCondition.LATE else "Off.",
        State.READY: "Off. All enable conditions are there.",
        State.ON: "On." + (" In shadow mode: everything is computed, nothing is sent." if shadow else ""),
        State.HOLD: "HOLD: it is wanted on, and keeps all outputs as they were."
        if wanted == Loop.ON
        else "HOLD (requested): all outputs are as they were.",
        State.FAULT: "FAULT: it has left the state ON by itself, and stays off until a person has looked.",
    }
    answer.sentences.append(words[state])
    gain = feedback.number("gain")
    if state == State.ON and gain == 0:
        answer.sentences.append("Its gain is 0, so it corrects nothing.")
        answer.advice.append("`ringmaster feedback set gain 1` is full gain.")


def _time(feedback: Feedback, answer: Answer) -> None:
    """A loop in simulated time steps when the virtual ring sends, and says nothing new when that has ended."""
    if stands_still(feedback.ws):
        answer.sentences.append("But simulated time stands still: the virtual ring sends no turns, so nothing is done.")
        answer.advice.append("`ringmaster virtual CONFIG OVERLAY` starts the virtual ring again.")


def _withdrawn(feedback: Feedback, answer: Answer) -> None:
    if not feedback.withdrawn:
        return
    answer.sentences.append(
        f"It is off because {feedback.withdrawn}: the permission to act does not outlive that. Settings have stayed."
    )
    answer.advice.append("Look at orbit and setpoints first; `ringmaster feedback on` gives the permission again.")


def _cause(feedback: Feedback, state: State, cause: EnableCondition, answer: Answer) -> None:
    if not cause:
        return
    reasons = "; ".join(MISSING[bit] for bit in bits(EnableCondition, cause) if isinstance(bit, EnableCondition))
    turn = feedback.number("cause_turn")
    when = f" at turn {turn:.0f}{_ago(feedback, turn)}" if np.isfinite(turn) and turn > 0 else ""
    whom = _culprit(feedback, cause)
    verb = "It left the state ON" if state != State.ON else "It is back; the last time that it left ON by itself was"
    comma = "," if state != State.ON or when else ""
    answer.sentences.append(f"{verb}{when}{comma} because {reasons}{whom}.")


def _ago(feedback: Feedback, turn: float) -> str:
    """How long that is ago, where there is a turn clock to ask."""
    heads = [feedback.ws.streams[name].head for name in feedback.ws.streams if name.startswith(f"{feedback.name}/")]
    rate = _turn_rate(feedback)
    newest = max((head for head in heads if head is not None), default=None)
    if newest is None or rate is None or newest < turn:
        return ""
    return f", {(newest - turn) / rate:.3g} s ago"


def _turn_rate(feedback: Feedback) -> float | None:
    name = "server/turn_rate_hz"
    return feedback.ws.parameters[name].number if name in feedback.ws.parameters else None


def _culprit(feedback: Feedback, cause: EnableCondition) -> str:
    number = feedback.number("cause_number")
    if not np.isfinite(number) or number < 0:
        return ""
    names = feedback.actuators if cause & ABOUT_ACTUATORS else feedback.rows if cause & ABOUT_ROWS else ()
    return f"; it was {names[int(number)]}" if int(number) < len(names) else ""


def _missing(state: State, enable_conditions: EnableCondition, answer: Answer) -> None:
    listed = [MISSING[bit] for bit in bits(EnableCondition, enable_conditions)]
    if state == State.OFF and enable_conditions == EnableCondition.LATE:
        return  # said already
    if listed:
        begin = "Missing now" if state != State.ON else "It is on, although this is missing"
        answer.sentences.append(f"{begin}: {'; '.join(listed)}.")
    elif state in (State.HOLD, State.FAULT):
        answer.sentences.append("Nothing is missing now.")


def _out(feedback: Feedback, answer: Answer) -> None:
    kinds: tuple[tuple[str, str, Any, Any, tuple[str, ...]], ...] = (
        ("BPM readings", "bpm_state", RowFault, ROW_FAULTS, feedback.rows),
        ("Actuators", "actuator_state", ActuatorFault, ACTUATOR_FAULTS, feedback.actuators),
    )
    for what, reading, kind, words, names in kinds:
        states = feedback.array(reading).astype(int) if f"{feedback.name}/{reading}" in feedback.ws.parameters else ()
        for bit in kind:
            chosen = np.flatnonzero(np.asarray(states, int) & int(bit))
            if bit == RowFault.MISSING:  # of those that are out for a reason that is no news
                chosen = np.flatnonzero(np.asarray(states, int) == int(bit))
            if not len(chosen):
                continue
            who = [names[i] for i in chosen]
            answer.out[f"{reading}: {str(bit.name).lower()}"] = who
            shown = together(who, names)
            more = f" and {len(shown) - MOST_NAMED} more" if len(shown) > MOST_NAMED else ""
            listed = f"all {len(who)}" if len(who) == len(names) > 1 else ", ".join(shown[:MOST_NAMED]) + more
            verb = words[bit] if len(shown) == 1 else _plural(words[bit])
            answer.sentences.append(f"{what}: {listed} {_with_verb(verb, len(shown))}.")


def together(who: Sequence[str], names: Sequence[str]) -> list[str]:
    """Where all readings of an instrument are among them, the instrument stands for them."""
    of: dict[str, int] = {}
    for name in names:
        of[name.rpartition("/")[0]] = of.get(name.rpartition("/")[0], 0) + 1
    mine: dict[str, list[str]] = {}
    for name in who:
        mine.setdefault(name.rpartition("/")[0], []).append(name)
    is_row = all("/" in name and name.rpartition("/")[2][:1] in "xy" for name in names)
    shown: list[str] = []
    for instrument, its in mine.items():
        shown += [instrument] if is_row and len(its) == of[instrument] > 1 else its
    return shown


def _with_verb(words: str, count: int) -> str:
    """What is no sentence yet becomes one."""
    return ("is " if count == 1 else "are ") + words if words.startswith(("masked", "tripped")) else words


def _plural(words: str) -> str:
    for one, many in (("sends", "send"), ("says itself", "say themselves"), ("it is", "they are"), ("says", "say")):
        words = words.replace(one, many)
    return (
        words.replace("was missing", "were missing")
        .replace("was substituted", "were substituted")
        .replace("its chain does", "their chains do")
        .replace("stands", "stand")
    )


def _advice(state: State, enable_conditions: EnableCondition, answer: Answer) -> None:
    answer.advice += [ADVICE[bit] for bit in bits(EnableCondition, enable_conditions)]
    if state == State.READY and not answer.advice:
        answer.advice.append("`ringmaster feedback on` switches it on.")
    if state == State.FAULT and not enable_conditions:
        answer.advice.append("`ringmaster feedback reset`, then it goes on by itself.")
    if state == State.HOLD and not enable_conditions:
        answer.advice.append("`ringmaster feedback on` lets it go on.")
