// SPDX-License-Identifier: Apache-2.0
#include "host/host_runs.h"

#include <stdlib.h>

#include "base/zeroed.h"

bool rm_host_runs_open(struct rm_host_runs *runs, uint32_t count, uint64_t period) {
    *runs = (struct rm_host_runs){.count = count, .period = period, .steps_max = RM_RUN_STEPS_MAX};
    runs->run = calloc(count + 1ul, sizeof *runs->run);
    runs->record = calloc(count + 1ul, sizeof *runs->record);
    runs->stream_period = calloc(count + 1ul, sizeof *runs->stream_period);
    return runs->run != NULL && runs->record != NULL && runs->stream_period != NULL;
}

void rm_host_runs_close(struct rm_host_runs *runs) {
    for (uint32_t i = 0; runs->record != NULL && i < runs->count; ++i)
        free(runs->record[i]);
    free((void *)runs->record);
    free(runs->run);
    free(runs->stream_period);
    *runs = (struct rm_host_runs){0};
}

bool rm_host_runs_make_room(struct rm_host_runs *runs, uint32_t input, struct rm_stream const *stream) {
    uint64_t const of_step = runs->period / stream->period;
    uint64_t const kept = stream->capacity > stream->margin ? stream->capacity - stream->margin : 1;
    uint64_t const held =
        stream->capacity == 0 || kept / of_step > RM_RUN_STEPS_MAX ? RM_RUN_STEPS_MAX : kept / of_step;
    uint64_t const steps = held > 0 ? held : 1;
    runs->steps_max = steps < runs->steps_max ? steps : runs->steps_max;
    runs->stream_period[input] = stream->period;
    runs->record[input] = rm_zeroed(steps * of_step, sizeof **runs->record);
    return runs->record[input] != NULL;
}

uint64_t rm_host_runs_reach(struct rm_host_runs const *runs, struct rm_stream_view const *view, rm_turn turn,
                            uint64_t steps) {
    uint64_t reach = steps < runs->steps_max ? steps : runs->steps_max;
    for (uint32_t i = 0; i < runs->count; ++i) {
        rm_turn const head = rm_stream_head(&view[i]);
        /* As many records as a step has may come while the runs are read. */
        rm_turn const oldest = rm_stream_oldest(&view[i], head, runs->period / view[i].period);
        struct rm_stream const *const stream = view[i].header;
        bool const has_all = head == RM_TURN_NONE || oldest == RM_TURN_NONE ||
                             oldest == atomic_load_explicit(&stream->first, memory_order_relaxed);
        if (has_all) /* nothing was overwritten */
            continue;
        uint64_t const held = oldest <= turn ? (turn - oldest + view[i].period) / runs->period : 0;
        reach = held < reach ? held : reach;
    }
    return reach > 0 ? reach : 1;
}

void rm_host_runs_span(struct rm_host_runs *runs, rm_turn turn, uint64_t steps) {
    uint64_t const whole = steps < runs->steps_max ? steps : runs->steps_max;
    runs->turn = turn;
    for (uint32_t i = 0; i < runs->count; ++i)
        runs->run[i] = (struct rm_run){runs->record[i], whole * runs->period / runs->stream_period[i]};
}

uint64_t rm_host_runs_unfinished(struct rm_run const *run) {
    uint64_t there = run->count;
    while (there > 0 && run->record[there - 1].turn == RM_TURN_NONE)
        --there;
    return run->count - there;
}

uint64_t rm_host_runs_read(struct rm_host_runs *runs, struct rm_stream_view const *view, rm_turn turn,
                           uint64_t skipped) {
    uint64_t lost = 0;
    rm_host_runs_span(runs, turn, rm_host_runs_reach(runs, view, turn, 1 + skipped));
    for (uint32_t i = 0; i < runs->count; ++i) {
        uint64_t const count = runs->run[i].count;
        uint64_t none = 0; /* records of turns before turn 0 are not lost: there are none */
        for (; none < count && rm_host_runs_turn(runs, i, none) == RM_TURN_NONE; ++none)
            runs->record[i][none] = (struct rm_record){.turn = RM_TURN_NONE};
        size_t const good = none == count ? 0
                                          : rm_stream_read_window(&view[i], rm_host_runs_turn(runs, i, none),
                                                                  count - none, runs->record[i] + none);
        lost += (1 + skipped) * (runs->period / view[i].period) - none - good;
    }
    return lost;
}
