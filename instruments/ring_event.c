// SPDX-License-Identifier: Apache-2.0
#include "ring_event.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "ring_event_file.h"
#include "ring_resolve.h"

enum { WORDS_LONGEST = 512, BPMS_OF_ELECTRONICS = 2 };

/** What each kind of event may and must say besides. */
struct event_rule {
    bool of_supplies;
    bool of_instruments;
    /** Only instruments that tell of a position have it. */
    bool of_positions;
    bool has_xy;
    bool is_a_moment; /**< no time passes until it is over */
};

static struct event_rule const rules[RM_EVENT_KINDS] = {
    [RM_EVENT_TRIP] = {.of_supplies = true},
    [RM_EVENT_RESET] = {.of_supplies = true, .is_a_moment = true},
    [RM_EVENT_RIPPLE] = {.of_supplies = true},
    [RM_EVENT_POWER_CYCLE] = {.of_supplies = true},
    [RM_EVENT_KICK] = {.has_xy = true, .is_a_moment = true},
    [RM_EVENT_INJECTION] = {.has_xy = true, .is_a_moment = true},
    [RM_EVENT_FROZEN] = {.of_instruments = true},
    [RM_EVENT_NOISY] = {.of_instruments = true, .of_positions = true, .has_xy = true},
    [RM_EVENT_OFFSET] = {.of_instruments = true, .of_positions = true, .has_xy = true},
    [RM_EVENT_DEAD] = {.of_instruments = true},
    [RM_EVENT_INVERTED] = {.of_instruments = true, .of_positions = true},
    [RM_EVENT_SWAPPED_CABLES] = {.of_instruments = true, .of_positions = true},
    [RM_EVENT_GOOD] = {.of_instruments = true, .is_a_moment = true},
};

/** One event while it is made. */
struct event_making {
    struct rm_ring_config const *ring;
    struct rm_ring_file_event const *from;
    struct rm_ring_event *to;
    /** The overlay's entry, or NULL: these are words. */
    struct rm_resolve const *resolve;
    uint32_t index;
    struct rm_error *error;
};

__attribute__((format(printf, 3, 4))) static enum rm_code event_fail(struct event_making const *making, char const *key,
                                                                     char const *format, ...) {
    char text[RM_ERROR_TEXT_BYTES];
    char const *kind = rm_ring_event_name(making->from->event);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (making->resolve != NULL)
        return rm_resolve_fail(making->resolve, "events", making->index, key, "%s: %s", kind, text);
    return rm_fail(making->error, RM_E_CONFIG, "%s%s%s: %s", kind, key == NULL ? "" : ": ", key == NULL ? "" : key,
                   text);
}

static enum rm_code fail_for_memory(struct event_making const *making) {
    return event_fail(making, NULL, "no memory for what it befalls");
}

/* ── which keys ── */

static enum rm_code check_event_keys(struct event_making const *making) {
    struct rm_ring_file_event const *from = making->from;
    struct event_rule const *rule = &rules[from->event];
    bool const ripple = from->event == RM_EVENT_RIPPLE, injection = from->event == RM_EVENT_INJECTION;
    bool const swapped = from->event == RM_EVENT_SWAPPED_CABLES;
    struct {
        char const *key;
        bool given, needed, allowed;
    } const keys[] = {
        {"for_turns", from->for_turns != NULL, false, !rule->is_a_moment},
        {"supply", from->supply != NULL, rule->of_supplies, rule->of_supplies},
        {"amplitude", from->amplitude != NULL, ripple, ripple},
        {"hz", from->hz != NULL, ripple, ripple},
        {"instrument", from->instrument != NULL, rule->of_instruments, rule->of_instruments},
        {"with", from->with != NULL, swapped, swapped},
        {"x_um", from->x_um != NULL, false, rule->has_xy},
        {"y_um", from->y_um != NULL, false, rule->has_xy},
        {"ma", from->ma != NULL, false, injection},
        {"misfires", from->misfires != NULL, false, injection},
    };
    for (size_t k = 0; k < sizeof keys / sizeof keys[0]; ++k) {
        if (keys[k].given && !keys[k].allowed)
            return event_fail(making, keys[k].key, "this event has no such key, take it out");
        if (!keys[k].given && keys[k].needed)
            return event_fail(making, NULL, "expected the key %s", keys[k].key);
    }
    return RM_OK;
}

static enum rm_code check_event_number(struct event_making const *making, char const *name, double const *given) {
    struct rm_yaml_key const *key = rm_yaml_key_at(&rm_ring_event_schema, name);
    if (given == NULL || rm_yaml_in_range(key, *given))
        return RM_OK;
    return event_fail(making, name, "found %g, expected %g to %g", *given, key->min, key->max);
}

