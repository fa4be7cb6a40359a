// SPDX-License-Identifier: Apache-2.0
/** ringmaster-instruments: a virtual ring, or a recorded one. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/errors.h"
#include "base/fail.h"
#include "base/options.h"
#include "beam.h"
#include "fellows.h"
#include "fragments.h"
#include "machine_lanes.h"
#include "options.h"
#include "replay_file.h"
#include "responses.h"
#include "ring_config.h"
#include "ring_turns.h"
#include "session.h"
#include "truth.h"
#include "wire/address.h"

#define PROGRAM "ringmaster-instruments"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

static struct rm_session session_of(struct rm_instruments_options const *options, struct rm_ring_config const *ring) {
    return (struct rm_session){
        .ring = ring,
        .turns = options->turns == 0 ? UINT64_MAX : options->turns,
        .seconds = options->seconds,
        .json = options->json,
    };
}

/** So long before its turn an event of the beam is published, for rings that follow. */
static double const EVENT_LEAD_S = 0.25;

/** The beam as a source: turn `index` of the run is the beam's turn first_turn + index. */
struct simulation {
    struct rm_beam *beam;
    struct rm_responses responses;
    struct rm_machine *machine; /**< NULL: the beam's orbit is as configured */
    struct rm_machine_lanes lanes;
    struct rm_readouts *readouts;
    struct rm_event_schedule *schedule;
    struct rm_ring_turns turns;
};

static union rm_lane const *simulate_lanes(void *state, uint64_t index, uint32_t first, uint32_t count) {
    struct simulation *simulation = state;
    simulation->turns.supplies.chains = simulation->responses.chains;
    return rm_ring_turns_read(&simulation->turns, index, first, count);
}

/** A run's supplies are moved by the hook of its sender. */
static double time_of_turn(void *responses, uint64_t index) { return rm_responses_time(responses, index); }

/** The beam, and where the ring has a living machine that too: its tunes are the beam's. */
static enum rm_code make_beam(struct rm_ring_config *ring, struct simulation *simulation, struct rm_error *error) {
    enum rm_code code = RM_OK;
    if (ring->machine.present) {
        code = rm_machine_make(&ring->machine, ring->beam.turn_rate_hz, &simulation->machine, error);
        if (code != RM_OK)
            return code;
        rm_machine_lanes_tune(simulation->machine, &ring->beam);
    }
    code = rm_beam_make(&ring->beam, ring->instruments, ring->instrument_count, &simulation->beam, error);
    if (code == RM_OK)
        code = rm_readouts_make(ring->readouts, ring->readout_count, &ring->beam, simulation->beam,
                                &simulation->readouts, error);
    if (code == RM_OK && ring->machine.present)
        code = rm_machine_lanes_make(
            ring, simulation->machine,
            &(struct rm_machine_currents){rm_responses_currents, rm_responses_currents_of, &simulation->responses},
            simulation->beam, &simulation->lanes, error);
    return code;
}

/** Once the first turn is known. */
static enum rm_code make_turns(struct rm_ring_config *ring, struct simulation *simulation, struct rm_error *error) {
    enum rm_code code = rm_event_schedule_make(ring, &simulation->schedule, error);
    if (code == RM_OK)
        code = rm_ring_turns_make(ring, simulation->schedule, simulation->beam, &simulation->lanes, &simulation->turns,
                                  error);
    if (code != RM_OK)
        return code;
    simulation->turns.readouts = simulation->readouts;
    simulation->turns.supplies.reach = time_of_turn;
    simulation->turns.supplies.state = &simulation->responses;
    if (ring->workspace[0] != '\0')
        simulation->schedule->lead_turns = (uint64_t)(EVENT_LEAD_S * ring->beam.turn_rate_hz);
    return RM_OK;
}

static void free_beam(struct simulation *simulation) {
    rm_ring_turns_free(&simulation->turns);
    rm_event_schedule_free(simulation->schedule);
    rm_machine_lanes_free(&simulation->lanes);
    rm_machine_free(simulation->machine);
    rm_beam_free(simulation->beam);
    rm_readouts_free(simulation->readouts);
}

