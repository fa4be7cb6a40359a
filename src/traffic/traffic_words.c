// SPDX-License-Identifier: Apache-2.0
/* The table of the generator's words, and what all words that change settings have in common. */
#include "traffic/traffic_words.h"

#include <string.h>

#include "base/nearest.h"
#include "base/options.h"
#include "traffic/words_parts.h"

/* ── lists of ports ── */

static uint32_t find_port(struct rm_traffic_words const *words, char const *name) {
    uint64_t number;
    for (uint32_t i = 0; i < words->port_count; i++)
        if (strcmp(words->port[i].name, name) == 0)
            return i;
    return rm_whole_parse(name, 0, words->port_count - 1, &number) ? (uint32_t)number : words->port_count;
}

static enum rm_code fail_port(struct rm_traffic_words const *words, char const *name, struct rm_error *error) {
    struct rm_nearest nearest = {.wanted = name};
    char list[RM_ERROR_TEXT_BYTES / 2] = "", quoted[RM_QUOTED_BYTES];
    for (uint32_t i = 0; i < words->port_count; i++) {
        size_t const used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%s", i == 0 ? "" : ", ", words->port[i].name);
        rm_nearest_offer(&nearest, words->port[i].name);
    }
    return rm_fail(error, RM_E_ARGUMENT,
                   "ports: found %s, expected \"all\", numbers from 0 to %u, or names of %s%s%s%s",
                   rm_quote(name, strlen(name), quoted), words->port_count - 1, list,
                   nearest.name != NULL ? " (did you mean \"" : "", nearest.name != NULL ? nearest.name : "",
                   nearest.name != NULL ? "\"?)" : "");
}

/* One part of a list: a port, all, or from one to another. */
static enum rm_code read_part(struct rm_traffic_words const *words, char *part, uint32_t *ports,
                              struct rm_error *error) {
    uint32_t first = find_port(words, part), last = first;
    char *const dash = strchr(part, '-');
    if (strcmp(part, "all") == 0) {
        first = 0;
        last = words->port_count - 1;
    } else if (first == words->port_count && dash != NULL) {
        *dash = '\0';
        first = find_port(words, part);
        last = find_port(words, dash + 1);
        *dash = '-';
    }
    if (first > last || last >= words->port_count)
        return fail_port(words, part, error);
    for (uint32_t i = first; i <= last; i++)
        *ports |= 1u << i;
    return RM_OK;
}

enum rm_code rm_traffic_read_ports(struct rm_traffic_words const *words, char const *text, uint32_t *ports,
                                   struct rm_error *error) {
    char list[RM_COMMAND_LINE_BYTES];
    snprintf(list, sizeof list, "%s", text);
    enum rm_code code = RM_OK;
    *ports = 0;
    for (char *part = list, *comma; part != NULL && code == RM_OK; part = comma) {
        comma = strchr(part, ',');
        if (comma != NULL)
            *comma++ = '\0';
        code = read_part(words, part, ports, error);
    }
    return code;
}

/* ── changing settings ── */

static enum rm_code port_fail(struct rm_traffic_words const *words, uint32_t port, enum rm_code code,
                              struct rm_error *error) {
    struct rm_error const reason = *error;
    return words->port_count == 1 ? code : rm_fail(error, code, "%s: %s", words->port[port].name, reason.text);
}

/* Changes one port, or tries whether that is possible. */
static enum rm_code port_change(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                                rm_traffic_change *change, bool only_try, struct rm_error *error) {
    struct rm_traffic_words_port *const changed = &words->port[port];
    struct rm_traffic_settings settings = changed->settings;
    struct rm_traffic traffic;
    struct rm_error reason = {.text = ""};
    enum rm_code code = change(&settings, arguments, &reason);
    if (code == RM_OK)
        code = rm_traffic_settings_resolve(&settings, &traffic, &reason);
    if (code == RM_OK)
        code = rm_traffic_check(&traffic, changed->longest_frame, &reason);
    if (code == RM_OK && !only_try)
        code = words->actions->describe(words->generator, port, &traffic, &reason);
    if (code == RM_OK && !only_try)
        changed->settings = settings;
    if (code == RM_OK)
        return RM_OK;
    if (error != NULL)
        *error = reason;
    return error != NULL ? port_fail(words, port, code, error) : code;
}

