// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "ring_config.h"
#include "ring_file.h"

char const rm_usage[] =
    "Usage: ringmaster-instruments run CONFIG [OVERLAY] [OPTION]…     send the datagrams of the machine that CONFIG\n"
    "                                                          describes for its server; OVERLAY has what only a\n"
    "                                                          virtual ring has: beam, faults, supplies, lattice\n"
    "       ringmaster-instruments check CONFIG [OVERLAY]      check both\n"
    "       ringmaster-instruments replay FILE --rate HZ --port-kind KIND [OPTION]…\n"
    "                                                          send recorded turns\n"
    "\n"
    "Options of run and replay:\n"
    "  --turns N           end after N turns, all of them sent\n"
    "  --seconds S         end after S seconds\n"
    "  --core N            run on this CPU\n"
    "  --json              print the summary as a JSON object\n"
    "Options of run and check:\n"
    "  --ports LIST        be the other end of these ports of CONFIG alone, with commas between\n"
    "Options of run:\n"
    "  --turn-rate HZ      instead of the configured one; 0: as fast as the link takes it\n"
    "Options of replay:\n"
    "  --rate HZ           turns per second; 0: as fast as the link takes it\n"
    "  --port-kind KIND    memif, af_packet, udp, af_xdp, tap, virtio_user, vhost, pci or null\n"
    "  --socket PATH       memif, virtio_user, vhost: the server's socket\n"
    "  --interface NAME    af_packet, af_xdp, tap: the interface to send through\n"
    "  --device ADDRESS    pci: the card, 0000:03:00.0\n"
    "  --to ADDRESS:PORT   where to send\n"
    "  --to-mac MAC        the receiver's MAC, of all kinds but udp\n"
    "  --first-turn N      instead of the file's\n"
    "  --loop              begin again after the last turn; turn numbers go on rising\n"
    "  --workspace NAME    publish what is sent there\n"
    "\n"
    "Examples:\n"
    "  ringmaster-instruments run configs/demo.yaml configs/demo-ring.yaml\n"
    "  ringmaster-instruments run configs/loopback.yaml --turn-rate 1000 --seconds 5 --json\n"
    "  ringmaster-instruments replay beam.replay --rate 11245 --port-kind udp --to 127.0.0.1:4660\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

enum ring_option {
    KEY_HELP = 'h',
    KEY_RATE = 256,
    KEY_TURNS,
    KEY_SECONDS,
    KEY_FIRST_TURN,
    KEY_CORE,
    KEY_JSON,
    KEY_LOOP,
    KEY_PORT_KIND,
    KEY_SOCKET,
    KEY_INTERFACE,
    KEY_DEVICE,
    KEY_TO,
    KEY_TO_MAC,
    KEY_WORKSPACE,
    KEY_PORTS,
};

#define COMMON_OPTIONS                                                                                                 \
    {"turns", required_argument, NULL, KEY_TURNS}, {"seconds", required_argument, NULL, KEY_SECONDS},                  \
        {"core", required_argument, NULL, KEY_CORE}, {"json", no_argument, NULL, KEY_JSON}, {                          \
        "help", no_argument, NULL, KEY_HELP                                                                            \
    }

static struct option const run_options[] = {
    COMMON_OPTIONS,
    {"turn-rate", required_argument, NULL, KEY_RATE},
    {"ports", required_argument, NULL, KEY_PORTS},
    {NULL, 0, NULL, 0},
};

static struct option const check_options[] = {
    {"help", no_argument, NULL, KEY_HELP}, {"ports", required_argument, NULL, KEY_PORTS}, {NULL, 0, NULL, 0}};

static struct option const replay_options[] = {
    COMMON_OPTIONS,
    {"rate", required_argument, NULL, KEY_RATE},
    {"port-kind", required_argument, NULL, KEY_PORT_KIND},
    {"socket", required_argument, NULL, KEY_SOCKET},
    {"interface", required_argument, NULL, KEY_INTERFACE},
    {"device", required_argument, NULL, KEY_DEVICE},
    {"to", required_argument, NULL, KEY_TO},
    {"to-mac", required_argument, NULL, KEY_TO_MAC},
    {"first-turn", required_argument, NULL, KEY_FIRST_TURN},
    {"loop", no_argument, NULL, KEY_LOOP},
    {"workspace", required_argument, NULL, KEY_WORKSPACE},
    {NULL, 0, NULL, 0},
};

static struct {
    char const *word;
    enum rm_subcommand command;
    struct option const *options;
} const commands[] = {
    {"run", RM_SUBCOMMAND_RUN, run_options},
    {"check", RM_SUBCOMMAND_CHECK, check_options},
    {"replay", RM_SUBCOMMAND_REPLAY, replay_options},
};

static bool parse_number(char const *text, double low, double high, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && *number >= low && *number <= high;
}

/** A decimal number of `low` to 2^62. */
static bool parse_count(char const *text, uint64_t low, uint64_t *count) {
    char *end;
    errno = 0;
    *count = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && *count >= low && *count <= 1ull << 62;
}

