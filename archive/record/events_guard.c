// SPDX-License-Identifier: Apache-2.0
/** What was asked of the server and of applications, and what they answered; what the guard has refused; and whom it
 * grants. */
#include <string.h>

#include "base/json.h"
#include "events.h"

/** A text in shared memory that is written and read as words: a copy, ended by a zero. */
static void guard_copy_text(char *copy, _Atomic uint64_t const *words, size_t bytes) {
    for (size_t i = 0; i < bytes / 8; ++i) {
        uint64_t const word = atomic_load_explicit(&words[i], memory_order_relaxed);
        memcpy(copy + 8 * i, &word, 8);
    }
    copy[bytes - 1] = '\0';
}

static uint64_t guard_word(_Atomic uint64_t const *word) { return atomic_load_explicit(word, memory_order_relaxed); }

/** One reply. The name of the owner is what stands before "/replies" in the name of the object. */
static void replies_write(struct rm_events_watch *watch, struct rm_watched_replies const *watched, uint64_t number) {
    struct rm_reply_slot const *slot = &watched->replies->slot[number & (RM_REPLY_SLOTS - 1)];
    char requester[RM_OWNER_BYTES], reason[RM_REASON_BYTES];
    guard_copy_text(requester, slot->requester, sizeof requester);
    guard_copy_text(reason, slot->reason, sizeof reason);
    uint64_t const verdict = guard_word(&slot->verdict), tai_ns = guard_word(&slot->timestamp_tai_ns);
    uint64_t const request = guard_word(&slot->number);
    /* As in request.h: the fence pairs with that of the owner, which fills the slot anew. */
    atomic_thread_fence(memory_order_acquire);
    if (atomic_load_explicit(&watched->replies->head, memory_order_acquire) >= number + RM_REPLY_SLOTS)
        return;
    FILE *out = rm_events_line(watch, "request", tai_ns);
    fputs(",\"requester\":", out);
    rm_json_text(out, requester);
    fprintf(out, ",\"owner\":\"%.*s\",\"number\":%llu,\"verdict\":\"%s\"", (int)strcspn(watched->object->name, "/"),
            watched->object->name, (unsigned long long)request, verdict == RM_VERDICT_DONE ? "done" : "refused");
    if (verdict != RM_VERDICT_DONE) {
        fputs(",\"reason\":", out);
        rm_json_text(out, reason);
    }
    rm_events_line_end(watch);
}

static void replies_look(struct rm_events_watch *watch, struct rm_watched_replies *watched) {
    /* Acquire: pairs with the release of rm_inbox_answer. */
    uint64_t const head = atomic_load_explicit(&watched->replies->head, memory_order_acquire);
    if (head < watched->head)
        watched->head = 0; /* the owner has begun anew */
    if (head - watched->head >= RM_REPLY_SLOTS) {
        unsigned long long const missed = head - watched->head - RM_REPLY_SLOTS + 1;
        FILE *out = rm_events_line(watch, "requests_missed", watch->moment->tai_ns);
        fprintf(out, ",\"owner\":\"%.*s\",\"count\":%llu", (int)strcspn(watched->object->name, "/"),
                watched->object->name, missed);
        rm_events_line_end(watch);
        watched->head = head - RM_REPLY_SLOTS + 1;
    }
    for (; watched->head < head; ++watched->head)
        replies_write(watch, watched, watched->head);
}

static char const *refusal_text(enum rm_refusal refusal) {
    static char const *const TEXTS[] = {"nothing", "grant", "stale", "future",    "number",
                                        "low",     "high",  "slew",  "ownership", "fault"};
    return TEXTS[(unsigned)refusal < sizeof TEXTS / sizeof TEXTS[0] ? refusal : 0];
}

static char const *state_text(enum rm_application_state state) {
    static char const *const TEXTS[] = {"absent", "joined", "running", "stalled", "dead"};
    return TEXTS[(unsigned)state < sizeof TEXTS / sizeof TEXTS[0] ? state : 0];
}

/** The newest refusal, and how many there were since the last look. */
static void offence_look(struct rm_events_watch *watch, struct rm_watched_grant *watched) {
    struct rm_offence const *offence = &watched->grant->offence;
    uint64_t const sequence = atomic_load_explicit(&offence->sequence, memory_order_acquire);
    struct rm_offence_reading reading;
    if (sequence == watched->offence_sequence || (sequence & 1) != 0 || !rm_offence_read(offence, &reading))
        return;
    FILE *out = rm_events_line(watch, "refusal", reading.tai_ns);
    fprintf(out, ",\"turn\":%llu,\"application\":", (unsigned long long)reading.turn);
    rm_json_text(out, watched->grant->application);
    fprintf(out, ",\"reason\":\"%s\",\"count\":%llu,\"value\":", refusal_text(reading.refusal),
            (unsigned long long)((sequence - watched->offence_sequence) / 2));
    rm_events_number(out, reading.value, 17);
    fputs(",\"limit\":", out);
    rm_events_number(out, reading.limit, 17);
    if (reading.actuator != UINT64_MAX)
        fprintf(out, ",\"actuator\":%llu", (unsigned long long)reading.actuator);
    if (reading.vector != UINT64_MAX)
        fprintf(out, ",\"vector\":%llu", (unsigned long long)reading.vector);
    rm_events_line_end(watch);
    watched->offence_sequence = sequence;
}

static void grant_look(struct rm_events_watch *watch, struct rm_watched_grant *watched) {
    uint64_t const sequence = atomic_load_explicit(&watched->grant->sequence, memory_order_acquire);
    struct rm_grant_reading reading;
    if (sequence == watched->sequence || (sequence & 1) != 0 || !rm_grant_read(watched->grant, &reading))
        return;
    FILE *out = rm_events_line(watch, "grant", reading.since_tai_ns);
    fputs(",\"application\":", out);
    rm_json_text(out, watched->grant->application);
    fprintf(out, ",\"state\":\"%s\",\"grant_number\":%llu", state_text(reading.state),
            (unsigned long long)reading.grant_number);
    rm_events_line_end(watch);
    watched->sequence = sequence;
}

void rm_events_look_guard(struct rm_events_watch *watch) {
    for (uint32_t i = 0; i < watch->replies_count; ++i)
        replies_look(watch, &watch->replies[i]);
    for (uint32_t i = 0; i < watch->grant_count; ++i) {
        offence_look(watch, &watch->grant[i]);
        grant_look(watch, &watch->grant[i]);
    }
}