enum rm_code rm_traffic_words_change(struct rm_traffic_words *words, struct rm_arguments const *arguments,
                                     rm_traffic_change *change, struct rm_error *error) {
    uint32_t ports = 0;
    enum rm_code code = rm_traffic_read_ports(words, arguments->word[0], &ports, error);
    for (uint32_t step = 0; step < 2; step++)
        for (uint32_t i = 0; i < words->port_count && code == RM_OK; i++)
            if ((ports >> i & 1) != 0)
                code = port_change(words, i, arguments, change, step == 0, error);
    return code;
}

void rm_traffic_words_default(struct rm_traffic_words const *words, uint32_t port,
                              struct rm_traffic_settings *settings) {
    static uint8_t const NONE[6] = {0};
    uint8_t const *const mac = words->port[port].mac;
    rm_traffic_settings_default(settings, port);
    if (memcmp(mac, NONE, sizeof NONE) == 0)
        return;
    uint64_t value = 0;
    for (uint32_t i = 0; i < sizeof NONE; i++)
        value = value << 8 | mac[i];
    struct rm_traffic_field const source = {.start = value, .min = value, .max = value};
    settings->base.template[0].field[RM_TRAFFIC_SOURCE_MAC] = source;
    for (uint32_t i = 0; i < RM_TRAFFIC_TEMPLATES_MAX; i++)
        settings->sequence[i].field[RM_TRAFFIC_SOURCE_MAC] = source;
}

void rm_traffic_words_begin(struct rm_traffic_words *words) {
    words->loading = false;
    for (uint32_t i = 0; i < words->port_count; i++)
        rm_traffic_words_default(words, i, &words->port[i].settings);
}

/* ── the table ── */