static bool take_ring_number(struct rm_options *options, int key, char const *text) {
    uint64_t count = 0;
    bool good = false;
    switch (key) {
    case KEY_RATE:
        return parse_number(text, 0, 1e8, &options->rate_hz);
    case KEY_SECONDS:
        return parse_number(text, 1e-3, 1e9, &options->seconds);
    case KEY_TURNS:
        return parse_count(text, 1, &options->turns);
    case KEY_FIRST_TURN:
        good = parse_count(text, 0, &count);
        options->first_turn = (int64_t)count;
        return good;
    case KEY_CORE:
        good = parse_count(text, 0, &count) && count <= INT32_MAX;
        options->core = (int32_t)count;
        return good;
    default:
        return false;
    }
}

static bool instruments_take_option(struct rm_options *options, int key, char const *text) {
    switch (key) {
    case KEY_HELP:
        options->command = RM_SUBCOMMAND_HELP;
        return true;
    case KEY_JSON:
        return options->json = true;
    case KEY_LOOP:
        return options->loop = true;
    case KEY_PORT_KIND:
        return rm_ring_port_kind_parse(text, &options->port_kind);
    case KEY_SOCKET:
        options->socket = text;
        return true;
    case KEY_INTERFACE:
        options->interface = text;
        return true;
    case KEY_DEVICE:
        options->device = text;
        return true;
    case KEY_TO:
        options->to = text;
        return true;
    case KEY_TO_MAC:
        options->to_mac = text;
        return true;
    case KEY_WORKSPACE:
        options->workspace = text;
        return true;
    case KEY_PORTS:
        options->ports = text;
        return true;
    default:
        return take_ring_number(options, key, text);
    }
}

static enum rm_code parse_command(int argc, char **argv, struct option const *known, struct rm_options *options,
                                  struct rm_error *error) {
    int key, place = 0;
    optind = 2;
    opterr = 0;
    while ((key = getopt_long(argc, argv, ":h", known, &place)) != -1) {
        if (key == '?')
            return rm_fail(error, RM_E_ARGUMENT, "unknown option \"%s\"", argv[optind - 1]);
        if (key == ':')
            return rm_fail(error, RM_E_ARGUMENT, "option \"%s\" needs a value", argv[optind - 1]);
        if (!instruments_take_option(options, key, optarg))
            return rm_fail(error, RM_E_ARGUMENT, "--%s: \"%s\" is out of its range", known[place].name, optarg);
        if (options->command == RM_SUBCOMMAND_HELP)
            return RM_OK;
    }
    bool const is_replay = options->command == RM_SUBCOMMAND_REPLAY;
    if (optind >= argc || optind + (is_replay ? 1 : 2) < argc)
        return rm_fail(error, RM_E_ARGUMENT,
                       is_replay ? "expected one file" : "expected CONFIG, or CONFIG and OVERLAY");
    options->path = argv[optind];
    options->overlay = optind + 1 < argc ? argv[optind + 1] : NULL;
    return RM_OK;
}

static enum rm_code check_replay(struct rm_options const *options, struct rm_error *error) {
    if (options->rate_hz < 0)
        return rm_fail(error, RM_E_ARGUMENT, "--rate is missing: how many turns per second to send");
    switch (options->port_kind) {
    case RM_PORT_MEMIF:
    case RM_PORT_VIRTIO_USER:
    case RM_PORT_VHOST:
        if (options->socket == NULL)
            return rm_fail(error, RM_E_ARGUMENT, "--socket is missing: the socket of the server");
        break;
    case RM_PORT_AF_PACKET:
    case RM_PORT_AF_XDP:
    case RM_PORT_TAP:
        if (options->interface == NULL)
            return rm_fail(error, RM_E_ARGUMENT, "--interface is missing: the interface to send through");
        break;
    case RM_PORT_PCI:
        if (options->device == NULL)
            return rm_fail(error, RM_E_ARGUMENT, "--device is missing: the PCI address of the card");
        break;
    case RM_PORT_UDP:
        if (options->to == NULL)
            return rm_fail(error, RM_E_ARGUMENT, "--to is missing: address and UDP port to send to");
        break;
    default:
        break;
    }
    return RM_OK;
}

enum rm_code rm_options_parse(int argc, char **argv, struct rm_options *options, struct rm_error *error) {
    *options = (struct rm_options){.command = RM_SUBCOMMAND_HELP,
                                   .rate_hz = -1,
                                   .first_turn = -1,
                                   .core = RM_RING_ANY_CORE,
                                   .port_kind = RM_PORT_UDP};
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
        return RM_OK;
    for (unsigned c = 0; argc >= 2 && c < sizeof commands / sizeof commands[0]; ++c)
        if (strcmp(argv[1], commands[c].word) == 0) {
            options->command = commands[c].command;
            enum rm_code const code = parse_command(argc, argv, commands[c].options, options, error);
            return code == RM_OK && options->command == RM_SUBCOMMAND_REPLAY ? check_replay(options, error) : code;
        }
    return rm_fail(error, RM_E_ARGUMENT, "expected one of: run, check, replay");
}
