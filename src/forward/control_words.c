// SPDX-License-Identifier: Apache-2.0
/* Commands of the router. What each does is done under the control side's lock. */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "base/json.h"
#include "forward/control_parts.h"
#include "forward/control_words.h"
#include "wire/address.h"

enum rm_code rm_control_find_interface(struct rm_control const *control, char const *name, uint32_t *interface,
                                       struct rm_error *error) {
    *interface = rm_interfaces_named(control->setup.interfaces, name);
    return *interface != RM_INTERFACE_NONE
               ? RM_OK
               : rm_fail(error, RM_E_ARGUMENT, "there is no interface \"%s\"; `interface show` lists those there are",
                         name);
}

/** Reads the options that follow: "by INTERFACE". */
static enum rm_code read_by(struct rm_control const *control, struct rm_arguments const *arguments, uint32_t at,
                            uint32_t *interface, struct rm_error *error) {
    if (at == arguments->count)
        return RM_OK;
    if (at + 2 != arguments->count || strcmp(arguments->word[at], "by") != 0)
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected by INTERFACE, or nothing more",
                       arguments->word[at]);
    return rm_control_find_interface(control, arguments->word[at + 1], interface, error);
}

/* ── neighbours ── */

/** The address and the interface of a neighbour: given, or that whose network it is in. */
static enum rm_code read_neighbour(struct rm_control const *control, struct rm_arguments const *arguments, uint32_t by,
                                   struct rm_ip *ip, uint32_t *interface, struct rm_error *error) {
    if (!rm_ip_parse(arguments->word[0], ip) || !rm_ip_is_host(ip))
        return rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected the address of one host, such as 10.0.0.2",
                       arguments->word[0]);
    *interface = rm_interfaces_of_network(control->setup.interfaces, ip);
    enum rm_code const code = read_by(control, arguments, by, interface, error);
    if (code == RM_OK && *interface == RM_INTERFACE_NONE)
        return rm_fail(error, RM_E_ARGUMENT, "no interface has a network with %s, expected by INTERFACE too",
                       arguments->word[0]);
    return code;
}

static enum rm_code neighbour_add(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)answer;
    struct rm_ip ip;
    uint32_t interface = RM_INTERFACE_NONE;
    uint8_t mac[6];
    enum rm_code const code = read_neighbour(control, arguments, 2, &ip, &interface, error);
    if (code != RM_OK)
        return code;
    if (!rm_mac_parse(arguments->word[1], mac) || (mac[0] & 1) != 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "found \"%s\", expected the MAC address of one host, such as "
                       "02:00:0a:00:00:03",
                       arguments->word[1]);
    return rm_neighbours_set(control->neighbours, interface, &ip, mac, false, error);
}

static enum rm_code neighbour_del(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)answer;
    struct rm_ip ip;
    uint32_t interface = RM_INTERFACE_NONE;
    enum rm_code const code = read_neighbour(control, arguments, 1, &ip, &interface, error);
    return code == RM_OK ? rm_neighbours_remove(control->neighbours, interface, &ip, error) : code;
}

struct neighbour_list {
    struct rm_control const *control;
    FILE *answer;
    bool json;
    uint32_t count;
};

static bool print_neighbour(void *context, struct rm_neighbour const *neighbour) {
    struct neighbour_list *const list = context;
    char ip[RM_IP_TEXT_BYTES], mac[18], since[24] = "null";
    char const *const interface = list->control->setup.interfaces->interface[neighbour->interface].name;
    char const *const state = rm_neighbour_state_name(neighbour->state);
    bool const known = neighbour->state != RM_NEIGHBOUR_INCOMPLETE && neighbour->state != RM_NEIGHBOUR_FAILED;
    rm_ip_format(&neighbour->ip, ip);
    rm_mac_format(neighbour->mac, mac);
    if (neighbour->since_ms != UINT64_MAX)
        snprintf(since, sizeof since, "%" PRIu64, neighbour->since_ms);
    if (list->json)
        fprintf(list->answer,
                "%s{\"address\": \"%s\", \"interface\": \"%s\", \"state\": \"%s\", \"mac\": %s%s%s, \"waiting\": %u, "
                "\"answered_ms_ago\": %s}\n",
                list->count != 0 ? "," : "", ip, interface, state, known ? "\"" : "", known ? mac : "null",
                known ? "\"" : "", neighbour->waiting, since);
    else
        fprintf(list->answer, "%s by %s %s %s\n", ip, interface, known ? mac : "-", state);
    ++list->count;
    return true;
}