/* A word that changes settings: its function for the table. */
#define CHANGES(name)                                                                                                  \
    static enum rm_code change_##name(void *context, struct rm_arguments const *arguments, FILE *answer,               \
                                      struct rm_error *error) {                                                        \
        (void)answer;                                                                                                  \
        return rm_traffic_words_change(context, arguments, rm_traffic_##name, error);                                  \
    }
CHANGES(set_rate)
CHANGES(set_line)
CHANGES(set_size)
CHANGES(set_imix)
CHANGES(set_count)
CHANGES(set_burst)
CHANGES(set_mac)
CHANGES(set_ip)
CHANGES(set_sport)
CHANGES(set_dport)
CHANGES(set_type)
CHANGES(set_proto)
CHANGES(set_vlan)
CHANGES(set_cos)
CHANGES(set_tos)
CHANGES(set_ttl)
CHANGES(set_pattern)
CHANGES(set_user)
CHANGES(set_seq_cnt)
CHANGES(set_flows)
CHANGES(set_late)
CHANGES(set_late_max)
CHANGES(set_seed)
CHANGES(range_side)
CHANGES(range_field)
CHANGES(enable)
CHANGES(disable)

/* Pktgen has the number before the ports. */
static enum rm_code change_sequence(void *context, struct rm_arguments const *arguments, FILE *answer,
                                    struct rm_error *error) {
    (void)answer;
    struct rm_arguments turned = *arguments;
    turned.word[0] = arguments->word[1];
    turned.word[1] = arguments->word[0];
    return rm_traffic_words_change(context, &turned, rm_traffic_sequence, error);
}

#define FRAME "DST_MAC SRC_MAC DST_IP SRC_IP SPORT DPORT IPV4|IPV6 UDP|TCP VLAN SIZE"

static struct rm_command const COMMANDS[] = {
    {"start PORTS", "send, from the first frame", rm_traffic_start},
    {"stop PORTS", "send no more", rm_traffic_stop},
    {"str", "start all", rm_traffic_start_all},
    {"stp", "stop all", rm_traffic_stop_all},
    {"set PORTS rate RATE", "percent of the line (99), packets per second (20kpps), or max", change_set_rate},
    {"set PORTS line SPEED", "the line that percents are of: 10G", change_set_line},
    {"set PORTS size BYTES", "of a frame, with its checksum", change_set_size},
    {"set PORTS count FRAMES", "of a start; 0 or forever: until it is stopped", change_set_count},
    {"set PORTS burst FRAMES", "sent back to back; 1 is the smoothest", change_set_burst},
    {"set PORTS SRC|DST mac ADDRESS", "MAC address", change_set_mac},
    {"set PORTS SRC|DST ip ADDRESS", "IP address", change_set_ip},
    {"set PORTS sport PORT", "source port", change_set_sport},
    {"set PORTS dport PORT", "destination port", change_set_dport},
    {"set PORTS type IPV4|IPV6", "what frames carry", change_set_type},
    {"set PORTS proto UDP|TCP", "what that carries", change_set_proto},
    {"set PORTS vlan ID", "of the tag that `enable PORTS vlan` adds", change_set_vlan},
    {"set PORTS vlanid ID", "the same", change_set_vlan},
    {"set PORTS cos PRIORITY", "of that tag", change_set_cos},
    {"set PORTS tos BYTE", "type of service, or traffic class", change_set_tos},
    {"set PORTS ttl HOPS", "time to live, or hop limit", change_set_ttl},
    {"set PORTS pattern ABC|ZERO|USER", "what the payload is", change_set_pattern},
    {"set PORTS user pattern TEXT", "a payload of this text, over and over", change_set_user},
    {"set PORTS seq_cnt FRAMES", "of the sequence that are sent; 0: none", change_set_seq_cnt},
    {"set PORTS flows FLOWS", "of stamped frames, each with its own loss and latency", change_set_flows},
    {"set PORTS late SEND|SKIP", "what becomes of frames whose time has gone", change_set_late},
    {"set PORTS late_max US", "a frame may be sent so late", change_set_late_max},
    {"set PORTS seed NUMBER", "of random fields", change_set_seed},
    {"imix PORTS SIZES", "sizes in turn: 64:7,594:4,1518:1", change_set_imix},
    {"enable PORTS RANGE|RANDOM|VLAN|LATENCY|IMIX|PROCESS", "a feature; process answers ARP and ping", change_enable},
    {"disable PORTS RANGE|RANDOM|VLAN|LATENCY|IMIX|PROCESS", "a feature", change_disable},
    {"range PORTS SRC|DST MAC|IP|PORT START|MIN|MAX|INC VALUE", "values that a field goes through", change_range_side},
    {"range PORTS SPORT|DPORT|VLAN|COS|TOS|TTL|SIZE START|MIN|MAX|INC VALUE", "the same", change_range_field},
    {"seq NUMBER PORTS " FRAME, "a frame of the sequence, 0 to 15; VLAN 0: no tag", change_sequence},
    {"sequence NUMBER PORTS " FRAME, "the same", change_sequence},
    {"start PORTS arp REQUEST|GRATUITOUS", "send an ARP frame, once", rm_traffic_arp},
    {"ping4 PORTS", "send an ICMP echo request; `show PORTS` has the answer", rm_traffic_ping},
    {"ping4 PORTS COUNT", "send so many, a second apart", rm_traffic_ping},
    {"pcap PORTS off", "send the described frames again", rm_traffic_replay},
    {"pcap PORTS FILE …", "send a capture's frames: FILE, SPEED (1 is its own), TIMES", rm_traffic_replay},
    {"instruments PORTS off", "send the described frames again", rm_traffic_replay},
    {"instruments PORTS FILE PATTERN …", "send instruments of a configuration: \"bpm*\"; TURN: from it on, else by TAI",
     rm_traffic_instruments},
    {"capture PORTS off", "end the capture", rm_traffic_capture},
    {"capture PORTS FILE", "write what comes and goes into a capture", rm_traffic_capture},
    {"clear PORTS stats", "count flows from now on", rm_traffic_clear},
    {"clr", "the same, of all ports", rm_traffic_clear_all},
    {"reset PORTS", "stop, and forget all settings", rm_traffic_reset},
    {"rst", "reset all", rm_traffic_reset_all},
    {"show json", "settings and flows of all ports, for programs", rm_traffic_show_json},
    {"show PORTS", "settings", rm_traffic_show},
    {"show PORTS flows", "loss and latency of each flow", rm_traffic_show_flows},
    {"load FILE", "do what its lines say", rm_traffic_load},
    {"delay MS", "wait, in a script", rm_traffic_delay},
};

struct rm_command_table rm_traffic_words_table(struct rm_traffic_words *words) {
    return (struct rm_command_table){COMMANDS, sizeof COMMANDS / sizeof *COMMANDS, words};
}
