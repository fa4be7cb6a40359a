// SPDX-License-Identifier: Apache-2.0
#include "run.h"

#include <string.h>

#include "enter.h"
#include "watch.h"

void sequence_see_frame(struct sequence_run *run, struct sequence_step const *step,
                        struct sequence_frame const *frame) {
    bool const is_top = frame == &run->frame[run->depth - 1];
    run->cell[SEQUENCE_CELL_TURNS] = (double)frame->state_turns;
    run->cell[SEQUENCE_CELL_SECONDS] = (double)frame->state_turns / step->setup->turn_rate_hz;
    run->cell[SEQUENCE_CELL_DONE] =
        frame->motions == 0 && (double)frame->state_turns >= frame->wait_turns && is_top ? 1.0 : 0.0;
}

/* ── from frame to frame ── */

/** A sequence begins on top of those that run, behind their motions and channels. */
static struct sequence_frame *push_frame(struct sequence_run *run, uint32_t chart) {
    struct sequence_frame *const frame = &run->frame[run->depth];
    *frame = (struct sequence_frame){.chart = chart};
    if (run->depth > 0) {
        frame->motion = frame[-1].motion + frame[-1].motions;
        frame->channel = frame[-1].channel + frame[-1].channels;
    }
    ++run->depth;
    return frame;
}

static void note_cause(struct sequence_run *run, enum sequence_cause cause, uint32_t state, rm_turn turn) {
    if (run->cause != SEQUENCE_CAUSE_NONE)
        return;
    run->cause = cause;
    run->cause_turn = turn;
    run->cause_state = state;
    run->told_of = run->cause_of;
}

static void finish(struct sequence_run *run, enum sequence_result result) {
    run->result = result;
    run->depth = 0;
    run->is_aborting = false;
}

/** Enters a state of the innermost frame, and what it calls. Returns false where one cannot be entered, or ends
 * failed: then the innermost frame is the one that has failed. A frame that ends well is gone. */
static bool go_to(struct sequence_run *run, struct sequence_step *step, uint32_t node) {
    for (;;) {
        struct sequence_frame *const frame = sequence_top(run);
        struct sequence_node const *const entered = &step->program->node[node];
        enum sequence_cause cause = sequence_enter(run, step, frame, node);
        if (cause == SEQUENCE_CAUSE_NONE && entered->end == SEQUENCE_END_FAILED) {
            cause = SEQUENCE_CAUSE_FAILED_STATE;
            frame->is_aborting = true; /* it is at an end already */
        }
        if (cause != SEQUENCE_CAUSE_NONE) {
            note_cause(run, cause, node + 1, step->given->turn);
            return false;
        }
        if (entered->end == SEQUENCE_END_DONE) {
            --run->depth;
            return true;
        }
        if (entered->call == SEQUENCE_NONE)
            return true;
        push_frame(run, entered->call);
        node = step->program->chart[entered->call].begin;
    }
}

/** The innermost frame has failed, or is to be aborted: it goes the way of its abort, if it has one and has not yet; else
 * it is gone, and the next one has failed. A frame that is at the end of its abort's way fails too. */
static void unwind(struct sequence_run *run, struct sequence_step *step) {
    run->is_aborting = true;
    for (uint32_t f = 0; f < run->depth; ++f)
        run->frame[f].motions = 0;
    while (run->depth > 0) {
        struct sequence_frame *const frame = sequence_top(run);
        uint32_t const abort = step->program->chart[frame->chart].abort, depth = run->depth;
        if (!frame->is_aborting && abort != SEQUENCE_NONE) {
            frame->is_aborting = true;
            if (go_to(run, step, abort) && run->depth >= depth)
                return;
        } else {
            --run->depth;
        }
    }
    finish(run, SEQUENCE_FAILED);
}

/** At the end of an abort's way the caller is next. */
static void leave_to(struct sequence_run *run, struct sequence_step *step, uint32_t node) {
    uint32_t const depth = run->depth;
    bool const was_aborting = sequence_top(run)->is_aborting;
    bool const has_entered = go_to(run, step, node);
    if (!has_entered || (was_aborting && run->depth < depth))
        unwind(run, step);
    else if (run->depth == 0)
        finish(run, SEQUENCE_DONE_GOOD);
}

static void abort_run(struct sequence_run *run, struct sequence_step *step, enum sequence_cause cause) {
    note_cause(run, cause, sequence_top(run)->node + 1, step->given->turn);
    unwind(run, step);
}

/* ── a step ── */

/** The innermost state after its timeout. */
static void time_out(struct sequence_run *run, struct sequence_step *step) {
    uint32_t const next = step->program->node[sequence_top(run)->node].on_timeout;
    if (next != SEQUENCE_NONE)
        leave_to(run, step, next);
    else
        abort_run(run, step, SEQUENCE_CAUSE_STATE_TIMEOUT);
}