static bool wants_json(struct rm_arguments const *arguments) {
    return arguments->count == 1 && strcmp(arguments->word[0], "json") == 0;
}

enum rm_code rm_control_show_as(struct rm_arguments const *arguments, bool *json, struct rm_error *error) {
    *json = wants_json(arguments);
    return *json || arguments->count == 0
               ? RM_OK
               : rm_fail(error, RM_E_ARGUMENT, "found \"%s\", expected json, or nothing more", arguments->word[0]);
}

static enum rm_code neighbour_show(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                   struct rm_error *error) {
    struct neighbour_list list = {.control = control, .answer = answer};
    enum rm_code const code = rm_control_show_as(arguments, &list.json, error);
    if (code != RM_OK)
        return code;
    fputs(list.json ? "[\n" : "", answer);
    rm_neighbours_list(control->neighbours, control->now_ms, print_neighbour, &list);
    fputs(list.json ? "]\n" : "", answer);
    return RM_OK;
}

/* ── interfaces ── */

static void print_interface(struct rm_control const *control, struct rm_router_interface const *interface,
                            FILE *answer) {
    char mac[18], ip[RM_IP_TEXT_BYTES];
    struct rm_control_port const *const port = &control->setup.port[interface->wire.port];
    rm_mac_format(interface->wire.mac, mac);
    fprintf(answer, "%s %s %s mtu %u", interface->name, interface->wire.up ? "up" : "down", mac, interface->wire.mtu);
    for (uint32_t i = 0; i < interface->address_count; ++i) {
        rm_ip_format(&interface->address[i].ip, ip);
        fprintf(answer, " %s/%u", ip, interface->address[i].length);
    }
    if (interface->kernel_index != 0)
        fprintf(answer, " kernel %s", port->kernel_interface);
    fputc('\n', answer);
}

static void print_interface_json(struct rm_control const *control, struct rm_router_interface const *interface,
                                 FILE *answer) {
    char mac[18], ip[RM_IP_TEXT_BYTES];
    struct rm_control_port const *const port = &control->setup.port[interface->wire.port];
    rm_mac_format(interface->wire.mac, mac);
    fprintf(answer,
            "{\"name\": \"%s\", \"port\": \"%s\", \"vlan\": %u, \"up\": %s, \"mac\": \"%s\", \"mtu\": %u, "
            "\"fragment\": %s, \"kernel_interface\": ",
            interface->name, port->name, interface->wire.vlan, interface->wire.up ? "true" : "false", mac,
            interface->wire.mtu, interface->wire.fragments ? "true" : "false");
    if (interface->kernel_index != 0)
        rm_json_text(answer, port->kernel_interface);
    else
        fputs("null", answer);
    fputs(", \"addresses\": [", answer);
    for (uint32_t i = 0; i < interface->address_count; ++i) {
        rm_ip_format(&interface->address[i].ip, ip);
        fprintf(answer, "%s\"%s/%u\"", i != 0 ? ", " : "", ip, interface->address[i].length);
    }
    fputs("]}\n", answer);
}

