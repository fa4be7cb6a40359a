// SPDX-License-Identifier: Apache-2.0
#include "ring_control.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "fabric/owner_parts.h"
#include "ring_event_file.h"

static uint64_t const LOOK_NS = 100000000; /**< from one look for requesters, and one reading, to the next */
static uint64_t const SLEEP_NS = 20000000; /**< for which a bell may go unheard, and an event untold */

enum {
    /** So many sleeps lie between two events of the beam: who follows this ring sees each. */
    SLEEPS_BETWEEN = 3,
    /** An event is answered when it has a turn, or after so many sleeps: the ring may still wait for its link. */
    SLEEPS_FOR_TURN = 50,
};

static struct {
    char const *name, *unit, *description;
    uint64_t count;
    enum rm_element_type type;
    unsigned flags;
} const parameters[RM_RING_EVENT_PARAMETERS] = {
    {"event", "utf-8", "words of an event that is to happen, such as event: kick, x_um: 100; then the last one's",
     RM_EVENT_WORDS_BYTES, RM_ELEMENT_U8, RM_PARAMETER_WRITABLE},
    {"events", "", "events that have happened", 1, RM_ELEMENT_U64, 0},
    {"event_turn", "turn", "when the last event happened; 2^64 - 1: none has", 1, RM_ELEMENT_U64, 0},
    {"kick_turn", "turn", "the last kick that was asked for; 2^64 - 1: none", 1, RM_ELEMENT_U64, 0},
};

/* ── parameters ── */

enum rm_code rm_ring_control_plan(struct rm_ring_control *control, struct rm_ring_config const *ring,
                                  struct rm_event_schedule *schedule, char const *owner, struct rm_machine *machine,
                                  struct rm_segment_plan *plan, struct rm_error *error) {
    char replies[RM_NAME_BYTES];
    control->ring = ring;
    control->schedule = schedule;
    snprintf(replies, sizeof replies, "%s/replies", owner);
    rm_plan_replies(plan, replies, "what it answered to requests");
    for (uint32_t p = 0; schedule != NULL && p < RM_RING_EVENT_PARAMETERS; ++p) {
        snprintf(control->name[p], sizeof control->name[p], "%s/%s", owner, parameters[p].name);
        control->planned[p] =
            rm_plan_full_parameter(plan, &(struct rm_parameter_plan){.name = control->name[p],
                                                                     .unit = parameters[p].unit,
                                                                     .description = parameters[p].description,
                                                                     .type = parameters[p].type,
                                                                     .rows = parameters[p].count,
                                                                     .flags = parameters[p].flags});
    }
    return rm_machine_knobs_plan(&control->knobs, machine, plan, error);
}

static void write_whole(struct rm_parameter *parameter, uint64_t value, rm_turn turn) {
    if (parameter != NULL)
        rm_parameter_write(parameter, &value, sizeof value, (struct rm_stamp){rm_stamp_now().tai_ns, turn});
}

static void write_words(struct rm_ring_control *control, char const *words, rm_turn turn) {
    char text[RM_EVENT_WORDS_BYTES] = {0};
    struct rm_parameter *parameter = control->parameter[RM_RING_EVENT_WORDS];
    snprintf(text, sizeof text, "%s", words);
    if (parameter != NULL)
        rm_parameter_write(parameter, text, sizeof text, (struct rm_stamp){rm_stamp_now().tai_ns, turn});
}

void rm_ring_control_place(struct rm_ring_control *control, struct rm_segment_plan const *plan,
                           struct rm_segment const *segment) {
    for (uint32_t p = 0; control->schedule != NULL && p < RM_RING_EVENT_PARAMETERS; ++p)
        control->parameter[p] = rm_segment_memory(segment, plan, control->planned[p]);
    write_words(control, "", RM_TURN_NONE);
    write_whole(control->parameter[RM_RING_EVENT_COUNT], 0, RM_TURN_NONE);
    write_whole(control->parameter[RM_RING_EVENT_TURN], RM_TURN_NONE, RM_TURN_NONE);
    write_whole(control->parameter[RM_RING_EVENT_KICK_TURN], RM_TURN_NONE, RM_TURN_NONE);
    rm_machine_knobs_place(&control->knobs, plan, segment);
}

/* ── what has happened ── */

