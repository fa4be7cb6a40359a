// SPDX-License-Identifier: Apache-2.0
#include "engine/generate_commands.h"

#include <stdlib.h>
#include <string.h>

#include "engine/server_state.h"
#include "traffic/generator_beside.h"
#include "traffic/traffic_words.h"

enum { PCI_ID_BYTES = 16, PING_INTERVAL_NS = 1000000000, PING_BYTES = 56 };

static double const NS_PER_S = 1e9;

struct rm_generate_commands {
    struct rm_server *server;
    struct rm_generator *generator;
    /** [port of the generator] the server's. */
    struct rm_server_port *port[RM_TRAFFIC_PORTS_MAX];
    struct rm_traffic_words words;
};

static struct rm_generator *generator_of(void *context) { return ((struct rm_generate_commands *)context)->generator; }

static enum rm_code commands_describe(void *context, uint32_t port, struct rm_traffic const *traffic,
                                      struct rm_error *error) {
    return rm_generator_describe(generator_of(context), port, traffic, error);
}

/* A port that nothing was said about yet has the description to begin with. */
static enum rm_code commands_begin(struct rm_generate_commands *commands, uint32_t port, struct rm_error *error) {
    struct rm_traffic traffic;
    if (commands->generator->port[port]->traffic.template_count != 0)
        return RM_OK;
    enum rm_code const code = rm_traffic_settings_resolve(&commands->words.port[port].settings, &traffic, error);
    return code == RM_OK ? rm_generator_describe(commands->generator, port, &traffic, error) : code;
}

static enum rm_code commands_start(void *context, uint32_t port, struct rm_error *error) {
    enum rm_code const code = commands_begin(context, port, error);
    return code == RM_OK ? rm_generator_start(generator_of(context), port, error) : code;
}

static enum rm_code commands_stop(void *context, uint32_t port, struct rm_error *error) {
    return rm_generator_stop(generator_of(context), port, error);
}

static enum rm_code commands_clear(void *context, uint32_t port, struct rm_error *error) {
    return rm_generator_clear(generator_of(context), port, error);
}

static enum rm_code commands_ask(void *context, uint32_t port, enum rm_traffic_question what, uint32_t count,
                                 struct rm_error *error) {
    static enum rm_arp_ping_what const ASKED[] = {[RM_TRAFFIC_ARP_REQUEST] = RM_ARP_PING_ARP,
                                                  [RM_TRAFFIC_ARP_GRATUITOUS] = RM_ARP_PING_ANNOUNCE,
                                                  [RM_TRAFFIC_PING] = RM_ARP_PING_PING};
    struct rm_arp_ping_request const request = {
        .what = ASKED[what], .count = count, .interval_ns = PING_INTERVAL_NS, .content_bytes = PING_BYTES};
    enum rm_code const code = commands_begin(context, port, error);
    return code == RM_OK ? rm_generator_ask(generator_of(context), port, &request, error) : code;
}

static enum rm_code commands_capture(void *context, uint32_t port, char const *path, struct rm_error *error) {
    return rm_generator_capture(generator_of(context), port, path, NULL, error);
}

static enum rm_code commands_replay(void *context, uint32_t port, char const *path, double speed, uint64_t laps,
                                    struct rm_error *error) {
    struct rm_generator *const generator = generator_of(context);
    enum rm_code const code = commands_begin(context, port, error);
    if (code != RM_OK)
        return code;
    return path != NULL ? rm_generator_replay(generator, port, path, speed, laps, error)
                        : rm_generator_restore_source(generator, port, error);
}

static enum rm_code commands_instruments(void *context, uint32_t port, char const *path, char const *pattern,
                                         uint64_t first_turn, struct rm_error *error) {
    enum rm_code const code = commands_begin(context, port, error);
    return code == RM_OK
               ? rm_generator_send_instruments(generator_of(context), port, path, pattern, (rm_turn)first_turn, error)
               : code;
}

static void tell_asked(struct rm_generator const *generator, uint32_t port, char *text, size_t bytes) {
    struct rm_arp_ping_result result;
    rm_generator_asked(generator, port, &result);
    FILE *const out = result.state == RM_ARP_PING_IDLE ? NULL : fmemopen(text, bytes, "w");
    if (out == NULL)
        return;
    rm_arp_ping_print(&result, out);
    fclose(out);
    text[strcspn(text, "\n")] = '\0';
}

static void commands_state(void *context, uint32_t port, struct rm_traffic_state *state) {
    struct rm_generate_commands *const commands = context;
    *state = (struct rm_traffic_state){
        .sending = rm_generator_is_sending(commands->generator, port),
        .link_up = atomic_load_explicit(&commands->port[port]->link_up, memory_order_relaxed),
    };
    struct rm_capture_counts counts;
    snprintf(state->capture, sizeof state->capture, "%s", rm_generator_captured(commands->generator, port, &counts));
    state->captured = counts.written;
    snprintf(state->source, sizeof state->source, "%s", rm_generator_source_words(commands->generator, port));
    tell_asked(commands->generator, port, state->asked, sizeof state->asked);
}

