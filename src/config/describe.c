// SPDX-License-Identifier: Apache-2.0
#include "config/describe.h"
#include "base/cores.h"
#include "config/instrument_rates.h"

#include <inttypes.h>
#include <string.h>

/* Of an instrument that sends every `period` turns. */
static uint64_t instrument_bytes(struct rm_config const *config, uint32_t period) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    uint32_t const count = rm_instrument_rates(config, period, rate);
    uint64_t records = rm_instrument_records(config, period);
    for (uint32_t i = 0; i < count; i++)
        records += rate[i].records;
    return records * sizeof(struct rm_record);
}

uint64_t rm_config_stream_bytes(struct rm_config const *config) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < config->instrument_count; i++)
        bytes += instrument_bytes(config, config->instrument[i].period_turns);
    return bytes;
}

static uint32_t stream_count(struct rm_config const *config) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    uint32_t count = 0;
    for (uint32_t i = 0; i < config->instrument_count; i++)
        count += 1 + rm_instrument_rates(config, config->instrument[i].period_turns, rate);
    return count;
}

void rm_config_print_ipv4(uint32_t ipv4, FILE *out) {
    fprintf(out, "%u.%u.%u.%u", ipv4 >> 24, ipv4 >> 16 & 255, ipv4 >> 8 & 255, ipv4 & 255);
}

static void print_bytes(uint64_t bytes, FILE *out) {
    double const mib = (double)bytes / (1 << 20);
    if (mib < 1024)
        fprintf(out, "%.4g MiB", mib);
    else
        fprintf(out, "%.4g GiB", mib / 1024);
}

/* Where the datagrams come from. */
static void print_place(struct rm_port_config const *config, FILE *out) {
    switch (config->kind) {
    case RM_PORT_MEMIF:
        fprintf(out, "%s, %s", config->socket_path, config->memif_server ? "server" : "client");
        return;
    case RM_PORT_VIRTIO_USER:
    case RM_PORT_VHOST:
        fputs(config->socket_path, out);
        return;
    case RM_PORT_AF_PACKET:
    case RM_PORT_AF_XDP:
    case RM_PORT_TAP:
    case RM_PORT_RAW:
        fputs(config->interface, out);
        return;
    case RM_PORT_PCAP:
        fputs(config->file, out);
        return;
    case RM_PORT_PCI:
        fputs(config->device, out);
        return;
    case RM_PORT_UDP:
        rm_config_print_ipv4(config->bind_ipv4, out);
        return;
    case RM_PORT_RING:
    case RM_PORT_NULL:
        fputs("this process", out);
        return;
    }
}

/* What is out of the ordinary. */
static void print_port_extras(struct rm_config_port const *port, FILE *out) {
    struct rm_port_config const *const config = &port->port;
    if (config->spread)
        fputs(" spread by software", out);
    if (port->vlan != RM_CONFIG_ANY_VLAN)
        fprintf(out, ", VLAN %u", port->vlan);
    if (config->longest_frame != RM_LONGEST_FRAME)
        fprintf(out, ", frames to %u bytes", config->longest_frame);
    for (uint32_t i = 0; i < config->group_count; i++) {
        fputs(", joins ", out);
        rm_config_print_ipv4(config->group[i], out);
    }
    if (port->answer_ipv4 != 0) {
        fputs(config->exception_path ? ", answers for " : ", setpoints come from ", out);
        rm_config_print_ipv4(port->answer_ipv4, out);
    }
    if (port->kernel_interface[0] != '\0')
        fprintf(out, ", the rest to kernel interface %s", port->kernel_interface);
}

static void print_port(struct rm_config_port const *port, FILE *out) {
    struct rm_port_config const *const config = &port->port;
    fprintf(out, "  %-16s %-9s ", config->name, rm_config_port_kind_name(config->kind));
    print_place(config, out);
    fprintf(out, ", UDP port %u, %u queue%s", port->udp_port, config->queues, config->queues == 1 ? "" : "s");
    print_port_extras(port, out);
    fputs("\n", out);
}

/* True when `b` is the next of a count: all is equal but name and id. */
static bool instrument_follows(struct rm_config_instrument const *a, struct rm_config_instrument const *b) {
    return b->id == a->id + 1 && b->kind == a->kind && b->port == a->port && b->source_ipv4 == a->source_ipv4 &&
           b->format == a->format && b->period_turns == a->period_turns && b->turn_offset == a->turn_offset &&
           memcmp(&b->mirror, &a->mirror, sizeof a->mirror) == 0 && b->lane_count == a->lane_count &&
           memcmp(b->lane, a->lane, sizeof a->lane) == 0;
}

/* How many instruments from `first` on make one run. */
static uint32_t run_length(struct rm_config const *config, uint32_t first) {
    uint32_t end = first + 1;
    while (end < config->instrument_count && instrument_follows(&config->instrument[end - 1], &config->instrument[end]))
        end++;
    return end - first;
}