/** On the way of an abort nothing is watched but the timeouts of states: of a state that calls, what it calls is cut. */
static bool cut_calls(struct sequence_run *run, struct sequence_step *step) {
    for (uint32_t f = 0; f + 1 < run->depth; ++f) {
        double const timeout_s = step->program->node[run->frame[f].node].timeout_s;
        if (!run->frame[f].is_aborting || (double)run->frame[f].state_turns < timeout_s * step->setup->turn_rate_hz)
            continue;
        run->depth = f + 1;
        unwind(run, step);
        return true;
    }
    return false;
}

/** Takes the first way out that is open. */
static void look_for_way(struct sequence_run *run, struct sequence_step *step) {
    struct sequence_frame const *const frame = sequence_top(run);
    struct sequence_node const *const node = &step->program->node[frame->node];
    sequence_see_frame(run, step, frame);
    for (uint32_t a = node->arc; a < node->arc + node->arcs; ++a) {
        struct sequence_arc const *const arc = &step->program->arc[a];
        if (sequence_value_of(run, step->program, arc->when) != 0.0) {
            leave_to(run, step, arc->to);
            return;
        }
    }
    if ((double)frame->state_turns >= node->timeout_s * step->setup->turn_rate_hz)
        time_out(run, step);
}

static void move_supplies(struct sequence_run *run, struct sequence_step *step) {
    for (uint32_t f = 0; f < run->depth; ++f) {
        struct sequence_frame *const frame = &run->frame[f];
        frame->motions = sequence_motions_step(run->motion + frame->motion, frame->motions, &run->channels,
                                               step->program->file->table, frame->state_turns, step->command->setpoint);
    }
}

/** Settings that expressions name. */
static void see_settings(struct sequence_run *run, struct sequence_step const *step) {
    struct sequence_file const *const file = step->program->file;
    double const *const setting = step->given->setting;
    uint32_t const *const at = step->setup->setting_at;
    memcpy(run->cell + SEQUENCE_CELL_VARIABLE, setting + at[SEQUENCE_SET_VARIABLE], file->variables * sizeof *setting);
    memcpy(run->cell + SEQUENCE_CELL_PARAMETER, setting + at[SEQUENCE_SET_PARAMETER],
           file->parameters * sizeof *setting);
}

static void begin_run(struct sequence_run *run, struct sequence_step *step, uint32_t chart) {
    for (uint32_t i = 0; i < step->program->file->counters; ++i)
        run->cell[SEQUENCE_CELL_COUNTER + i] = step->program->file->counter[i].value;
    memcpy(run->cell + SEQUENCE_CELL_NUMBER, step->program->number, step->program->numbers * sizeof run->cell[0]);
    run->transitions = run->marks = 0;
    run->cause = SEQUENCE_CAUSE_NONE;
    run->cause_turn = run->cause_state = 0;
    run->told_of = SEQUENCE_NONE;
    run->result = SEQUENCE_RUNNING;
    run->last = chart + 1;
    run->refused = sequence_setting(step, SEQUENCE_SET_REFUSED);
    ++run->runs;
    see_settings(run, step);
    enum sequence_cause cause = sequence_watch_begin(run, step, chart);
    push_frame(run, chart);
    sequence_watch_inputs(run, step);
    if (cause == SEQUENCE_CAUSE_NONE)
        cause = sequence_watch(run, step);
    if (cause == SEQUENCE_CAUSE_NONE) {
        leave_to(run, step, step->program->chart[chart].begin);
    } else { /* nothing has moved: there is nothing to bring back */
        note_cause(run, cause, 0, step->given->turn);
        finish(run, SEQUENCE_FAILED);
    }
}

static void go_on(struct sequence_run *run, struct sequence_step *step, uint64_t turns) {
    bool const is_paused = !run->is_aborting && sequence_setting(step, SEQUENCE_PAUSE) >= 0.5;
    for (uint32_t f = 0; f < run->depth && !is_paused; ++f) {
        run->frame[f].state_turns += turns;
        run->frame[f].turns += turns;
    }
    see_settings(run, step);
    sequence_watch_inputs(run, step);
    sequence_watch_supplies(run, step);
    move_supplies(run, step);
    if (run->is_aborting) {
        if (cut_calls(run, step))
            return;
    } else {
        enum sequence_cause const cause = sequence_watch(run, step);
        if (cause != SEQUENCE_CAUSE_NONE) {
            abort_run(run, step, cause);
            return;
        }
    }
    if (!is_paused)
        look_for_way(run, step);
}

void sequence_run_step(struct sequence_run *run, struct sequence_step *step) {
    rm_turn const turn = step->given->turn;
    double const wanted = sequence_setting(step, SEQUENCE_RUN);
    uint64_t const turns = run->has_begun && turn > run->turn ? turn - run->turn : 0;
    bool const is_new = wanted != run->run_before;
    run->turn = turn;
    run->has_begun = true;
    run->run_before = wanted;
    if (run->depth > 0 && is_new) {
        run->cause_of = SEQUENCE_NONE;
        note_cause(run, SEQUENCE_CAUSE_STOPPED, sequence_top(run)->node + 1, turn);
        finish(run, SEQUENCE_STOPPED);
    }
    if (run->depth > 0)
        go_on(run, step, turns);
    else if (is_new && wanted >= 1.0 && wanted <= step->program->charts)
        begin_run(run, step, (uint32_t)wanted - 1);
}
