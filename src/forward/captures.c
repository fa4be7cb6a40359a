// SPDX-License-Identifier: Apache-2.0
#include "forward/captures.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/mailbox_ask.h"
#include "base/zeroed.h"
#include "capture/capture.h"

struct captured {
    /** Bit n: port n. None: it ends as soon as no core puts frames into it. */
    uint32_t ports;
    /** NULL: there is no such capture. */
    struct rm_capture *capture;
    char path[PATH_MAX];
};

struct rm_captures {
    struct rm_captures_setup setup;
    struct rm_captures_core core[RM_ROUTES_READERS_MAX];
    /** Each port is in one at most. */
    struct captured captured[RM_FORWARD_PORTS_MAX];
};

struct rm_captures *rm_captures_make(struct rm_captures_setup const *setup) {
    struct rm_captures *const captures = rm_zeroed(1, sizeof *captures);
    if (captures != NULL)
        captures->setup = *setup;
    return captures;
}

void rm_captures_free(struct rm_captures *captures) {
    struct rm_capture_counts counts;
    for (uint32_t i = 0; captures != NULL && i < RM_FORWARD_PORTS_MAX; ++i)
        if (captures->captured[i].capture != NULL)
            rm_capture_stop(captures->captured[i].capture, &counts, NULL);
    free(captures);
}

struct rm_captures_core *rm_captures_core(struct rm_captures *captures, uint32_t core) {
    return &captures->core[core];
}

static void find_rings(struct rm_captures *captures, uint32_t core, struct rm_capture_ring **ring) {
    for (uint32_t port = 0; port < RM_FORWARD_PORTS_MAX; ++port) {
        ring[port] = NULL;
        for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i)
            if ((captures->captured[i].ports & 1u << port) != 0)
                ring[port] = rm_capture_ring_of(captures->captured[i].capture, core);
    }
}

/** Has all cores put frames where the captures say. RM_E_SYSTEM: some may still put them where they did before. */
static enum rm_code tell_cores(struct rm_captures *captures, struct rm_error *error) {
    for (uint32_t i = 0; i < captures->setup.core_count; ++i) {
        struct rm_captures_core *const core = &captures->core[i];
        find_rings(captures, i, core->wanted);
        if (!rm_mailbox_ask(&core->mailbox))
            return rm_fail(error, RM_E_SYSTEM,
                           "forwarding core %u has stood still for %d s; see that its role runs, and say this again", i,
                           RM_MAILBOX_ANSWER_S);
        rm_mailbox_close(&core->mailbox);
    }
    return RM_OK;
}

/** Ports by their names, with commas between: those of the router. */
static enum rm_code read_ports(struct rm_captures const *captures, char const *words, uint32_t *ports,
                               struct rm_error *error) {
    bool const all = strcmp(words, "all") == 0;
    *ports = 0;
    for (char const *word = words; word != NULL;) {
        size_t const length = strcspn(word, ",");
        uint32_t found = 0;
        for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i) {
            char const *const name = captures->setup.port[i];
            if (name != NULL && (all || (strlen(name) == length && memcmp(name, word, length) == 0)))
                found |= 1u << i;
        }
        if (found == 0)
            return rm_fail(error, RM_E_ARGUMENT,
                           "found \"%s\", of which \"%.*s\" is no port of the router; expected all, or ports with "
                           "commas between",
                           words, (int)length, word);
        *ports |= found;
        word = word[length] == ',' ? word + length + 1 : NULL;
    }
    return RM_OK;
}

static void print_counts(FILE *answer, char const *path, struct rm_capture_counts const *counts) {
    fprintf(answer,
            "%s: %" PRIu64 " frames, %" PRIu64 " bytes, lost %" PRIu64 " (the file was behind), %" PRIu64
            " (it is full)\n",
            path, counts->written, counts->bytes, counts->ring_full, counts->file_full);
}