static void wait_for_fellow(bool *said) {
    struct timespec const pause = {.tv_nsec = 50 * 1000 * 1000};
    if (!*said)
        fputs("ringmaster-instruments: waiting for the first turn of the ring that is in this workspace already\n",
              stderr);
    *said = true;
    nanosleep(&pause, NULL);
}

/** Finds the rings that are in this workspace already, and takes their time where they have one. */
static enum rm_code join_fellows(struct rm_instruments_options const *options, struct rm_ring_config *ring,
                                 struct rm_fellows *fellows, struct rm_session *session, struct rm_error *error) {
    double const rate_hz = options->rate_hz == 0 ? 0 : ring->beam.turn_rate_hz;
    enum rm_fellows_time_source answer = RM_FELLOWS_NO_TIME;
    bool said = false;
    for (;;) {
        enum rm_code code = rm_fellows_open(ring->workspace, fellows, error);
        if (code == RM_OK)
            code = rm_fellows_check_names(fellows, ring, error);
        if (code == RM_OK && ring->instrument_count != 0)
            code = rm_fellows_time(fellows, ring, rate_hz, &answer, &session->joins, error);
        if (code == RM_OK && answer != RM_FELLOWS_WAIT)
            break;
        rm_fellows_close(fellows);
        if (code != RM_OK)
            return code;
        wait_for_fellow(&said);
    }
    session->fellows = fellows;
    session->joined = answer == RM_FELLOWS_TIME;
    if (session->joined)
        ring->first_turn = session->joins.first_turn;
    return RM_OK;
}

/** Without instruments there is no beam. */
static enum rm_code run_supplies(struct rm_instruments_options const *options, struct rm_ring_config *ring,
                                 struct rm_error *error) {
    struct rm_session session = session_of(options, ring);
    struct rm_fellows fellows;
    session.turn_rate_hz = ring->beam.turn_rate_hz;
    enum rm_code code = join_fellows(options, ring, &fellows, &session, error);
    if (code != RM_OK)
        return code;
    code = rm_event_schedule_make(ring, &session.schedule, error);
    if (code == RM_OK)
        code = rm_session_run(&session, error);
    rm_event_schedule_free(session.schedule);
    rm_fellows_close(&fellows);
    return code;
}

/** What an earlier run has left; then this run's first turn is the one after its last. */
static enum rm_code load_checkpoint(char const *path, struct rm_ring_config *ring, struct simulation *simulation,
                                    struct rm_error *error) {
    if (simulation->machine == NULL)
        return rm_fail(error, RM_E_ARGUMENT,
                       "--checkpoint: expected a ring with the key `machine`: others are "
                       "functions of the turn, and begin at any first_turn");
    enum rm_code const code = rm_machine_lanes_load(&simulation->lanes, path, &ring->first_turn, error);
    return code == RM_E_NOT_FOUND ? RM_OK : code;
}

/** Joins last, as the beam takes its time: from then to the segment, which others see, is but a moment. */
static enum rm_code run_beam(struct rm_instruments_options const *options, struct rm_ring_config *ring,
                             struct simulation *simulation, struct rm_error *error) {
    struct rm_session session = session_of(options, ring);
    struct rm_fellows fellows;
    enum rm_code code = make_beam(ring, simulation, error);
    if (code == RM_OK && options->checkpoint != NULL)
        code = load_checkpoint(options->checkpoint, ring, simulation, error);
    if (code == RM_OK && options->truth != NULL)
        code = rm_truth_write(ring, simulation->machine, options->truth, error);
    if (code == RM_OK)
        code = join_fellows(options, ring, &fellows, &session, error);
    if (code != RM_OK)
        return code;
    if (session.joined && simulation->machine != NULL)
        rm_machine_lanes_begin(&simulation->lanes);
    code = make_turns(ring, simulation, error);
    session.source = (struct rm_turn_source){simulate_lanes, simulation};
    session.simulated = true;
    session.schedule = simulation->schedule;
    session.responses = &simulation->responses;
    session.machine = simulation->machine;
    session.lanes = simulation->machine != NULL ? &simulation->lanes : NULL;
    session.turn_rate_hz = options->rate_hz == 0 ? 0 : ring->beam.turn_rate_hz;
    if (code == RM_OK)
        code = rm_session_run(&session, error);
    rm_fellows_close(&fellows);
    if (code == RM_OK && options->checkpoint != NULL)
        code = rm_machine_lanes_save(&simulation->lanes, options->checkpoint, error);
    return code;
}

