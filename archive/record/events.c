// SPDX-License-Identifier: Apache-2.0
#include "events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"

enum { LOOK_NS = 100 * 1000 * 1000 };

static void events_add(struct rm_events_watch *watch, struct rm_object const *object, void const *memory) {
    if (object->kind == RM_OBJECT_PARAMETER) {
        struct rm_parameter const *parameter = memory;
        uint64_t const choice = RM_PARAMETER_SETTING | RM_PARAMETER_WRITABLE;
        watch->parameter[watch->parameter_count++] = (struct rm_watched_parameter){
            .object = object,
            .parameter = parameter,
            .values = (uint8_t const *)memory + parameter->values_offset,
            .bytes = parameter->value_bytes,
            .sequence = UINT64_MAX,
            .is_setting = (parameter->flags & choice) != 0,
        };
    } else if (object->kind == RM_OBJECT_TEXT) {
        watch->text[watch->text_count++] = (struct rm_watched_text){.object = object, .text = memory};
    } else if (object->kind == RM_OBJECT_REPLIES) {
        struct rm_replies const *replies = memory;
        watch->replies[watch->replies_count++] = (struct rm_watched_replies){
            .object = object, .replies = replies, .head = atomic_load_explicit(&replies->head, memory_order_acquire)};
    } else if (object->kind == RM_OBJECT_GRANT) {
        struct rm_grant const *grant = memory;
        watch->grant[watch->grant_count++] = (struct rm_watched_grant){
            .grant = grant,
            .sequence = UINT64_MAX,
            .offence_sequence = atomic_load_explicit(&grant->offence.sequence, memory_order_relaxed)};
    }
}

enum rm_code rm_events_begin(struct rm_events_watch *watch, struct rm_workspace *workspace, struct rm_error *error) {
    size_t const count = rm_workspace_object_count(workspace);
    *watch = (struct rm_events_watch){.lines = NULL};
    watch->parameter = calloc(count, sizeof *watch->parameter);
    watch->text = calloc(count, sizeof *watch->text);
    watch->replies = calloc(count, sizeof *watch->replies);
    watch->grant = calloc(count, sizeof *watch->grant);
    watch->lines = malloc(2 * (size_t)RM_EVENTS_WAITING_MAX);
    watch->out = watch->lines != NULL ? fmemopen(watch->lines, 2 * (size_t)RM_EVENTS_WAITING_MAX, "w") : NULL;
    if (watch->parameter == NULL || watch->text == NULL || watch->replies == NULL || watch->grant == NULL ||
        watch->out == NULL) {
        rm_events_end(watch);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the events");
    }
    for (size_t i = 0; i < count; ++i) {
        void const *memory;
        struct rm_object const *object = rm_workspace_object(workspace, i, &memory);
        if (strncmp(object->name, "recorder/", 9) != 0)
            events_add(watch, object, memory);
    }
    return RM_OK;
}

void rm_events_end(struct rm_events_watch *watch) {
    if (watch->out != NULL)
        fclose(watch->out);
    free(watch->lines);
    free(watch->parameter);
    free(watch->text);
    free(watch->replies);
    free(watch->grant);
    *watch = (struct rm_events_watch){.lines = NULL};
}

FILE *rm_events_line(struct rm_events_watch *watch, char const *event, uint64_t tai_ns) {
    fseek(watch->out, (long)watch->length, SEEK_SET);
    fprintf(watch->out, "{\"event\":\"%s\",\"tai_ns\":%llu", event, (unsigned long long)tai_ns);
    return watch->out;
}

void rm_events_line_end(struct rm_events_watch *watch) {
    fputs("}\n", watch->out);
    fflush(watch->out);
    long const end = ftell(watch->out);
    if (end < 0 || end > RM_EVENTS_WAITING_MAX || ferror(watch->out) ||
        (size_t)end - watch->length > RM_EVENTS_LINE_MAX) {
        clearerr(watch->out);
        ++watch->lost;
        ++watch->untold;
        return;
    }
    watch->length = (size_t)end;
    ++watch->count;
}

