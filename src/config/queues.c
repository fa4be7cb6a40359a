// SPDX-License-Identifier: Apache-2.0
#include "config/resolve.h"

#include <stdio.h>
#include <string.h>

enum rm_code rm_config_fail_queue(struct rm_config const *config, struct rm_error *error,
                                  struct rm_config_queue_name const *name, char const *problem) {
    char member[32];
    snprintf(member, sizeof member, "%s[%u]", name->list, name->entry);
    return rm_config_fail_entry(config, error, "roles", name->role, member, "%s", problem);
}

enum rm_code rm_config_read_queues(struct rm_config const *config, struct rm_error *error,
                                   struct rm_config_queue_name const *name, struct rm_config_queue *queue,
                                   uint16_t *end) {
    char problem[256];
    char guess[64];
    char const *const text = name->text;
    size_t const name_bytes = strcspn(text, "/");
    queue->port = rm_config_find_port(config, text, name_bytes);
    if (queue->port == config->port_count) {
        snprintf(problem, sizeof problem, "found \"%s\", expected the name of a port%s", text,
                 rm_config_guess_port(config, text, guess, sizeof guess));
        return rm_config_fail_queue(config, error, name, problem);
    }
    if (config->port[queue->port].cameras)
        return rm_config_fail_queue(config, error, name,
                                    "cameras send to this port, which their receiver polls, expected another port");
    uint16_t const queues = config->port[queue->port].port.queues;
    uint32_t number = 0;
    bool const all = text[name_bytes] == '\0';
    if (!all && !rm_config_read_number(text + name_bytes + 1, queues - 1u, &number)) {
        snprintf(problem, sizeof problem, "found \"%s\", expected a queue from 0 to %u, such as \"%s/%u\"", text,
                 queues - 1u, config->port[queue->port].port.name, queues - 1u);
        return rm_config_fail_queue(config, error, name, problem);
    }
    queue->queue = (uint16_t)number;
    *end = all ? queues : (uint16_t)(number + 1);
    return RM_OK;
}

/* Index of a queue in its role's list; queue_count where it is not. */
static uint32_t find_queue(struct rm_config_role const *role, struct rm_config_queue queue) {
    uint32_t i = 0;
    while (i < role->queue_count && (role->queue[i].port != queue.port || role->queue[i].queue != queue.queue))
        i++;
    return i;
}

/* Moves one queue to the end of those that are served first; the order of the others stays. */
static enum rm_code put_first(struct rm_config *config, struct rm_error *error, struct rm_config_queue_name const *name,
                              struct rm_config_queue queue) {
    struct rm_config_role *const role = &config->role[name->role];
    uint32_t const found = find_queue(role, queue);
    if (found == role->queue_count)
        return rm_config_fail_queue(config, error, name, "this role does not poll it, expected one of its own ports");
    if (found < role->first_count)
        return rm_config_fail_queue(config, error, name, "this is already served first, expected it once");
    struct rm_config_queue *const place = &role->queue[role->first_count++];
    memmove(place + 1, place, (size_t)(&role->queue[found] - place) * sizeof *place);
    *place = queue;
    return RM_OK;
}

static enum rm_code put_entry_first(struct rm_config *config, struct rm_error *error,
                                    struct rm_config_queue_name const *name) {
    struct rm_config_queue queue = {0};
    uint16_t end = 0;
    enum rm_code code = rm_config_read_queues(config, error, name, &queue, &end);
    for (; code == RM_OK && queue.queue < end; queue.queue++)
        code = put_first(config, error, name, queue);
    return code;
}

enum rm_code rm_config_put_first(struct rm_config *config, struct rm_error *error, uint32_t role,
                                 struct rm_file_role const *written) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < written->first_count && code == RM_OK; i++)
        code = put_entry_first(config, error, &(struct rm_config_queue_name){role, "first", i, written->first[i]});
    if (code == RM_OK && config->role[role].first_count == config->role[role].queue_count)
        return rm_config_fail_entry(config, error, "roles", role, "first",
                                    "all that this role polls is in it, expected some of its ports, not all");
    return code;
}
