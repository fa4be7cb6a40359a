// SPDX-License-Identifier: Apache-2.0
#include "host/host_inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/** Turns further back than that are no jitter of the clock: it was ahead of the machine, and has been set right. Who
 * waited for the turn after the last step would not step for as long as it was ahead. */
enum { STEPPED_BACK_PERIODS = 4 };

bool rm_host_inputs_start(struct rm_host_inputs *inputs, struct rm_stream_view const *view, uint32_t count) {
    if (inputs->record == NULL) {
        inputs->record = aligned_alloc(RM_CACHE_LINE, (count + 1ul) * sizeof *inputs->record);
        inputs->missing = calloc(count + 1ul, sizeof *inputs->missing);
    }
    if (inputs->record == NULL || inputs->missing == NULL)
        return false;
    inputs->view = view;
    inputs->count = count;
    inputs->next = RM_TURN_NONE;
    inputs->closing_turns = 0;
    for (uint32_t i = 0; i < count; ++i) {
        inputs->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
        inputs->missing[i] = true;
        double const closing = ceil(view[i].header->closing_delay_turns);
        if (closing > (double)inputs->closing_turns)
            inputs->closing_turns = (uint64_t)closing;
    }
    return true;
}

void rm_host_inputs_free(struct rm_host_inputs *inputs) {
    free(inputs->record);
    free(inputs->missing);
}

/** A restarted count of turns would otherwise have to reach the old one first. */
static void follow_epoch(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock) {
    uint64_t epochs = clock->machine_epoch;
    for (uint32_t i = 0; i < inputs->count; ++i)
        epochs += atomic_load_explicit(&inputs->view[i].header->machine_epoch, memory_order_acquire);
    if (epochs == inputs->machine_epochs)
        return;
    inputs->machine_epochs = epochs;
    inputs->next = RM_TURN_NONE;
}

/** The newest turn that all inputs have reached. */
static bool reached(struct rm_host_inputs const *inputs, rm_turn *turn) {
    rm_turn least = RM_TURN_NONE;
    for (uint32_t i = 0; i < inputs->count; ++i) {
        rm_turn const head = rm_stream_head(&inputs->view[i]);
        if (head == RM_TURN_NONE)
            return false;
        least = head < least ? head : least;
    }
    *turn = least;
    return inputs->count > 0;
}

/** The newest turn whose deadline has passed; without inputs, the newest that has begun. */
static bool overdue(struct rm_host_inputs const *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                    rm_turn *turn) {
    if (!clock->anchored)
        return false;
    rm_turn const now = rm_clock_turn(clock, tsc);
    uint64_t const wait = inputs->count > 0 ? inputs->closing_turns + inputs->deadline_turns : 0;
    if (now < wait)
        return false;
    *turn = (now - wait) / inputs->period * inputs->period;
    return true;
}

bool rm_host_inputs_due(struct rm_host_inputs *inputs, struct rm_clock_reading const *clock, uint64_t tsc,
                        struct rm_host_due *due) {
    rm_turn whole = 0, passed = 0;
    follow_epoch(inputs, clock);
    bool const are_whole = reached(inputs, &whole);
    bool const have_passed = overdue(inputs, clock, tsc, &passed);
    if (!are_whole && !have_passed)
        return false;
    bool const late = have_passed && inputs->count > 0 && (!are_whole || passed > whole);
    rm_turn const newest = are_whole && !late ? whole : passed;
    if (inputs->next != RM_TURN_NONE && newest < inputs->next) {
        if (newest + STEPPED_BACK_PERIODS * inputs->period >= inputs->next)
            return false;
        inputs->next = RM_TURN_NONE;
    }
    due->turn = newest;
    due->skipped = inputs->next == RM_TURN_NONE ? 0 : (newest - inputs->next) / inputs->period;
    due->late = late;
    inputs->next = newest + inputs->period;
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
