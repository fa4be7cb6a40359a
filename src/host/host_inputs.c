// SPDX-License-Identifier: Apache-2.0
#include "host/host_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "base/zeroed.h"

/** Turns further back than that are no jitter of the clock: it was ahead of the machine, and has been set right. An
 * application that waited for the turn after the last step would not step for as long as it was ahead. */
enum { STEPPED_BACK_PERIODS = 4 };

bool rm_host_inputs_allocate(struct rm_host_inputs *inputs, uint32_t count) {
    inputs->count = count;
    inputs->record = rm_zeroed(count, sizeof *inputs->record);
    inputs->missing = calloc(count + 1ul, sizeof *inputs->missing);
    inputs->epoch = calloc(count + 1ul, sizeof *inputs->epoch);
    inputs->pending = calloc(count + 1ul, sizeof *inputs->pending);
    return inputs->record != NULL && inputs->missing != NULL && inputs->epoch != NULL && inputs->pending != NULL;
}

void rm_host_inputs_start(struct rm_host_inputs *inputs, struct rm_stream_view const *view) {
    inputs->seen_count = 0;
    inputs->awaits = false;
    inputs->behind = 0;
    inputs->view = view;
    inputs->begins = true;
    inputs->closing_turns = 0;
    for (uint32_t i = 0; i < inputs->count; ++i) {
        inputs->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
        inputs->missing[i] = true;
        double const closing = ceil(view[i].header->closing_delay_turns);
        if (closing > (double)inputs->closing_turns)
            inputs->closing_turns = (uint64_t)closing;
    }
}

void rm_host_inputs_free(struct rm_host_inputs *inputs) {
    free(inputs->record);
    free(inputs->missing);
    free(inputs->epoch);
    free(inputs->pending);
}

/** Turns that get no step before that of `turn`. */
static uint64_t host_inputs_skipped(struct rm_host_inputs const *inputs, rm_turn turn) {
    return inputs->begins || inputs->next == RM_TURN_NONE ? 0 : (turn - inputs->next) / inputs->period;
}

/** Looks at all inputs: true when all have a head, and then `*least` is the newest turn that all have reached. A
 * restarted count of turns is followed: it would otherwise have to reach the old one first. */
static bool host_inputs_survey(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, rm_turn *least) {
    uint64_t epochs = clock->turn_epoch;
    bool are_whole = inputs->count > 0;
    *least = RM_TURN_NONE;
    for (uint32_t i = 0; i < inputs->count; ++i) {
        inputs->epoch[i] = atomic_load_explicit(&inputs->view[i].header->turn_epoch, memory_order_acquire);
        epochs += inputs->epoch[i];
        rm_turn const head = rm_stream_head(&inputs->view[i]);
        are_whole = are_whole && head != RM_TURN_NONE;
        if (head < *least) {
            *least = head;
            inputs->behind = i;
        }
    }
    inputs->clock_epoch = clock->turn_epoch;
    if (epochs != inputs->turn_epochs)
        inputs->next = RM_TURN_NONE;
    inputs->turn_epochs = epochs;
    if (are_whole) /* a stream with several records in a step may be in the midst of one */
        *least -= *least % inputs->period;
    return are_whole;
}

void rm_host_inputs_go_on(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, rm_turn next) {
    rm_turn least;
    host_inputs_survey(inputs, clock, &least); // so that the epochs are those of now
    inputs->next = next;
    inputs->begins = false;
    inputs->seen_count = 0;
    inputs->awaits = false;
}

/** The newest turn whose deadline has passed; without inputs, the newest that has begun. */
static bool host_inputs_are_overdue(struct rm_host_inputs const *inputs, struct rm_clock_reading const *clock,
                                    uint64_t tsc, rm_turn *turn) {
    if (!clock->anchored)
        return false;
    rm_turn const now = rm_clock_turn(clock, tsc);
    uint64_t const wait = inputs->count > 0 ? inputs->closing_turns + inputs->deadline_turns : 0;
    if (now < wait)
        return false;
    *turn = (now - wait) / inputs->period * inputs->period;
    return true;
}

/** Whether the input that was furthest behind still is, so that no survey of all could find the next turn complete. */
static bool host_inputs_still_wait(struct rm_host_inputs const *inputs, struct rm_clock_reading const *clock,
                                   uint64_t tsc) {
    if (inputs->count == 0 || inputs->next == RM_TURN_NONE || clock->turn_epoch != inputs->clock_epoch)
        return false;
    struct rm_stream_view const *const view = &inputs->view[inputs->behind];
    rm_turn const head = rm_stream_head(view);
    rm_turn passed;
    return head < inputs->next && head + STEPPED_BACK_PERIODS * inputs->period >= inputs->next &&
           atomic_load_explicit(&view->header->turn_epoch, memory_order_relaxed) == inputs->epoch[inputs->behind] &&
           !(host_inputs_are_overdue(inputs, clock, tsc, &passed) && passed >= inputs->next);
}

/** The newest turn that is complete or whose deadline has passed. */
static bool find_newest(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                        rm_turn *newest, bool *late) {
    rm_turn whole = 0, passed = 0;
    bool const are_whole = host_inputs_survey(inputs, clock, &whole);
    bool const have_passed = host_inputs_are_overdue(inputs, clock, tsc, &passed);
    *late = have_passed && inputs->count > 0 && (!are_whole || passed > whole);
    *newest = are_whole && !*late ? whole : passed;
    return are_whole || have_passed;
}

