// SPDX-License-Identifier: Apache-2.0
/* The commands' thread's part of generator_beside.h. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "traffic/generator_beside.h"
#include "traffic/generator_identity.h"
#include "traffic/generator_order.h"
#include "traffic/instrument_source.h"
#include "traffic/pcap_source.h"

/** The port, whose description is there. */
static enum rm_code described_port(struct rm_generator const *generator, uint32_t number,
                                   struct rm_generator_port **port, struct rm_error *error) {
    enum rm_code const code = rm_generator_check_port(generator, number, error);
    if (code != RM_OK)
        return code;
    *port = generator->port[number];
    if ((*port)->traffic.template_count == 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "port %u has no description, whose addresses are needed: describe it first", number);
    return RM_OK;
}

enum rm_code rm_generator_ask(struct rm_generator *generator, uint32_t number,
                              struct rm_arp_ping_request const *request, struct rm_error *error) {
    struct rm_generator_port *port;
    struct rm_arp_ping_request full = *request;
    enum rm_code const code = described_port(generator, number, &port, error);
    if (code != RM_OK)
        return code;
    if (!rm_generator_identity(&port->traffic, &full.from))
        return rm_fail(error, RM_E_ARGUMENT, "port %u sends IPv6; ARP and ping4 need IPv4 addresses", number);
    if (full.target_ipv4 == 0)
        full.target_ipv4 = (uint32_t)port->traffic.template[0].field[RM_TRAFFIC_DESTINATION_ADDRESS].start;
    return rm_arp_ping_ask(&port->arp_ping, &full, error);
}

void rm_generator_asked(struct rm_generator const *generator, uint32_t port, struct rm_arp_ping_result *result) {
    rm_arp_ping_result(&generator->port[port]->arp_ping, result);
}

/** The core puts frames into this ring from now on; into none where it is NULL. */
static enum rm_code capture_into(struct rm_generator_port *port, struct rm_capture *capture, struct rm_error *error) {
    struct rm_generator_message message = {.order = RM_GENERATOR_CAPTURE,
                                           .capture = capture != NULL ? rm_capture_ring_of(capture, 0) : NULL};
    return rm_generator_order(port, &message, error);
}

void rm_generator_end_capture(struct rm_generator_port *port) {
    struct rm_capture_counts counts;
    if (port->capture != NULL)
        rm_capture_stop(port->capture, &counts, NULL);
    port->capture = NULL;
    port->capture_path[0] = '\0';
}

static enum rm_code capture_end(struct rm_generator_port *port, struct rm_capture_counts *counts,
                                struct rm_error *error) {
    if (port->capture == NULL)
        return RM_OK;
    struct rm_capture_counts last;
    enum rm_code code = capture_into(port, NULL, error);
    if (code != RM_OK)
        return code;
    code = rm_capture_stop(port->capture, &last, error);
    port->capture = NULL;
    port->capture_path[0] = '\0';
    if (counts != NULL)
        *counts = last;
    return code;
}

/** Two captures would write over each other. */
static enum rm_code check_file_is_free(struct rm_generator const *generator, uint32_t number, char const *path,
                                       struct rm_error *error) {
    struct stat wanted, other;
    if (stat(path, &wanted) != 0)
        return RM_OK;
    for (uint32_t i = 0; i < generator->port_count; ++i)
        if (i != number && generator->port[i]->capture != NULL && stat(generator->port[i]->capture_path, &other) == 0 &&
            other.st_dev == wanted.st_dev && other.st_ino == wanted.st_ino)
            return rm_fail(error, RM_E_ARGUMENT, "%s: port '%s' is captured into it, expected a file of its own", path,
                           rm_port_name(generator->port[i]->plan.port));
    return RM_OK;
}