static enum rm_code check_event_numbers(struct event_making const *making) {
    struct rm_ring_file_event const *from = making->from;
    double const turns = from->for_turns == NULL ? 1 : (double)*from->for_turns;
    struct {
        char const *key;
        double const *given;
    } const keys[] = {{"for_turns", &turns}, {"amplitude", from->amplitude}, {"hz", from->hz},
                      {"x_um", from->x_um},  {"y_um", from->y_um},           {"ma", from->ma}};
    enum rm_code code = RM_OK;
    for (size_t k = 0; code == RM_OK && k < sizeof keys / sizeof keys[0]; ++k)
        code = check_event_number(making, keys[k].key, keys[k].given);
    return code;
}

/* ── what it befalls ── */

static enum rm_code find_event_supplies(struct event_making const *making) {
    struct rm_ring_event *to = making->to;
    if (making->from->supply == NULL)
        return RM_OK;
    to->supply = calloc(making->ring->supplies.supply_count + 1ul, sizeof *to->supply);
    if (to->supply == NULL)
        return fail_for_memory(making);
    to->supply_count = rm_ring_choose_supplies(making->ring, making->from->supply, to->supply);
    if (to->supply_count != 0)
        return RM_OK;
    struct rm_nearest nearest = {.wanted = making->from->supply};
    for (uint32_t s = 0; s < making->ring->supplies.supply_count; ++s)
        rm_nearest_offer(&nearest, making->ring->description->supply[making->ring->supplies.described[s]].name);
    if (nearest.name != NULL)
        return event_fail(making, "supply", "no such supply; did you mean %s?", nearest.name);
    return event_fail(making, "supply",
                      "found \"%s\", which means none of the %u supplies, expected a name, or such as \"c*\" or c01/1",
                      making->from->supply, making->ring->supplies.supply_count);
}

static bool instrument_is_meant(struct rm_ring_config const *ring, uint32_t instrument, char const *name) {
    char const *own = ring->instruments[instrument].name;
    for (uint32_t d = 0; d < ring->description->instrument_count; ++d)
        if (strcmp(ring->description->instrument[d].name, own) == 0)
            return rm_resolve_means(name, own, ring->description->instrument[d].entry);
    return rm_resolve_means(name, own, own);
}

static bool tells_position(struct rm_virtual_instrument const *instrument, uint32_t bpm) {
    return instrument->kind == RM_KIND_BPM || (instrument->kind == RM_KIND_PHOTON_BPM && bpm < 2);
}

/** Adds the readings that "bpm01", "bpm01/2" or "bpm*" means. */
static enum rm_code add_event_readings(struct event_making const *making, char const *key, char const *text) {
    struct rm_ring_config const *ring = making->ring;
    struct rm_ring_event *to = making->to;
    char name[RM_VIRTUAL_NAME_BYTES];
    size_t const length = strcspn(text, "/");
    char *end = NULL;
    unsigned long const bpm = text[length] == '\0' ? 0 : strtoul(text + length + 1, &end, 10);
    uint32_t const before = to->reading_count;
    if (length >= sizeof name || (end != NULL && (*end != '\0' || bpm < 1 || bpm > BPMS_OF_ELECTRONICS)))
        return event_fail(making, key, "found \"%s\", expected an instrument such as bpm01, or bpm01/1 or bpm01/2",
                          text);
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (uint32_t i = 0; i < ring->instrument_count; ++i) {
        if (!instrument_is_meant(ring, i, name))
            continue;
        bool const positions = rules[making->from->event].of_positions || bpm != 0;
        if (positions && !tells_position(&ring->instruments[i], (uint32_t)bpm))
            return event_fail(making, key, "found \"%s\", which means %s too, expected instruments of kind bpm", text,
                              ring->instruments[i].name);
        to->reading[to->reading_count++] = (struct rm_ring_event_reading){i, (uint32_t)bpm};
    }
    if (to->reading_count != before)
        return RM_OK;
    return event_fail(making, key, "found \"%s\", which means none of the %u instruments of this ring", text,
                      ring->instrument_count);
}

static uint32_t period_of_instrument(struct rm_ring_config const *ring, uint32_t instrument) {
    for (uint32_t g = 0; g < ring->group_count; ++g)
        if (instrument - ring->groups[g].first < ring->groups[g].count)
            return ring->groups[g].period_turns;
    return 0;
}

static enum rm_code check_swapped(struct event_making const *making) {
    struct rm_ring_event_reading const *pair = making->to->reading;
    if (making->to->reading_count != 2 || (pair[0].bpm == 0) != (pair[1].bpm == 0))
        return event_fail(making, NULL, "expected two BPMs, such as bpm01/1 with bpm02/2, or bpm01 with bpm02");
    if (pair[0].instrument == pair[1].instrument && pair[0].bpm == pair[1].bpm)
        return event_fail(making, "with", "found the same BPM twice, expected two");
    if (period_of_instrument(making->ring, pair[0].instrument) !=
        period_of_instrument(making->ring, pair[1].instrument))
        return event_fail(making, "with", "expected a BPM that is read as often as the other");
    return RM_OK;
}