/** One event, for people. */
static void tell_of_event(struct rm_event_report const *report) {
    unsigned long long const turn = report->turn;
    if (report->event->kind == RM_EVENT_KICK)
        fprintf(stderr, "ringmaster-instruments: kicked the beam at turn %llu\n", turn);
    else
        fprintf(stderr, "ringmaster-instruments: %s%s%s at turn %llu\n", rm_ring_event_name(report->event->kind),
                report->words[0] == '\0' ? "" : ", by request: ", report->words, turn);
}

static void hear_of_event(void *state, struct rm_event_report const *report) {
    struct rm_ring_control *control = state;
    if (report->stage == RM_EVENT_PLANNED) {
        char words[RM_EVENT_WORDS_BYTES];
        bool const has_turn = report->event->at_turn != RM_TURN_NONE;
        snprintf(words, sizeof words, has_turn ? "%s" : "%s, at_turn: %llu", report->words,
                 (unsigned long long)report->turn);
        write_words(control, words, report->turn);
        ++control->planned_events;
        if (report->event->kind == RM_EVENT_KICK)
            write_whole(control->parameter[RM_RING_EVENT_KICK_TURN], report->turn, report->turn);
        return;
    }
    write_whole(control->parameter[RM_RING_EVENT_TURN], report->turn, report->turn);
    write_whole(control->parameter[RM_RING_EVENT_COUNT], ++control->happened, report->turn);
    tell_of_event(report);
}

/* ── requests ── */

static void sleep_once(void) {
    struct timespec const pause = {.tv_nsec = (long)SLEEP_NS};
    nanosleep(&pause, NULL);
}

static void sleep_and_report(struct rm_ring_control *control) {
    sleep_once();
    rm_event_schedule_report(control->schedule, hear_of_event, control);
}

/** Who is answered reads the words of this event then, with its turn. */
static void await_turn(struct rm_ring_control *control) {
    uint64_t const before = control->planned_events;
    for (int s = 0; s < SLEEPS_FOR_TURN && control->planned_events == before; ++s)
        sleep_and_report(control);
}

/** What is too long loses its list of all that was expected, and keeps what is nearest. */
static void put_event_reason(char const *text, char reason[RM_REASON_BYTES]) {
    char const *list = strstr(text, ", expected one of"), *guess = strstr(text, " (did you mean ");
    if (strlen(text) < RM_REASON_BYTES || list == NULL)
        snprintf(reason, RM_REASON_BYTES, "%s", text);
    else
        snprintf(reason, RM_REASON_BYTES, "%.*s%s", (int)(list - text), text,
                 guess == NULL ? "; docs/virtual-ring.md, Events, has all" : guess);
}

/** Words without the braces and the zeros at their end. */
static void take_words(struct rm_request const *request, char words[RM_EVENT_WORDS_BYTES]) {
    size_t const bytes = request->bytes < RM_EVENT_WORDS_BYTES ? request->bytes : RM_EVENT_WORDS_BYTES - 1;
    memcpy(words, request->value, bytes);
    words[bytes] = '\0';
    size_t length = strlen(words), skipped = strspn(words, " {");
    while (length > skipped && strchr(" }\n", words[length - 1]) != NULL)
        words[--length] = '\0';
    memmove(words, words + skipped, length - skipped + 1);
}

static void answer_event(struct rm_ring_control *control, struct rm_request const *request) {
    char words[RM_EVENT_WORDS_BYTES], reason[RM_REASON_BYTES];
    struct rm_parameter *parameter;
    struct rm_ring_event event;
    struct rm_error error = {.text = ""};
    if (!rm_inbox_judge(control->inbox, request, &parameter, reason)) {
        rm_inbox_answer(control->inbox, request, RM_VERDICT_REFUSED, reason);
        return;
    }
    take_words(request, words);
    enum rm_code code = rm_ring_event_parse(control->ring, words, &event, &error);
    bool const of_beam = code == RM_OK && rm_ring_event_is_of_beam(event.kind);
    if (of_beam && control->followed != NULL) {
        rm_ring_event_free(&event);
        code =
            rm_fail(&error, RM_E_ARGUMENT,
                    "%s: this ring follows the events of the beam that the first ring is given; put it to ring/event",
                    request->parameter);
    }
    if (code == RM_OK)
        code = rm_event_schedule_post(control->schedule, &event, words, &error);
    if (code == RM_OK)
        await_turn(control);
    put_event_reason(error.text, reason);
    rm_inbox_answer(control->inbox, request, code == RM_OK ? RM_VERDICT_DONE : RM_VERDICT_REFUSED, reason);
    for (int s = 0; code == RM_OK && of_beam && s < SLEEPS_BETWEEN; ++s)
        sleep_and_report(control);
}