/* Flows are numbered through all templates of a port. */
static uint32_t template_of(struct rm_traffic const *traffic, uint32_t flow) {
    uint32_t number = 0;
    while (number + 1 < traffic->template_count && flow >= traffic->template[number].flow_count)
        flow -= traffic->template[number++].flow_count;
    return number;
}

static bool commands_flow(void *context, uint32_t port, uint32_t index, struct rm_traffic_flow_state *flow) {
    struct rm_generator const *const generator = generator_of(context);
    struct rm_flow_reading reading;
    if (!rm_generator_flow(generator, port, index, &reading))
        return false;
    double const ns_per_tick = NS_PER_S / generator->tsc_hz;
    *flow = (struct rm_traffic_flow_state){
        .template_number = template_of(&generator->port[port]->traffic, index),
        .sent = reading.stamped,
        .received = reading.received,
        .lost = reading.lost,
        .duplicate = reading.duplicated,
        .reordered = reading.out_of_order,
        .latency_min_ns = (uint64_t)(ns_per_tick * (double)rm_flow_latency_ticks(&reading, 0)),
        .latency_p50_ns = (uint64_t)(ns_per_tick * (double)rm_flow_latency_ticks(&reading, 0.5)),
        .latency_p99_ns = (uint64_t)(ns_per_tick * (double)rm_flow_latency_ticks(&reading, 0.99)),
        .latency_p999_ns = (uint64_t)(ns_per_tick * (double)rm_flow_latency_ticks(&reading, 0.999)),
        .latency_max_ns = (uint64_t)(ns_per_tick * (double)rm_flow_latency_ticks(&reading, 1)),
    };
    return true;
}

static struct rm_traffic_actions const ACTIONS = {
    .describe = commands_describe,
    .start = commands_start,
    .stop = commands_stop,
    .clear = commands_clear,
    .ask = commands_ask,
    .capture = commands_capture,
    .replay = commands_replay,
    .instruments = commands_instruments,
    .state = commands_state,
    .flow = commands_flow,
};

/* "8086", of a file of sysfs that says "0x8086". */
static void read_pci_id(char const *address, char const *what, char id[PCI_ID_BYTES]) {
    char path[128];
    id[0] = '\0';
    snprintf(path, sizeof path, "/sys/bus/pci/devices/%s/%s", address, what);
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return;
    if (fscanf(file, "0x%15s", id) != 1)
        id[0] = '\0';
    fclose(file);
}

/* What a port is bound to: a card with its vendor and kind, a socket, an interface, a file. */
static void describe_device(struct rm_port_config const *config, char *device, size_t bytes) {
    char vendor[PCI_ID_BYTES], kind[PCI_ID_BYTES];
    if (config->kind == RM_PORT_PCI) {
        read_pci_id(config->device, "vendor", vendor);
        read_pci_id(config->device, "device", kind);
        snprintf(device, bytes, "%s:%s/%s", vendor, kind, config->device);
    } else if (config->socket_path[0] != '\0') {
        snprintf(device, bytes, "%s", config->socket_path);
    } else {
        snprintf(device, bytes, "%s", config->interface);
    }
}

static void words_port_fill(struct rm_traffic_words_port *words, struct rm_generator_port const *port,
                            struct rm_config_port const *config) {
    snprintf(words->name, sizeof words->name, "%s", config->port.name);
    snprintf(words->kind, sizeof words->kind, "%s", rm_config_port_kind_name(config->port.kind));
    describe_device(&config->port, words->device, sizeof words->device);
    words->longest_frame = port->plan.longest_frame;
    if (!rm_port_mac(port->plan.port, words->mac))
        memset(words->mac, 0, sizeof words->mac);
}

enum rm_code rm_generate_commands_new(struct rm_server *server, struct rm_generate_commands **commands,
                                      struct rm_error *error) {
    struct rm_generator *const generator = server->generator;
    struct rm_generate_commands *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return rm_server_no_memory(error);
    made->server = server;
    made->generator = generator;
    made->words.port_count = generator->port_count;
    made->words.actions = &ACTIONS;
    made->words.generator = made;
    for (uint32_t i = 0; i < generator->port_count; i++)
        for (uint32_t j = 0; j < server->config->port_count; j++)
            if (server->port[j].port == generator->port[i]->plan.port) {
                made->port[i] = &server->port[j];
                words_port_fill(&made->words.port[i], generator->port[i], &server->config->port[j]);
            }
    rm_traffic_words_begin(&made->words);
    *commands = made;
    return RM_OK;
}

void rm_generate_commands_free(struct rm_generate_commands *commands) { free(commands); }

struct rm_command_table rm_generate_commands_table(struct rm_generate_commands *commands) {
    return rm_traffic_words_table(&commands->words);
}