static enum rm_code run_ring(struct rm_instruments_options const *options, struct rm_ring_config *ring,
                             struct rm_error *error) {
    if (options->core != RM_RING_ANY_CORE)
        ring->core = options->core;
    if (options->rate_hz > 0)
        ring->beam.turn_rate_hz = options->rate_hz;
    if (ring->instrument_count == 0)
        return run_supplies(options, ring, error);
    struct simulation simulation = {0};
    enum rm_code const code = run_beam(options, ring, &simulation, error);
    free_beam(&simulation);
    return code;
}

/** Datagrams a second, through each network. */
static double datagram_rate_hz(struct rm_ring_config const *ring) {
    double rate = 0;
    for (uint32_t g = 0; g < ring->group_count; ++g) {
        struct rm_virtual_group const *group = &ring->groups[g];
        rate += ring->beam.turn_rate_hz / ((double)group->period_turns * rm_virtual_group_turns(group));
    }
    return rate;
}

static void describe_supplies(struct rm_ring_supplies const *supplies) {
    printf("%u supplies in %u chain%s; %u responses; %u faults of them\n", supplies->supply_count,
           supplies->chain_count, supplies->chain_count == 1 ? "" : "s", supplies->response_count,
           supplies->fault_count);
}

static void describe_ring(struct rm_ring_config const *ring) {
    if (ring->supplies.chain_count != 0)
        describe_supplies(&ring->supplies);
    if (ring->instrument_count == 0)
        return;
    printf("%u instruments", ring->instrument_count);
    if (ring->group_count != ring->instrument_count)
        printf(" in %u datagram%s", ring->group_count, ring->group_count == 1 ? "" : "s");
    printf(" at %.9g turns/s: %.6g Mpps%s; ", ring->beam.turn_rate_hz, 1e-6 * datagram_rate_hz(ring),
           ring->network_count == 2 ? " through each of two networks" : "");
    uint32_t sending = 0;
    for (uint32_t p = 0; p < ring->port_count; ++p)
        sending += rm_ring_sends_through(ring, p);
    if (sending > ring->network_count)
        printf("%u ports; ", sending);
    if (!ring->machine.present)
        printf("tunes %g and %g; ", ring->beam.tune_x, ring->beam.tune_y);
    printf("%u faults, %u events\n", ring->fault_count, ring->event_count);
    if (ring->ports[0].paired)
        printf("all of it goes to both servers, %s and %s\n", ring->description->standby.server[0].name,
               ring->description->standby.server[1].name);
}

/** Whether a lattice has what the file says of it shows only when it is read. */
static enum rm_code describe_machine(struct rm_ring_config const *ring, struct rm_error *error) {
    struct rm_machine *machine;
    if (!ring->machine.present)
        return RM_OK;
    enum rm_code const code = rm_machine_make(&ring->machine, ring->beam.turn_rate_hz, &machine, error);
    if (code != RM_OK)
        return code;
    struct rm_machine_report const says = rm_machine_says(machine);
    printf("a living machine of %s: %u BPMs, %u groups of supplies; tunes %.4f and %.4f\n", ring->machine.lattice,
           ring->machine.bpm_count, ring->machine.group_count, says.tune[0], says.tune[1]);
    rm_machine_free(machine);
    return RM_OK;
}

static enum rm_code run_or_check(struct rm_instruments_options const *options, struct rm_error *error) {
    struct rm_ring_config ring;
    struct rm_errors errors = {.count = 0};
    struct rm_ring_files const files = {options->path, options->overlay, options->ports};
    enum rm_code code = rm_ring_config_load_all(&files, &ring, &errors);
    if (code != RM_OK) {
        rm_errors_print(&errors, PROGRAM, stderr);
        error->text[0] = '\0'; /* nothing is left to say */
        return code;
    }
    if (options->command == RM_SUBCOMMAND_RUN)
        code = run_ring(options, &ring, error);
    else
        describe_ring(&ring);
    if (code == RM_OK && options->command != RM_SUBCOMMAND_RUN)
        code = describe_machine(&ring, error);
    rm_ring_config_free(&ring);
    return code;
}