void rm_events_number(FILE *out, double value, int digits) {
    if (isfinite(value))
        fprintf(out, "%.*g", digits, value);
    else
        fputs(isnan(value) ? "\"nan\"" : value > 0 ? "\"inf\"" : "\"-inf\"", out);
}

void rm_events_recorder(struct rm_events_watch *watch, char const *what, char const *log, char const *reason,
                        uint64_t count) {
    if (watch->out == NULL || watch->moment == NULL)
        return;
    FILE *out = rm_events_line(watch, "recorder", watch->moment->tai_ns);
    fprintf(out, ",\"what\":\"%s\"", what);
    if (log != NULL)
        fprintf(out, ",\"log\":\"%s\"", log);
    if (reason != NULL)
        fprintf(out, ",\"reason\":\"%s\"", reason);
    if (count > 0)
        fprintf(out, ",\"count\":%llu", (unsigned long long)count);
    rm_events_line_end(watch);
}

void rm_events_lost_frames(struct rm_events_watch *watch, char const *log, char const *camera, char const *reason,
                           uint64_t count) {
    if (watch->out == NULL || watch->moment == NULL)
        return;
    FILE *out = rm_events_line(watch, "recorder", watch->moment->tai_ns);
    fprintf(out, ",\"what\":\"lost\",\"log\":\"%s\",\"camera\":\"%s\",\"reason\":\"%s\",\"count\":%llu", log, camera,
            reason, (unsigned long long)count);
    rm_events_line_end(watch);
}

/** Lines of the first bytes of the buffer that are whole, at most `room` bytes. */
static size_t events_whole_lines(struct rm_events_watch const *watch, size_t room, uint32_t *count) {
    size_t end = 0;
    *count = 0;
    for (size_t at = 0; at < watch->length && at < room; ++at)
        if (watch->lines[at] == '\n') {
            end = at + 1;
            ++*count;
        }
    return end;
}

/** Hands lines to the log, as many as it takes. */
static void events_write(struct rm_events_watch *watch, struct rm_log *log) {
    struct rm_record_moment const *moment = watch->moment;
    while (watch->length > 0) {
        size_t bytes;
        uint32_t count;
        size_t const line = (size_t)((char *)memchr(watch->lines, '\n', watch->length) - watch->lines) + 1;
        char *payload = rm_log_room(log, line, &bytes, moment->now_ns, moment->tai_ns);
        size_t const length = payload != NULL ? events_whole_lines(watch, bytes, &count) : 0;
        if (length == 0)
            return;
        memcpy(payload, watch->lines, length);
        struct rm_block block = {
            .kind = RM_BLOCK_EVENTS,
            .turn_epoch = (uint16_t)moment->clock.turn_epoch,
            .count = count,
            .stored_bytes = (uint32_t)length,
            .plain_bytes = (uint32_t)length,
            .first_turn = moment->clock.anchored ? moment->clock.turn : RM_TURN_NONE,
            .first_tai_ns = moment->tai_ns,
            .last_tai_ns = moment->tai_ns,
        };
        rm_log_append(log, &block);
        memmove(watch->lines, watch->lines + length, watch->length - length);
        watch->length -= length;
        watch->count -= count;
    }
}

void rm_events_look(struct rm_events_watch *watch, struct rm_log *log, struct rm_record_moment const *moment,
                    bool now) {
    if (watch->out == NULL || (!now && moment->now_ns - watch->looked_ns < LOOK_NS))
        return;
    watch->looked_ns = moment->now_ns;
    watch->moment = moment;
    uint64_t const untold = watch->untold;
    if (untold > 0 && watch->length < RM_EVENTS_WAITING_MAX / 2) {
        watch->untold = 0;
        rm_events_recorder(watch, "lost", "events", "disk_slow", untold);
    }
    rm_events_look_clock(watch);
    rm_events_look_guard(watch);
    rm_events_look_texts(watch);
    rm_events_look_parameters(watch);
    events_write(watch, log);
}