enum rm_code rm_generator_capture(struct rm_generator *generator, uint32_t number, char const *path,
                                  struct rm_capture_counts *counts, struct rm_error *error) {
    if (counts != NULL)
        *counts = (struct rm_capture_counts){.written = 0};
    enum rm_code code = rm_generator_check_port(generator, number, error);
    if (code == RM_OK && path != NULL)
        code = check_file_is_free(generator, number, path, error);
    if (code == RM_OK)
        code = capture_end(generator->port[number], counts, error);
    if (code != RM_OK || path == NULL)
        return code;
    struct rm_generator_port *const port = generator->port[number];
    struct rm_capture_plan const plan = {
        .path = path, .ring_count = 1, .longest_frame = port->plan.longest_frame, .tsc_hz = generator->tsc_hz};
    code = rm_capture_start(&plan, &port->capture, error);
    if (code != RM_OK)
        return code;
    snprintf(port->capture_path, sizeof port->capture_path, "%s", path);
    code = capture_into(port, port->capture, error);
    if (code != RM_OK)
        rm_generator_end_capture(port);
    return code;
}

char const *rm_generator_captured(struct rm_generator const *generator, uint32_t number,
                                  struct rm_capture_counts *counts) {
    struct rm_generator_port const *const port = generator->port[number];
    *counts = (struct rm_capture_counts){.written = 0};
    if (port->capture != NULL)
        rm_capture_count(port->capture, counts);
    return port->capture_path;
}

enum rm_code rm_generator_replay(struct rm_generator *generator, uint32_t number, char const *path, double speed,
                                 uint64_t laps, struct rm_error *error) {
    struct rm_generator_port *port;
    struct rm_source *source;
    enum rm_code code = described_port(generator, number, &port, error);
    if (code != RM_OK)
        return code;
    struct rm_pcap_plan const plan = {.path = path,
                                      .speed = speed,
                                      .laps = laps,
                                      .longest_frame = port->plan.longest_frame,
                                      .tsc_hz = generator->tsc_hz};
    code = rm_pcap_source_make(&plan, &source, error);
    if (code != RM_OK)
        return code;
    struct rm_pcap_frames const *const read = rm_pcap_source_frames(source);
    char words[RM_GENERATOR_WORDS_BYTES];
    snprintf(words, sizeof words, "%u frames of %s; refused: %llu longer than %u bytes, %llu cut, %llu too short",
             read->count, path, (unsigned long long)read->too_long, plan.longest_frame, (unsigned long long)read->cut,
             (unsigned long long)read->too_short);
    return rm_generator_replace_source(generator, number, source, words, error);
}

enum rm_code rm_generator_send_instruments(struct rm_generator *generator, uint32_t number, char const *path,
                                           char const *pattern, rm_turn first_turn, struct rm_error *error) {
    struct rm_generator_port *port;
    struct rm_source *source;
    enum rm_code code = described_port(generator, number, &port, error);
    if (code != RM_OK)
        return code;
    struct rm_traffic_template const *const to = &port->traffic.template[0];
    struct rm_instrument_plan plan = {
        .path = path,
        .datagrams = {.pattern = pattern,
                      .flow = {.destination_ipv4 =
                                   to->ipv6 ? 0 : (uint32_t)to->field[RM_TRAFFIC_DESTINATION_ADDRESS].start,
                               .vlan = to->tagged ? (uint16_t)to->field[RM_TRAFFIC_VLAN].start : 0},
                      .longest_frame = port->plan.longest_frame},
        .first_turn = first_turn,
        .tsc_hz = generator->tsc_hz,
    };
    rm_generator_mac(to->field[RM_TRAFFIC_DESTINATION_MAC].start, plan.datagrams.flow.destination_mac);
    code = rm_instrument_source_make(&plan, &source, error);
    if (code != RM_OK)
        return code;
    struct rm_instrument_groups const *const groups = rm_instrument_source_groups(source);
    char words[RM_GENERATOR_WORDS_BYTES];
    snprintf(words, sizeof words, "%u instruments of %s in %u datagrams, %.0f packets/s", groups->instrument_count,
             path, groups->group_count, rm_instrument_source_packets_per_s(source));
    return rm_generator_replace_source(generator, number, source, words, error);
}
