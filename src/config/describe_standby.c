// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"
#include "config/remarks.h"

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

/** What each server should have of its own, unless they are far apart. */
static void remark_shared(struct rm_config const *first, struct rm_config const *second, FILE *out) {
    struct rm_config_remarks remarks = {.out = out};
    for (uint32_t p = 0; p < first->port_count && p < second->port_count; p++) {
        struct rm_config_port const *const one = &first->port[p], *const two = &second->port[p];
        if (one->answer_ipv4 != 0 && one->answer_ipv4 == two->answer_ipv4)
            rm_config_remark(
                &remarks,
                "both servers have the same \"answer\" on port \"%s\": on one network each needs an address "
                "of its own, such as 10.30.0.25{number}",
                one->port.name);
        if (one->port.socket_path[0] != '\0' && strcmp(one->port.socket_path, two->port.socket_path) == 0)
            rm_config_remark(&remarks, "both servers have the socket %s on port \"%s\": they cannot be on one host",
                             one->port.socket_path, one->port.name);
    }
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
        remark_shared(first, second, out);
    }
    free(one);
    free(two);
}
