// SPDX-License-Identifier: Apache-2.0
#include "happen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

static enum rm_code parse_value(struct rm_event const *event, double *value, struct rm_error *error) {
    char *end;
    *value = strtod(event->value, &end);
    if (end != event->value && *end == '\0' && isfinite(*value))
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "%g:%s=%s: expected a number after =", event->at, event->name, event->value);
}

/** All elements of an array, or one number. */
static enum rm_code set_all(struct rm_host_program *program, char const *name, double value, struct rm_error *error) {
    uint32_t const number = rm_host_program_find(program, name);
    uint32_t const length = number < program->code.it->setting_count ? program->setting_length[number] : 1;
    double *values = malloc(length * sizeof *values);
    if (values == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u numbers", length);
    for (uint32_t i = 0; i < length; ++i)
        values[i] = value;
    enum rm_code const code = rm_host_program_set(program, name, 0, values, length, error);
    free(values);
    return code;
}

static enum rm_code set_setting(struct rm_simulation *simulation, struct rm_event const *event, char const *name,
                                struct rm_error *error) {
    double value;
    struct rm_error reason = {.text = ""};
    enum rm_code code = parse_value(event, &value, error);
    if (code != RM_OK)
        return code;
    char plain[128];
    snprintf(plain, sizeof plain, "%s", name);
    char *bracket = strchr(plain, '[');
    if (bracket == NULL) {
        code = set_all(simulation->program, plain, value, &reason);
    } else {
        *bracket = '\0';
        code = rm_host_program_set(simulation->program, plain, (uint32_t)strtoul(bracket + 1, NULL, 10), &value, 1,
                                   &reason);
    }
    simulation->decisions.has_changed |= code == RM_OK;
    if (code == RM_OK)
        return RM_OK;
    return rm_fail(error, code, "%g:%s=%s: %s", event->at, event->name, event->value, reason.text);
}

/** An event of the ring, by the word of this program for it: "trip=NAME" is "event: trip, supply: NAME". */
static enum rm_code happen(struct rm_simulation *simulation, struct rm_event const *event, struct rm_error *error) {
    static struct {
        char const *name, *words;
    } const known[] = {{"event", "event: %s"},
                       {"trip", "event: trip, supply: \"%s\""},
                       {"reset", "event: reset, supply: \"%s\""},
                       {"freeze", "event: frozen, instrument: \"%s\""},
                       {"back", "event: good, instrument: \"%s\""}};
    for (size_t k = 0; k < sizeof known / sizeof known[0]; ++k) {
        char words[RM_EVENT_WORDS_BYTES];
        struct rm_error reason;
        char const *place = strstr(known[k].words, "%s");
        if (strcmp(event->name, known[k].name) != 0)
            continue;
        snprintf(words, sizeof words, "%.*s%s%s", (int)(place - known[k].words), known[k].words, event->value,
                 place + 2);
        enum rm_code const code = rm_plant_event(&simulation->plant, words, &reason);
        if (code != RM_OK)
            rm_fail(error, code, "%g:%s=%s: %s", event->at, event->name, event->value, reason.text);
        return code;
    }
    return RM_E_ABSENT;
}

/** What is not the application's own is nothing in a replay: its effects are in the recording. */
static enum rm_code befall_ring(struct rm_simulation *simulation, struct rm_event const *event,
                                struct rm_error *error) {
    static char const KNOB[] = "machine/";
    if (simulation->replays)
        return RM_OK;
    bool const feeds = strcmp(event->name, "drop") == 0 || strcmp(event->name, "back") == 0;
    enum rm_code const fed = feeds ? rm_feed_befall(&simulation->feed, event->name, event->value, error) : RM_OK;
    enum rm_code const happened = fed == RM_OK ? happen(simulation, event, error) : fed;
    if (happened != RM_E_ABSENT || feeds)
        return happened == RM_E_ABSENT ? RM_OK : happened;
    if (strncmp(event->name, KNOB, sizeof KNOB - 1) == 0) {
        double value;
        enum rm_code const code = parse_value(event, &value, error);
        return code == RM_OK ? rm_plant_set(&simulation->plant, event->name + sizeof KNOB - 1, value, error) : code;
    }
    return rm_fail(error, RM_E_ARGUMENT,
                   "%g:%s=%s: expected %s/SETTING, machine/KNOB, drop, freeze, back, trip, reset or event before =",
                   event->at, event->name, event->value, simulation->program->setup.name);
}

enum rm_code rm_simulation_happen(struct rm_simulation *simulation, struct rm_event const *event,
                                  struct rm_error *error) {
    char const *own = simulation->program->setup.name;
    size_t const bytes = strlen(own);
    bool const is_setting = strncmp(event->name, own, bytes) == 0 && event->name[bytes] == '/';
    return is_setting ? set_setting(simulation, event, event->name + bytes + 1, error)
                      : befall_ring(simulation, event, error);
}
