// SPDX-License-Identifier: Apache-2.0
#include "engine/config.h"

#include <inttypes.h>

enum { STREAMS_PER_INSTRUMENT = 3 };

uint64_t rm_config_stream_bytes(struct rm_config const *config) {
    uint64_t const records = config->buffers.turn_records + 2 * config->buffers.fast_records;
    return config->instrument_count * records * sizeof(struct rm_record);
}

static void print_ipv4(uint32_t ipv4, FILE *out) {
    fprintf(out, "%u.%u.%u.%u", ipv4 >> 24, ipv4 >> 16 & 255, ipv4 >> 8 & 255, ipv4 & 255);
}

static void print_bytes(uint64_t bytes, FILE *out) {
    double const mib = (double)bytes / (1 << 20);
    if (mib < 1024)
        fprintf(out, "%.4g MiB", mib);
    else
        fprintf(out, "%.4g GiB", mib / 1024);
}

static void print_port(struct rm_config_port const *port, FILE *out) {
    struct rm_port_config const *const config = &port->port;
    fprintf(out, "  %-16s %-9s ", config->name, rm_config_port_kind_name(config->kind));
    if (config->kind == RM_PORT_MEMIF)
        fprintf(out, "%s, %s", config->socket_path, config->memif_server ? "server" : "client");
    else if (config->kind == RM_PORT_AF_PACKET)
        fprintf(out, "%s", config->interface);
    else
        print_ipv4(config->bind_ipv4, out);
    fprintf(out, ", UDP port %u, %u queue%s\n", port->udp_port, config->queues, config->queues == 1 ? "" : "s");
}

static void print_instrument(struct rm_config const *config, struct rm_config_instrument const *instrument, FILE *out) {
    fprintf(out, "  %-16s %s %u from ", instrument->name, rm_config_instrument_kind_name(instrument->kind),
            instrument->id);
    print_ipv4(instrument->source_ipv4, out);
    fprintf(out, " on %s", config->port[instrument->port].port.name);
    if (instrument->turn_offset != 0)
        fprintf(out, ", turn offset %+" PRId64, instrument->turn_offset);
    fputs(":", out);
    for (uint32_t i = 0; i < instrument->lane_count; i++)
        fprintf(out, " %s", instrument->lane[i].name);
    fputs("\n", out);
}

static void print_streams(struct rm_config const *config, FILE *out) {
    uint64_t const turn_bytes = config->buffers.turn_records * sizeof(struct rm_record);
    uint64_t const fast_bytes = config->buffers.fast_records * sizeof(struct rm_record);
    fprintf(out, "streams: %u, ", STREAMS_PER_INSTRUMENT * config->instrument_count);
    print_bytes(rm_config_stream_bytes(config), out);
    fputs(" of shared memory\n  each instrument's /turn      ", out);
    print_bytes(turn_bytes, out);
    fprintf(out, ", %.3g s\n  /prompt and /fast, each      ",
            (double)config->buffers.turn_records / config->turn_rate_hz);
    print_bytes(fast_bytes, out);
    fprintf(out, ", %.3g s\n", 12.0 * (double)config->buffers.fast_records / config->turn_rate_hz);
}

static void print_role(struct rm_config const *config, struct rm_config_role const *role, FILE *out) {
    fprintf(out, "  core %-4u %s", role->core, rm_config_role_name(role->kind));
    for (uint32_t i = 0; i < role->queue_count; i++)
        fprintf(out, " %s/%u", config->port[role->queue[i].port].port.name, role->queue[i].queue);
    fputs("\n", out);
}

void rm_config_describe(struct rm_config const *config, FILE *out) {
    fprintf(out, "workspace %s, %.10g turns per second\n", config->workspace, config->turn_rate_hz);
    fprintf(out, "ports: %u\n", config->port_count);
    for (uint32_t i = 0; i < config->port_count; i++)
        print_port(&config->port[i], out);
    fprintf(out, "instruments: %u, ", config->instrument_count);
    if (config->turn_window.quorum != 0)
        fprintf(out, "%u of them can re-anchor the turn clock\n", config->turn_window.quorum);
    else
        fputs("more than half of those that send can re-anchor the turn clock\n", out);
    for (uint32_t i = 0; i < config->instrument_count; i++)
        print_instrument(config, &config->instrument[i], out);
    print_streams(config, out);
    fprintf(out, "roles: %u\n", config->role_count);
    for (uint32_t i = 0; i < config->role_count; i++)
        print_role(config, &config->role[i], out);
}