/** Copies an option's text, which must fit. */
static enum rm_code copy_text(char *to, size_t bytes, char const *option, char const *text, struct rm_error *error) {
    if (text == NULL)
        return RM_OK;
    if (strlen(text) >= bytes)
        return rm_fail(error, RM_E_ARGUMENT, "--%s: \"%s\" is too long, expected at most %zu characters", option, text,
                       bytes - 1);
    strcpy(to, text);
    return RM_OK;
}

/** Where a replay goes, from the command line. */
static enum rm_code fill_port(struct rm_instruments_options const *options, struct rm_ring_config *ring,
                              struct rm_error *error) {
    struct rm_port_config *port = &ring->ports[0].port;
    struct rm_flow *flow = &ring->ports[0].flow;
    ring->network_count = ring->port_count = 1;
    ring->ports[0].mtu = RM_MTU_MOST; /* native datagrams fit any */
    *port = (struct rm_port_config){.name = "replay", .kind = options->port_kind, .queues = 1};
    enum rm_code code = copy_text(port->socket_path, sizeof port->socket_path, "socket", options->socket, error);
    if (code == RM_OK)
        code = copy_text(port->interface, sizeof port->interface, "interface", options->interface, error);
    if (code == RM_OK)
        code = copy_text(port->device, sizeof port->device, "device", options->device, error);
    if (code == RM_OK)
        code = copy_text(ring->workspace, sizeof ring->workspace, "workspace", options->workspace, error);
    if (code != RM_OK)
        return code;
    rm_ring_flow_default(flow);
    if (options->to != NULL) {
        if (!rm_endpoint_parse(options->to, &port->peer_ipv4, &port->peer_port))
            return rm_fail(error, RM_E_ARGUMENT, "--to: found \"%s\", expected ADDRESS:PORT such as 127.0.0.1:4660",
                           options->to);
        flow->destination_ipv4 = port->peer_ipv4;
        flow->destination_port = port->peer_port;
    }
    if (options->to_mac != NULL && !rm_mac_parse(options->to_mac, flow->destination_mac))
        return rm_fail(error, RM_E_ARGUMENT, "--to-mac: found \"%s\", expected a MAC such as 02:00:0a:14:ff:01",
                       options->to_mac);
    return RM_OK;
}

static enum rm_code replay_recording(struct rm_instruments_options const *options, struct rm_error *error) {
    struct rm_replay_file file;
    struct rm_ring_config ring = {.core = options->core};
    enum rm_code code = fill_port(options, &ring, error);
    if (code == RM_OK)
        code = rm_replay_file_open(options->path, &file, error);
    if (code != RM_OK)
        return code;
    ring.instruments = file.instruments;
    ring.instrument_count = file.instrument_count;
    code = rm_ring_all_native(&ring, error);
    ring.first_turn = options->first_turn == RM_TURN_NONE ? file.first_turn : options->first_turn;
    struct rm_session session = session_of(options, &ring);
    session.source = (struct rm_turn_source){rm_replay_file_turn, &file};
    session.turn_rate_hz = options->rate_hz;
    if (!options->loop && session.turns > file.turn_count)
        session.turns = file.turn_count;
    if (code == RM_OK)
        code = rm_session_run(&session, error);
    ring.instruments = NULL; /* they are the file's */
    rm_ring_config_free(&ring);
    rm_replay_file_close(&file);
    return code;
}

int main(int argc, char **argv) {
    struct rm_instruments_options options;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(rm_instruments_usage, stdout);
        return EXIT_GOOD;
    }
    if (rm_instruments_options_read(argc, argv, &options, &error) != RM_OK)
        return rm_options_refuse(&error);
    enum rm_code const code =
        options.command == RM_SUBCOMMAND_REPLAY ? replay_recording(&options, &error) : run_or_check(&options, &error);
    if (code == RM_OK)
        return EXIT_GOOD;
    if (error.text[0] != '\0')
        fprintf(stderr, PROGRAM ": %s\n", error.text);
    return code == RM_E_ARGUMENT ? EXIT_USAGE : EXIT_FAILED;
}