/* What is out of the ordinary. */
static void print_instrument_extras(struct rm_config const *config, struct rm_config_instrument const *instrument,
                                    FILE *out) {
    if (instrument->mirror.present) {
        fputs(", mirrored from ", out);
        rm_config_print_ipv4(instrument->mirror.source_ipv4, out);
        fprintf(out, " on %s", config->port[instrument->mirror.port].port.name);
    }
    if (instrument->format != 0)
        fprintf(out, ", format %s", config->format[instrument->format].name);
    if (instrument->period_turns != 1)
        fprintf(out, ", every %u turns", instrument->period_turns);
    if (instrument->turn_offset != 0)
        fprintf(out, ", turn offset %+" PRId64, instrument->turn_offset);
}

/* One line for a run of instruments, "bpm001 … bpm168". */
static void print_instruments(struct rm_config const *config, uint32_t first, uint32_t count, FILE *out) {
    enum { NAME_COLUMNS = 16, ELLIPSIS_BYTES_MORE = 2 };
    struct rm_config_instrument const *const instrument = &config->instrument[first];
    char name[2 * RM_CONFIG_NAME_BYTES + sizeof " … "];
    strcpy(name, instrument->name);
    if (count > 1)
        snprintf(name, sizeof name, "%s … %s", instrument->name, config->instrument[first + count - 1].name);
    fprintf(out, "  %-*s %s %u", NAME_COLUMNS + (count > 1 ? ELLIPSIS_BYTES_MORE : 0), name,
            rm_config_instrument_kind_name(instrument->kind), instrument->id);
    if (count > 1)
        fprintf(out, "–%u", instrument->id + count - 1);
    fputs(" from ", out);
    rm_config_print_ipv4(instrument->source_ipv4, out);
    fprintf(out, " on %s", config->port[instrument->port].port.name);
    print_instrument_extras(config, instrument, out);
    fputs(":", out);
    for (uint32_t i = 0; i < instrument->lane_count; i++)
        fprintf(out, " %s", instrument->lane[i].name);
    fputs("\n", out);
}

/* One line: the name, its rate, and what its ring holds. */
static void print_stream(struct rm_config const *config, char const *name, uint32_t period, uint64_t records,
                         FILE *out) {
    double const rate_hz = config->turn_rate_hz / period;
    bool const fast = rate_hz >= 1000;
    fprintf(out, "    /%-16s %6.4g %-4s", name, fast ? rate_hz / 1000 : rate_hz, fast ? "kHz," : "Hz,");
    fputs(" ", out);
    print_bytes(records * sizeof(struct rm_record), out);
    double const lasts_s = (double)records / rate_hz;
    fprintf(out, lasts_s < 1000 ? ", %.3g s" : ", %.0f s", lasts_s);
}

double rm_config_delay_turns(struct rm_config_rate const *rate, uint32_t index, uint32_t instrument_period) {
    double turns = 0;
    for (;;) {
        uint32_t const from = rate[index].from;
        double period = from == RM_CONFIG_FROM_TURN ? instrument_period : rate[from].period;
        for (uint32_t i = 0; i < rate[index].stage_count; i++) {
            turns += rate[index].stage[i]->centre * period;
            period *= rate[index].stage[i]->decimation;
        }
        if (from == RM_CONFIG_FROM_TURN)
            return turns;
        index = from;
    }
}

/* A delay with four digits, in the unit that needs no exponent. */
static void print_delay(double seconds, FILE *out) {
    if (seconds >= 1)
        fprintf(out, "%.*f s", seconds < 1000 ? 1 : 0, seconds);
    else
        fprintf(out, "%.4g ms", 1e3 * seconds);
}

/* The streams of instruments that send every `period` turns. */
static void print_rates(struct rm_config const *config, uint32_t period, FILE *out) {
    struct rm_config_rate rate[RM_CONFIG_RATES_MAX];
    uint32_t const count = rm_instrument_rates(config, period, rate);
    if (period == 1)
        fputs("  each instrument that sends every turn, ", out);
    else
        fprintf(out, "  each instrument that sends every %u turns, ", period);
    print_bytes(instrument_bytes(config, period), out);
    fputs(":\n", out);
    print_stream(config, rm_instrument_own_rate(period), period, rm_instrument_records(config, period), out);
    fputs("\n", out);
    for (uint32_t i = 0; i < count; i++) {
        print_stream(config, rate[i].name, rate[i].period, rate[i].records, out);
        fprintf(out, ", %s from /%s, delayed by ", rate[i].stage[0]->name,
                rate[i].from == RM_CONFIG_FROM_TURN ? rm_instrument_own_rate(period) : rate[rate[i].from].name);
        print_delay(rm_config_delay_turns(rate, i, period) / config->turn_rate_hz, out);
        fputs("\n", out);
    }
}