/** Ends captures without ports, which no core puts frames into any more, and tells what they have. */
static enum rm_code end_idle(struct rm_captures *captures, FILE *answer, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i) {
        struct captured *const one = &captures->captured[i];
        struct rm_capture_counts counts;
        if (one->capture == NULL || one->ports != 0)
            continue;
        enum rm_code const ended = rm_capture_stop(one->capture, &counts, code == RM_OK ? error : NULL);
        code = code == RM_OK ? ended : code;
        one->capture = NULL;
        print_counts(answer, one->path, &counts);
    }
    return code;
}

/** From now on these ports are in this capture, or in none where it is NULL. */
static enum rm_code move_ports(struct rm_captures *captures, uint32_t ports, struct captured *into, FILE *answer,
                               struct rm_error *error) {
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i)
        captures->captured[i].ports &= ~ports;
    if (into != NULL)
        into->ports = ports;
    enum rm_code const code = tell_cores(captures, error);
    return code == RM_OK ? end_idle(captures, answer, error) : code;
}

static enum rm_code capture_off(void *context, struct rm_arguments const *arguments, FILE *answer,
                                struct rm_error *error) {
    uint32_t ports;
    enum rm_code const code = read_ports(context, arguments->word[0], &ports, error);
    return code == RM_OK ? move_ports(context, ports, NULL, answer, error) : code;
}

/** Opens a file for a capture that no port is in yet. */
static enum rm_code open_capture(struct rm_captures *captures, char const *path, struct captured **opened,
                                 struct rm_error *error) {
    *opened = NULL;
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i) {
        struct captured *const one = &captures->captured[i];
        if (one->capture == NULL)
            *opened = one;
        else if (strcmp(one->path, path) == 0)
            return rm_fail(error, RM_E_ARGUMENT, "%s is being written by another capture, see `capture show`", path);
    }
    if (*opened == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "there are %d captures already; end one by `capture PORTS off`",
                       RM_FORWARD_PORTS_MAX);
    struct rm_capture_plan const plan = {.path = path,
                                         .ring_count = captures->setup.core_count,
                                         .longest_frame = captures->setup.longest_frame,
                                         .tsc_hz = captures->setup.tsc_hz};
    snprintf((*opened)->path, sizeof(*opened)->path, "%s", path);
    return rm_capture_start(&plan, &(*opened)->capture, error);
}

static enum rm_code capture_begin(void *context, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    uint32_t ports;
    struct captured *into;
    enum rm_code code = read_ports(context, arguments->word[0], &ports, error);
    if (code == RM_OK)
        code = open_capture(context, arguments->word[1], &into, error);
    return code == RM_OK ? move_ports(context, ports, into, answer, error) : code;
}

static enum rm_code capture_show(void *context, struct rm_arguments const *arguments, FILE *answer,
                                 struct rm_error *error) {
    struct rm_captures const *const captures = context;
    (void)arguments;
    (void)error;
    for (uint32_t i = 0; i < RM_FORWARD_PORTS_MAX; ++i) {
        struct captured const *const one = &captures->captured[i];
        struct rm_capture_counts counts;
        if (one->capture == NULL)
            continue;
        for (uint32_t port = 0; port < RM_FORWARD_PORTS_MAX; ++port)
            if ((one->ports & 1u << port) != 0)
                fprintf(answer, "%s ", captures->setup.port[port]);
        rm_capture_count(one->capture, &counts);
        print_counts(answer, one->path, &counts);
    }
    return RM_OK;
}

static struct rm_command const commands[] = {
    {"capture PORTS off", "ends their capture; PORTS: names with commas between, or all", capture_off},
    {"capture PORTS FILE", "writes what they receive and send into a file that tshark reads", capture_begin},
    {"capture show", "lists captures, and what they have", capture_show},
};

void rm_captures_commands(struct rm_captures *captures, struct rm_command_table *table) {
    *table = (struct rm_command_table){commands, sizeof commands / sizeof commands[0], captures};
}