static void answer_requests(struct rm_ring_control *control) {
    struct rm_request request;
    while (rm_inbox_take(control->inbox, &request)) {
        if (control->schedule != NULL && strcmp(request.parameter, control->name[RM_RING_EVENT_WORDS]) == 0) {
            answer_event(control, &request);
            continue;
        }
        rm_inbox_apply(control->inbox, &request, rm_stamp_now());
        rm_machine_knobs_turn(&control->knobs, request.parameter);
    }
}

/* ── what another ring is given ── */

static void follow_event(struct rm_ring_control *control) {
    char words[RM_EVENT_WORDS_BYTES + 1] = {0};
    struct rm_parameter_reading reading;
    struct rm_ring_event event;
    struct rm_error error;
    if (control->followed == NULL || rm_parameter_read(control->followed, words, sizeof words - 1, &reading) == 0 ||
        reading.sequence == control->followed_sequence)
        return;
    control->followed_sequence = reading.sequence;
    if (words[0] == '\0' || rm_ring_event_parse(control->ring, words, &event, &error) != RM_OK)
        return; /* it is of what only the other ring has */
    if (rm_ring_event_is_of_beam(event.kind))
        rm_event_schedule_post(control->schedule, &event, words, &error);
    else
        rm_ring_event_free(&event);
}

void rm_ring_control_follow_events(struct rm_ring_control *control, struct rm_fellows const *fellows) {
    char words[RM_EVENT_WORDS_BYTES];
    struct rm_parameter_reading reading = {0};
    control->followed = rm_fellows_parameter(fellows, "ring/event");
    if (control->followed != NULL && rm_parameter_read(control->followed, words, sizeof words, &reading) != 0)
        control->followed_sequence = reading.sequence; /* what was before is past */
}

enum rm_code rm_ring_control_follow_knobs(struct rm_ring_control *control, struct rm_machine *machine,
                                          struct rm_fellows const *fellows, struct rm_error *error) {
    return rm_machine_knobs_follow(&control->knobs, machine, fellows, error);
}

/* ── the thread ── */

static bool is_ending(struct rm_ring_control const *control) {
    return atomic_load_explicit(&control->ending, memory_order_relaxed);
}

static void *control_ring(void *argument) {
    struct rm_ring_control *control = argument;
    uint64_t looked_ns = 0;
    while (!is_ending(control)) {
        uint64_t const now = rm_monotonic_ns();
        bool const looks = now - looked_ns >= LOOK_NS;
        if (looks) {
            looked_ns = now;
            rm_machine_knobs_publish(&control->knobs);
        }
        rm_machine_knobs_take(&control->knobs);
        follow_event(control);
        if (control->schedule != NULL)
            rm_event_schedule_report(control->schedule, hear_of_event, control);
        if (control->inbox == NULL) {
            sleep_once();
            continue;
        }
        if (looks)
            rm_inbox_look(control->inbox);
        answer_requests(control);
        rm_inbox_wait(control->inbox, SLEEP_NS);
        if (rm_monotonic_ns() - now < SLEEP_NS / 2) /* the doorbell rang, maybe for the first time */
            rm_inbox_look(control->inbox);
    }
    return NULL;
}

enum rm_code rm_ring_control_start(struct rm_ring_control *control, struct rm_segment_plan const *plan,
                                   struct rm_segment const *segment, struct rm_error *error) {
    enum rm_code code = RM_OK;
    if (control->schedule == NULL && control->knobs.machine == NULL)
        return RM_OK;
    if (segment != NULL)
        code = rm_owner_borrow(control->ring->workspace, plan, segment, &control->owner, error);
    if (code == RM_OK && segment != NULL)
        code = rm_inbox_new(control->owner, &control->inbox, error);
    if (code != RM_OK)
        return code;
    int const reason = pthread_create(&control->thread, NULL, control_ring, control);
    if (reason != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start the ring's control thread: %s", strerror(reason));
    control->started = true;
    return RM_OK;
}

void rm_ring_control_stop(struct rm_ring_control *control) {
    if (control->started) {
        atomic_store_explicit(&control->ending, true, memory_order_relaxed);
        pthread_join(control->thread, NULL);
        if (control->schedule != NULL)
            rm_event_schedule_report(control->schedule, hear_of_event, control);
    }
    if (control->inbox != NULL)
        rm_inbox_free(control->inbox);
    rm_owner_close(control->owner);
    rm_machine_knobs_free(&control->knobs);
    *control = (struct rm_ring_control){0};
}
