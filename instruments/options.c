// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include "base/fail.h"
#include "base/options.h"
#include "ring_config.h"
#include "ring_file.h"

char const rm_instruments_usage[] =
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
    "  --checkpoint FILE   of a living machine: goes on from what FILE says, if it is there, and writes it in the end\n"
    "  --truth FILE        write all errors that the ring has drawn, as JSON, for a test that scores\n"
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

enum { RUN = 1 << RM_SUBCOMMAND_RUN, CHECK = 1 << RM_SUBCOMMAND_CHECK, REPLAY = 1 << RM_SUBCOMMAND_REPLAY };

static char const *const commands[] = {
    [RM_SUBCOMMAND_RUN] = "run", [RM_SUBCOMMAND_CHECK] = "check", [RM_SUBCOMMAND_REPLAY] = "replay", NULL};

static double const COUNT_MOST = 1e18;

static enum rm_code take_port_kind(void *value, char const *text, struct rm_error *error) {
    if (rm_ring_port_kind_parse(text, value))
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "--port-kind: found \"%s\", expected a kind that --help lists", text);
}

/** Those of one command, out of all. */
static enum rm_code read_command(int argc, char **argv, struct rm_instruments_options *to, uint64_t *core,
                                 struct rm_error *error) {
    struct {
        unsigned commands;
        struct rm_option option;
    } const all[] = {
        {RUN | CHECK, {.name = "CONFIG", .value = &to->path, .kind = RM_OPTION_TEXT, .place = RM_WORD}},
        {RUN | CHECK, {.name = "OVERLAY", .value = &to->overlay, .kind = RM_OPTION_TEXT, .place = RM_OPTIONAL_WORD}},
        {RUN | CHECK, {.name = "ports", .value = &to->ports, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "FILE", .value = &to->path, .kind = RM_OPTION_TEXT, .place = RM_WORD}},
        {RUN | REPLAY, {.name = "turns", .value = &to->turns, .kind = RM_OPTION_WHOLE, .least = 1, .most = COUNT_MOST}},
        {RUN | REPLAY,
         {.name = "seconds", .value = &to->seconds, .kind = RM_OPTION_NUMBER, .least = 1e-3, .most = 1e9}},
        {RUN | REPLAY, {.name = "core", .value = core, .kind = RM_OPTION_WHOLE, .most = INT32_MAX}},
        {RUN | REPLAY, {.name = "json", .value = &to->json, .kind = RM_OPTION_FLAG}},
        {RUN, {.name = "turn-rate", .value = &to->rate_hz, .kind = RM_OPTION_NUMBER, .most = 1e8}},
        {RUN, {.name = "checkpoint", .value = &to->checkpoint, .kind = RM_OPTION_TEXT}},
        {RUN, {.name = "truth", .value = &to->truth, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "rate", .value = &to->rate_hz, .kind = RM_OPTION_NUMBER, .most = 1e8, .place = RM_REQUIRED}},
        {REPLAY, {.name = "port-kind", .value = &to->port_kind, .kind = RM_OPTION_TAKE, .take = take_port_kind}},
        {REPLAY, {.name = "socket", .value = &to->socket, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "interface", .value = &to->interface, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "device", .value = &to->device, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "to", .value = &to->to, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "to-mac", .value = &to->to_mac, .kind = RM_OPTION_TEXT}},
        {REPLAY, {.name = "first-turn", .value = &to->first_turn, .kind = RM_OPTION_WHOLE, .most = COUNT_MOST}},
        {REPLAY, {.name = "loop", .value = &to->loop, .kind = RM_OPTION_FLAG}},
        {REPLAY, {.name = "workspace", .value = &to->workspace, .kind = RM_OPTION_TEXT}},
    };
    struct rm_option options[sizeof all / sizeof *all];
    size_t count = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; ++i)
        if (all[i].commands & 1u << to->command)
            options[count++] = all[i].option;
    return rm_options_read(argc, argv, options, count, error);
}

static enum rm_code check_replay(struct rm_instruments_options const *options, struct rm_error *error) {
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

enum rm_code rm_instruments_options_read(int argc, char **argv, struct rm_instruments_options *options,
                                         struct rm_error *error) {
    *options = (struct rm_instruments_options){.rate_hz = -1, .first_turn = RM_TURN_NONE, .port_kind = RM_PORT_UDP};
    uint64_t command, core = UINT64_MAX;
    enum rm_code code = rm_options_command(argc, argv, commands, &command, error);
    if (code != RM_OK)
        return code;
    options->command = (enum rm_subcommand)command;
    code = read_command(argc - 1, argv + 1, options, &core, error);
    options->core = core == UINT64_MAX ? RM_RING_ANY_CORE : (int32_t)core;
    return code == RM_OK && options->command == RM_SUBCOMMAND_REPLAY ? check_replay(options, error) : code;
}
