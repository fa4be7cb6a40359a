// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static void print_server(struct rm_config_server const *server, FILE *out) {
    fprintf(out, "%s at", server->name);
    for (uint32_t i = 0; i < server->link_count; i++) {
        fputs(i == 0 ? " " : " and ", out);
        rm_config_print_ipv4(server->link[i].ipv4, out);
        fprintf(out, ":%u", server->link[i].port);
    }
}

void rm_config_describe_standby(struct rm_config const *config, FILE *out) {
    struct rm_config_standby const *const standby = &config->standby;
    double const cycle_s = config->setpoints.period_turns / config->turn_rate_hz;
    if (!standby->present)
        return;
    fprintf(out, "standby: this is server %s; ", standby->server[standby->own].name);
    print_server(&standby->server[0], out);
    fputs(", and ", out);
    print_server(&standby->server[1], out);
    fprintf(out,
            "\n  the standby takes over after %u missed cycles (%.4g ms), if most of the chains agree; where no server "
            "sends, %s begins after %.3g s\n  key %s\n",
            standby->missed_cycles, 1e3 * standby->missed_cycles * cycle_s, standby->server[0].name,
            standby->begin_cycles * cycle_s, standby->key_path);
}

/** What rm_config_describe prints, to be freed; NULL: there is no memory. */
static char *described(struct rm_config const *config) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *const out = open_memstream(&text, &bytes);
    if (out == NULL)
        return NULL;
    rm_config_describe(config, out);
    if (fclose(out) == 0)
        return text;
    free(text);
    return NULL;
}

/** True where `text` has this line, of so many bytes with its line feed. */
static bool has_line(char const *text, char const *line, size_t bytes) {
    for (char const *at = text; *at != '\0'; at += strcspn(at, "\n") + 1)
        if (strncmp(at, line, bytes) == 0)
            return true;
    return false;
}

void rm_config_describe_pair(struct rm_config const *first, struct rm_config const *second, FILE *out) {
    char *const one = described(first), *const two = described(second);
    if (one != NULL && two != NULL) {
        fprintf(out, "server %s of two\n%s\nserver %s: all of that, but\n", first->standby.server[0].name, one,
                first->standby.server[1].name);
        for (char const *line = two; *line != '\0'; line += strcspn(line, "\n") + 1) {
            size_t const bytes = strcspn(line, "\n") + 1;
            if (!has_line(one, line, bytes))
                fwrite(line, 1, bytes, out);
        }
    }
    free(one);
    free(two);
}