static enum rm_code find_event_readings(struct event_making const *making) {
    struct rm_ring_file_event const *from = making->from;
    if (from->instrument == NULL)
        return RM_OK;
    making->to->reading = calloc(2ul * making->ring->instrument_count + 1ul, sizeof *making->to->reading);
    if (making->to->reading == NULL)
        return fail_for_memory(making);
    enum rm_code code = add_event_readings(making, "instrument", from->instrument);
    if (code != RM_OK || from->with == NULL)
        return code;
    code = add_event_readings(making, "with", from->with);
    return code == RM_OK ? check_swapped(making) : code;
}

/** An injection, and what an RF trip does, need a beam that can be lost. */
static enum rm_code check_event_machine(struct event_making const *making) {
    enum rm_ring_event_kind const kind = making->from->event;
    if (making->ring->machine.present || (kind != RM_EVENT_INJECTION && kind != RM_EVENT_RF_TRIP))
        return RM_OK;
    return event_fail(making, NULL, "the ring has no key `machine`, so there is no beam current and no RF");
}

static void take_event_numbers(struct event_making const *making) {
    struct rm_ring_file_event const *from = making->from;
    double const kick_um = making->ring->beam.kick_um > 0 ? making->ring->beam.kick_um : 100;
    double const x_um = from->event == RM_EVENT_KICK && from->y_um == NULL ? kick_um : 0;
    making->to->x_nm = 1e3 * (from->x_um == NULL ? x_um : *from->x_um);
    making->to->y_nm = from->y_um != NULL ? 1e3 * *from->y_um : from->event == RM_EVENT_KICK ? making->to->x_nm : 0;
    making->to->amplitude = from->amplitude == NULL ? 0 : *from->amplitude;
    making->to->hz = from->hz == NULL ? 0 : *from->hz;
    making->to->ma = from->ma == NULL ? -1 : *from->ma;
    making->to->misfires = from->misfires != NULL && *from->misfires;
}

static enum rm_code make_event(struct event_making const *making) {
    struct rm_ring_file_event const *from = making->from;
    *making->to = (struct rm_ring_event){
        .kind = from->event,
        .at_turn = from->at_turn == NULL ? RM_TURN_NONE : *from->at_turn,
        .for_turns = from->for_turns == NULL ? 0 : *from->for_turns,
    };
    enum rm_code (*const parts[])(struct event_making const *) = {
        check_event_keys, check_event_numbers, check_event_machine, find_event_supplies, find_event_readings};
    enum rm_code code = RM_OK;
    for (size_t p = 0; code == RM_OK && p < sizeof parts / sizeof parts[0]; ++p)
        code = parts[p](making);
    take_event_numbers(making);
    if (code != RM_OK)
        rm_ring_event_free(making->to);
    return code;
}

void rm_ring_event_free(struct rm_ring_event *event) {
    free(event->supply);
    free(event->reading);
    event->supply = NULL;
    event->reading = NULL;
}

enum rm_code rm_ring_event_parse(struct rm_ring_config const *ring, char const *words, struct rm_ring_event *event,
                                 struct rm_error *error) {
    char text[WORDS_LONGEST];
    void *data = NULL;
    bool const braced = words[strspn(words, " ")] == '{';
    int const length = snprintf(text, sizeof text, braced ? "%s" : "{%s}", words);
    if (length >= (int)sizeof text)
        return rm_fail(error, RM_E_CONFIG, "the event has %d characters, expected at most %d", length,
                       WORDS_LONGEST - 1);
    enum rm_code code = rm_yaml_parse("event", text, &rm_ring_event_alone_schema, &data, error);
    if (code != RM_OK)
        return code;
    code = make_event(&(struct event_making){.ring = ring, .from = data, .to = event, .error = error});
    rm_yaml_free(&rm_ring_event_alone_schema, data);
    return code;
}

enum rm_code rm_resolve_events(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    struct rm_ring_file const *file = resolve->file;
    enum rm_code code = RM_OK;
    config->events = calloc(file->events_count + 1ul, sizeof *config->events);
    if (config->events == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the events", resolve->path);
    for (uint32_t e = 0; e < file->events_count; ++e)
        code = rm_code_first(code, make_event(&(struct event_making){.ring = config,
                                                                     .from = &file->events[e],
                                                                     .to = &config->events[config->event_count++],
                                                                     .resolve = resolve,
                                                                     .index = e}));
    return code;
}