static bool is_first_of_its_period(struct rm_config const *config, uint32_t index) {
    for (uint32_t i = 0; i < index; i++)
        if (config->instrument[i].period_turns == config->instrument[index].period_turns)
            return false;
    return true;
}

static void print_streams(struct rm_config const *config, FILE *out) {
    fprintf(out, "streams: %u, ", stream_count(config));
    print_bytes(rm_config_stream_bytes(config), out);
    fputs(" of shared memory\n", out);
    for (uint32_t i = 0; i < config->instrument_count; i++)
        if (is_first_of_its_period(config, i))
            print_rates(config, config->instrument[i].period_turns, out);
}

static void print_role(struct rm_config const *config, struct rm_config_role const *role, FILE *out) {
    fprintf(out, "  core %-4u %s", role->core, rm_config_role_name(role->kind));
    for (uint32_t i = 0; i < role->queue_count; i++)
        fprintf(out, " %s/%u%s", config->port[role->queue[i].port].port.name, role->queue[i].queue,
                i + 1 == role->first_count ? " first, then" : "");
    if (role->kind == RM_ROLE_APPLICATION)
        fprintf(out, " %s", config->application[role->application].name);
    fputs("\n", out);
}

static void print_spare_cores(struct rm_config const *config, FILE *out) {
    char list[256];
    cpu_set_t cores;
    CPU_ZERO(&cores);
    for (uint32_t i = 0; i < config->spare_core_count; i++)
        CPU_SET(config->spare_core[i], &cores);
    if (config->spare_core_count != 0)
        fprintf(out, "spare cores: %s\n", rm_cores_text(&cores, list, sizeof list));
}

/* Chains' answers come last, and are shown with their chains. */
static uint32_t sender_count(struct rm_config const *config) {
    uint32_t count = 0;
    while (count < config->instrument_count && !config->instrument[count].follows)
        count++;
    return count;
}

static void describe_instruments(struct rm_config const *config, FILE *out) {
    uint32_t const senders = sender_count(config);
    fprintf(out, "instruments: %u, ", config->instrument_count);
    if (senders != config->instrument_count)
        fprintf(out, "%u of them the answers of chains, ", config->instrument_count - senders);
    if (config->turn_window.quorum != 0)
        fprintf(out, "%u of them can re-anchor the turn clock\n", config->turn_window.quorum);
    else
        fputs("more than half of those that send can re-anchor the turn clock\n", out);
    for (uint32_t i = 0, count; i < senders; i += count) {
        count = run_length(config, i);
        print_instruments(config, i, count, out);
    }
    print_streams(config, out);
}

/* Where a camera's datagrams come from, and how many frames are kept. */
static void print_camera(struct rm_config const *config, struct rm_config_camera const *camera, FILE *out) {
    static char const *const format[] = {[RM_CAMERA_GVSP] = "gvsp",
                                         [RM_CAMERA_FRAGMENTS] = "fragments",
                                         [RM_CAMERA_TECMP] = "tecmp",
                                         [RM_CAMERA_CMP] = "cmp"};
    bool const lines = camera->format == RM_CAMERA_LINES;
    fprintf(out, "  %-16s %s", camera->name, lines ? config->format[camera->lines].name : format[camera->format]);
    if (camera->format != RM_CAMERA_GVSP)
        fprintf(out, " %u", camera->id);
    fputs(" from ", out);
    if (camera->ipv4 != 0)
        rm_config_print_ipv4(camera->ipv4, out);
    else
        fputs("anywhere", out);
    fprintf(out, " on %s, UDP port %u: %u frames to ", config->port[camera->port].port.name, camera->udp_port,
            camera->slots);
    print_bytes(camera->frame_bytes, out);
    fprintf(out, ", %u of them leased at most, deadline %.4g ms\n", camera->leases, camera->deadline_ms);
}

static void describe_cameras(struct rm_config const *config, FILE *out) {
    fprintf(out, "cameras: %u, received by `ringmaster cameras run`\n", config->camera_count);
    for (uint32_t i = 0; i < config->camera_count; i++)
        print_camera(config, &config->camera[i], out);
}

void rm_config_describe(struct rm_config const *config, FILE *out) {
    fprintf(out, "workspace %s, %.10g turns per second\n", config->workspace, config->turn_rate_hz);
    fprintf(out, "ports: %u\n", config->port_count);
    for (uint32_t i = 0; i < config->port_count; i++)
        print_port(&config->port[i], out);
    if (config->instrument_count != 0)
        describe_instruments(config, out);
    if (config->camera_count != 0)
        describe_cameras(config, out);
    rm_config_describe_setpoints(config, out);
    rm_config_describe_standby(config, out);
    rm_config_describe_router(config, out);
    fprintf(out, "roles: %u\n", config->role_count);
    for (uint32_t i = 0; i < config->role_count; i++)
        print_role(config, &config->role[i], out);
    print_spare_cores(config, out);
    rm_config_describe_remarks(config, out);
}