static enum rm_code interface_show(struct rm_control *control, struct rm_arguments const *arguments, FILE *answer,
                                   struct rm_error *error) {
    struct rm_router_interfaces const *const interfaces = control->setup.interfaces;
    bool json;
    enum rm_code const code = rm_control_show_as(arguments, &json, error);
    if (code != RM_OK)
        return code;
    fputs(json ? "[\n" : "", answer);
    for (uint32_t i = 0; i < interfaces->count; ++i) {
        fputs(json && i != 0 ? "," : "", answer);
        (json ? print_interface_json : print_interface)(control, &interfaces->interface[i], answer);
    }
    fputs(json ? "]\n" : "", answer);
    return RM_OK;
}

/* ── the table ── */

/** Does a command under the lock. The next turn of the control side lets the cores see it, within a millisecond: many
 * commands one after the other wait for the cores once, not each. */
static enum rm_code locked(void *context, rm_control_word *word, struct rm_arguments const *arguments, FILE *answer,
                           struct rm_error *error) {
    struct rm_control *const control = context;
    pthread_mutex_lock(&control->lock);
    enum rm_code const code = word(control, arguments, answer, error);
    pthread_mutex_unlock(&control->lock);
    return code;
}

static enum rm_code route_via(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    return locked(context, rm_control_route_via, arguments, answer, error);
}

static enum rm_code route_by(void *context, struct rm_arguments const *arguments, FILE *answer,
                             struct rm_error *error) {
    return locked(context, rm_control_route_by, arguments, answer, error);
}

static enum rm_code route_drop(void *context, struct rm_arguments const *arguments, FILE *answer,
                               struct rm_error *error) {
    return locked(context, rm_control_route_drop, arguments, answer, error);
}

static enum rm_code route_del(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    return locked(context, rm_control_route_del, arguments, answer, error);
}

static enum rm_code route_show(void *context, struct rm_arguments const *arguments, FILE *answer,
                               struct rm_error *error) {
    return locked(context, rm_control_route_show, arguments, answer, error);
}

static enum rm_code route_get(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    return locked(context, rm_control_route_get, arguments, answer, error);
}

static enum rm_code neighbour_add_run(void *context, struct rm_arguments const *arguments, FILE *answer,
                                      struct rm_error *error) {
    return locked(context, neighbour_add, arguments, answer, error);
}

static enum rm_code neighbour_del_run(void *context, struct rm_arguments const *arguments, FILE *answer,
                                      struct rm_error *error) {
    return locked(context, neighbour_del, arguments, answer, error);
}

static enum rm_code neighbour_show_run(void *context, struct rm_arguments const *arguments, FILE *answer,
                                       struct rm_error *error) {
    return locked(context, neighbour_show, arguments, answer, error);
}

static enum rm_code interface_show_run(void *context, struct rm_arguments const *arguments, FILE *answer,
                                       struct rm_error *error) {
    return locked(context, interface_show, arguments, answer, error);
}

static struct rm_command const commands[] = {
    {"route add PREFIX via ADDRESS …",
     "sends packets for PREFIX to the neighbour ADDRESS [by INTERFACE] [weight N] [via …]", route_via},
    {"route add PREFIX by INTERFACE", "its hosts are on the link of INTERFACE itself", route_by},
    {"route add PREFIX ACTION", "drops them: blackhole, unreachable or prohibited", route_drop},
    {"route del PREFIX", "takes a route away that the file or a command has added", route_del},
    {"route get ADDRESS", "the route that packets to ADDRESS take", route_get},
    {"route show …", "lists routes, their sources, and whether they are used [json]", route_show},
    {"neighbour add ADDRESS MAC …", "a host whose MAC is known, and never asked for [by INTERFACE]", neighbour_add_run},
    {"neighbour del ADDRESS …", "forgets a neighbour [by INTERFACE]", neighbour_del_run},
    {"neighbour show …", "lists neighbours [json]", neighbour_show_run},
    {"interface show …", "lists interfaces [json]", interface_show_run},
};

void rm_control_commands(struct rm_control *control, struct rm_command_table *table) {
    *table = (struct rm_command_table){commands, sizeof commands / sizeof commands[0], control};
}
