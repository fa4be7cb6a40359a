// SPDX-License-Identifier: Apache-2.0
#include "traffic/test_words_rig.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void note(struct words_rig *rig, char const *format, ...) __attribute__((format(printf, 2, 3)));

static void note(struct words_rig *rig, char const *format, ...) {
    size_t const used = strlen(rig->done);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(rig->done + used, sizeof rig->done - used, format, arguments);
    va_end(arguments);
}

static enum rm_code note_describe(void *generator, uint32_t port, struct rm_traffic const *traffic,
                                  struct rm_error *error) {
    struct words_rig *const rig = generator;
    rig->traffic[port] = *traffic;
    rig->described++;
    return rm_traffic_check(traffic, rig->words.port[port].longest_frame, error);
}

static enum rm_code note_start(void *generator, uint32_t port, struct rm_error *error) {
    (void)error;
    note(generator, "start %u;", port);
    return RM_OK;
}

static enum rm_code note_stop(void *generator, uint32_t port, struct rm_error *error) {
    (void)error;
    note(generator, "stop %u;", port);
    return RM_OK;
}

static enum rm_code note_ask(void *generator, uint32_t port, enum rm_traffic_question what, uint32_t count,
                             struct rm_error *error) {
    (void)error;
    note(generator, "ask %u %d %u;", port, (int)what, count);
    return RM_OK;
}

static enum rm_code note_capture(void *generator, uint32_t port, char const *path, struct rm_error *error) {
    (void)error;
    note(generator, "capture %u %s;", port, path != NULL ? path : "off");
    return RM_OK;
}

static enum rm_code note_replay(void *generator, uint32_t port, char const *path, double speed, uint64_t laps,
                                struct rm_error *error) {
    (void)error;
    note(generator, "replay %u %s %g %llu;", port, path != NULL ? path : "off", speed, (unsigned long long)laps);
    return RM_OK;
}

static enum rm_code note_instruments(void *generator, uint32_t port, char const *path, char const *pattern,
                                     uint64_t first_turn, struct rm_error *error) {
    (void)error;
    note(generator, "instruments %u %s %s %llu;", port, path, pattern, (unsigned long long)first_turn);
    return RM_OK;
}

static void tell_state(void *generator, uint32_t port, struct rm_traffic_state *state) {
    (void)generator;
    (void)port;
    state->link_up = true;
}

static bool tell_flow(void *generator, uint32_t port, uint32_t index, struct rm_traffic_flow_state *flow) {
    (void)generator;
    (void)port;
    *flow = (struct rm_traffic_flow_state){.sent = 10, .received = 8, .lost = 2};
    return index == 0;
}

static struct rm_traffic_actions const ACTIONS = {
    .describe = note_describe,
    .start = note_start,
    .stop = note_stop,
    .ask = note_ask,
    .capture = note_capture,
    .replay = note_replay,
    .instruments = note_instruments,
    .state = tell_state,
    .flow = tell_flow,
};

int rig_make(void **state) {
    static char const *const NAME[RIG_PORTS] = {"left", "right", "a-b"};
    struct words_rig *const rig = calloc(1, sizeof *rig);
    if (rig == NULL)
        return -1;
    rig->words.port_count = RIG_PORTS;
    rig->words.actions = &ACTIONS;
    rig->words.generator = rig;
    for (uint32_t i = 0; i < RIG_PORTS; i++) {
        struct rm_traffic_words_port *const port = &rig->words.port[i];
        strcpy(port->name, NAME[i]);
        strcpy(port->kind, "memif");
        snprintf(port->device, sizeof port->device, "/run/%s.sock", NAME[i]);
        memcpy(port->mac, (uint8_t const[]){0x02, 0xAA, 0xBB, 0xCC, 0xDD, (uint8_t)(i + 1)}, 6);
        port->longest_frame = i == 1 ? 9600 : 1514;
    }
    rm_traffic_words_begin(&rig->words);
    for (uint32_t i = 0; i < RIG_PORTS; i++)
        rm_traffic_settings_resolve(&rig->words.port[i].settings, &rig->traffic[i], NULL);
    *state = rig;
    return 0;
}

int rig_free(void **state) {
    struct words_rig *const rig = *state;
    free(rig->answer);
    free(rig);
    return 0;
}

enum rm_code rig_say(struct words_rig *rig, char const *line) {
    struct rm_command_table const table = rm_traffic_words_table(&rig->words);
    size_t length;
    free(rig->answer);
    rig->answer = NULL;
    rig->done[0] = rig->error.text[0] = '\0';
    FILE *const out = open_memstream(&rig->answer, &length);
    if (out == NULL)
        return RM_E_NO_SPACE;
    enum rm_code const code = rm_command_run(&table, 1, line, out, &rig->error);
    fclose(out);
    return code;
}