bool rm_host_inputs_due(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                        struct rm_host_due *due) {
    rm_turn newest;
    bool late;
    if (host_inputs_still_wait(inputs, clock, tsc) || !find_newest(inputs, clock, tsc, &newest, &late))
        return false;
    if (inputs->next != RM_TURN_NONE && newest < inputs->next) {
        if (newest + STEPPED_BACK_PERIODS * inputs->period >= inputs->next)
            return false;
        inputs->next = RM_TURN_NONE;
    }
    due->turn = newest;
    due->skipped = host_inputs_skipped(inputs, newest);
    due->late = late;
    inputs->next = newest + inputs->period;
    inputs->begins = false;
    return true;
}

/* ── records as they come ── */

/** All inputs are waited for. */
static void await_all(struct rm_host_inputs *inputs) {
    inputs->pending_count = inputs->count;
    inputs->taken_count = 0;
    for (uint32_t i = 0; i < inputs->count; ++i) {
        inputs->pending[i] = i;
        inputs->missing[i] = true;
    }
}

/** Which turn is waited for, while nothing of it has come: the next, or a later one where that is over already. */
static bool host_inputs_choose(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc) {
    rm_turn newest;
    bool late;
    bool const found = find_newest(inputs, clock, tsc, &newest, &late);
    if (!found && inputs->next == RM_TURN_NONE)
        return false;
    if (found && inputs->next != RM_TURN_NONE && newest + STEPPED_BACK_PERIODS * inputs->period < inputs->next)
        inputs->next = RM_TURN_NONE;
    bool const behind = found && (inputs->next == RM_TURN_NONE || newest > inputs->next);
    inputs->turn = behind ? newest : inputs->next;
    inputs->skipped = host_inputs_skipped(inputs, inputs->turn);
    if (!inputs->awaits)
        await_all(inputs);
    inputs->awaits = true;
    return true;
}

/** Reads a record that its stream has, or has skipped, and hands it on. */
static void host_inputs_take_record(struct rm_host_inputs *inputs, uint32_t i) {
    ++inputs->seen_count;
    if (rm_stream_read(&inputs->view[i], inputs->turn, &inputs->record[i]) != RM_READ_OK)
        return;
    inputs->missing[i] = false;
    ++inputs->taken_count;
    inputs->arrive(inputs->context, i, &inputs->record[i]);
}

/** One look at all that are waited for. False when one of them counts turns anew: this turn comes to an end then. */
static bool host_inputs_look(struct rm_host_inputs *inputs, struct rm_host_due *due) {
    bool good = true;
    uint32_t left = 0;
    uint32_t const count = inputs->pending_count;
    for (uint32_t k = 0; k < count; ++k) {
        uint32_t const i = inputs->pending[k];
        struct rm_stream const *header = inputs->view[i].header;
        rm_turn const head = rm_stream_head(&inputs->view[i]);
        if (atomic_load_explicit(&header->turn_epoch, memory_order_relaxed) != inputs->epoch[i])
            good = false;
        if (head == RM_TURN_NONE || head < inputs->turn) {
            inputs->pending[left++] = i;
            continue;
        }
        if (left == 0 && k + 1 == count)
            due->seen_tsc = rm_tsc();
        host_inputs_take_record(inputs, i);
    }
    inputs->pending_count = left;
    return good;
}

bool rm_host_inputs_collect(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                            struct rm_host_due *due) {
    if (inputs->seen_count == 0 && !host_inputs_choose(inputs, clock, tsc))
        return false;
    bool const good = host_inputs_look(inputs, due) && clock->turn_epoch == inputs->clock_epoch;
    due->late = inputs->pending_count > 0;
    if (due->late) {
        rm_turn passed;
        bool const is_over = host_inputs_are_overdue(inputs, clock, tsc, &passed) && passed >= inputs->turn;
        bool const restarts = !good && inputs->seen_count > 0;
        if (!is_over && !restarts)
            return false;
        due->seen_tsc = rm_tsc();
    }
    due->turn = inputs->turn;
    due->skipped = inputs->skipped;
    due->missing = inputs->count - inputs->taken_count;
    inputs->next = inputs->turn + inputs->period;
    inputs->begins = false;
    inputs->seen_count = 0;
    inputs->awaits = false;
    return true;
}

uint32_t rm_host_inputs_read(struct rm_host_inputs *inputs, rm_turn turn) {
    uint32_t missing = 0;
    for (uint32_t i = 0; i < inputs->count; ++i) {
        struct rm_record record;
        inputs->missing[i] = rm_stream_read(&inputs->view[i], turn, &record) != RM_READ_OK;
        if (inputs->missing[i])
            ++missing;
        else
            inputs->record[i] = record;
    }
    return missing;
}

void rm_host_inputs_read_runs(struct rm_host_inputs *inputs, struct rm_host_runs *runs, struct rm_host_due *due) {
    due->missing = 0;
    due->lost = rm_host_runs_read(runs, inputs->view, due->turn, due->skipped);
    for (uint32_t i = 0; i < inputs->count; ++i) {
        struct rm_record const *const last = &runs->record[i][runs->run[i].count - 1];
        inputs->missing[i] = last->turn == RM_TURN_NONE;
        if (inputs->missing[i])
            ++due->missing;
        else
            inputs->record[i] = *last;
    }
}
