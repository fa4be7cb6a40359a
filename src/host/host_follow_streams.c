// SPDX-License-Identifier: Apache-2.0
#include "host/host_follow_streams.h"

#include <stdlib.h>

bool rm_follow_streams_open(struct rm_follow_streams *streams, uint32_t masks, uint32_t groups, uint32_t ends) {
    streams->mask = calloc(masks + 1ul, sizeof *streams->mask);
    streams->sent = calloc(groups + 1ul, sizeof *streams->sent);
    streams->end = calloc(ends + 1ul, sizeof *streams->end);
    return streams->mask != NULL && streams->sent != NULL && streams->end != NULL;
}

void rm_follow_streams_close(struct rm_follow_streams *streams) {
    free(streams->mask);
    free(streams->sent);
    free(streams->end);
}

static uint64_t follow_epoch(struct rm_follow_streams const *streams) {
    return atomic_load_explicit(&streams->decision.header->turn_epoch, memory_order_acquire);
}

void rm_follow_streams_begin(struct rm_follow_streams *streams) { streams->turn_epoch = follow_epoch(streams); }

bool rm_follow_streams_restarted(struct rm_follow_streams const *streams) {
    return follow_epoch(streams) != streams->turn_epoch;
}

static struct rm_stream_view const *follow_view(struct rm_follow_streams const *streams, enum rm_obey_stream stream,
                                                uint32_t number) {
    switch (stream) {
    case RM_OBEY_DECISION:
        return &streams->decision;
    case RM_OBEY_ADOPTED:
        return &streams->adopted;
    case RM_OBEY_MISSING:
        return &streams->mask[number];
    case RM_OBEY_SENT:
        return &streams->sent[number];
    case RM_OBEY_UNFINISHED:
        return &streams->end[number];
    case RM_OBEY_INPUT:
        break;
    }
    return &streams->input[number];
}

/** An input that does not come here, while the peer has had it for long. */
static bool follow_is_given_up(struct rm_follow_streams const *streams, rm_turn turn) {
    rm_turn const ahead = rm_stream_head(&streams->decision);
    return ahead != RM_TURN_NONE && ahead > turn && ahead - turn > streams->maximum_lag_turns;
}

static enum rm_obey_look follow_at(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                   struct rm_record const **record) {
    struct rm_follow_streams *streams = context;
    struct rm_stream_view const *const view = follow_view(streams, stream, number);
    enum rm_read const read = rm_stream_read(view, turn, &streams->record);
    *record = &streams->record;
    if (read == RM_READ_OK)
        return RM_OBEY_IS_THERE;
    *record = NULL;
    bool const may_come = read == RM_READ_NOT_YET || rm_stream_head(view) == RM_TURN_NONE;
    /* What the peer has written of a turn is there when its `decision` is. */
    return may_come && stream == RM_OBEY_INPUT && !follow_is_given_up(streams, turn) ? RM_OBEY_COMES
                                                                                     : RM_OBEY_IS_NOWHERE;
}

static enum rm_obey_look follow_next(void *context, enum rm_obey_stream stream, rm_turn *turn,
                                     struct rm_record const **record) {
    struct rm_follow_streams *streams = context;
    struct rm_stream_view const *const view = follow_view(streams, stream, 0);
    rm_turn const head = rm_stream_head(view);
    rm_turn const oldest = rm_stream_oldest(view, head, 1);
    if (head == RM_TURN_NONE || oldest == RM_TURN_NONE || head < *turn)
        return RM_OBEY_COMES;
    for (rm_turn at = *turn > oldest ? *turn : oldest; at <= head; at += view->period) {
        if (rm_stream_read(view, at, &streams->record) != RM_READ_OK)
            continue;
        *turn = at;
        *record = &streams->record;
        return RM_OBEY_IS_THERE;
    }
    *turn = head + view->period;
    return RM_OBEY_COMES;
}

static bool follow_has_worked(void *context) {
    struct rm_follow_streams const *streams = context;
    return streams->has_worked == NULL || streams->has_worked(streams->context);
}

struct rm_obey_source rm_follow_streams_source(struct rm_follow_streams *streams) {
    return (struct rm_obey_source){
        .at = follow_at, .next = follow_next, .has_worked = follow_has_worked, .context = streams};
}

uint64_t rm_follow_streams_behind(struct rm_follow_streams const *streams, rm_turn next) {
    rm_turn const head = rm_stream_head(&streams->decision);
    return head == RM_TURN_NONE || head < next ? 0 : (head - next) / streams->decision.period + 1;
}
