// SPDX-License-Identifier: Apache-2.0
/** What is promised of a core of the server: it calls no system, allocates nothing, and touches no page for the first
 * time once it has done everything once. A whole server runs here. Its one core has the roles receive, transmit,
 * housekeeping and exception path. It is held to the promises while instruments and a chain of supplies send good and
 * bad datagrams, or fall silent, applications come, move supplies and go, and an operator sets values. Argument: the
 * kind of the port, memif or ring. Other kinds of ports make calls by design. */
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "base/cores.h"
#include "base/timebase.h"
#include "engine/server.h"
#include "engine/server_state.h"
#include "fabric/test_workspace.h"
#include "wire/frame.h"
#include "wire/native.h"
#include "wire/setpoint.h"
#include <ringmaster/owner.h>
#include <ringmaster/workspace.h>

/* Last: a header of the compiler declares one of the functions that it defines. */
#include "base/test_promises.h"

enum {
    SUPPLIES = 4,
    BPMS = 2,
    TURN_RATE_HZ = 100000,
    PERIOD_TURNS = 50,
    /** Vectors that are taken of an application. */
    VECTORS = 50,
    /** Rounds until everything has been done once, and in all: an application that comes back is no new one. */
    WARM_ROUNDS = 2,
    ROUNDS = 4,
    /** Records of a stream, which all are written once before the core counts as warm. */
    RECORDS = 16384,
    /** Of the link, in each direction: few, so that all are soon used. */
    LINK_BUFFERS = 256,
    BPM_IPV4 = 0x0A140001,
    CHAIN_IPV4 = 0x0A1E0001,
    NATIVE_UDP_PORT = 4660,
};

static uint64_t const TIMEOUT_NS = 60000000000ull;

uint32_t __real_rm_receive_duty(void *role, uint64_t tsc); // NOLINT(bugprone-reserved-identifier): the linker's name
uint32_t __wrap_rm_receive_duty(void *role, uint64_t tsc); // NOLINT(bugprone-reserved-identifier)

/** The first of the core's roles. */
uint32_t __wrap_rm_receive_duty(void *role, uint64_t tsc) { // NOLINT(bugprone-reserved-identifier)
    if (!promises_made && atomic_load(&promises_heard))
        promises_begin();
    promises_look();
    return __real_rm_receive_duty(role, tsc);
}

/** A server, and all that is at the other end of its cable. */
struct promise_test {
    char place[64];
    bool memif;
    struct rm_config *config;
    struct rm_server *server;
    struct rm_workspace *workspace;
    /** Where instruments send: their own port, or a queue of the server's that it does not send by. */
    struct rm_port *cable;
    uint16_t queue;
    /** Turn that the instruments send next. */
    rm_turn turn;
    uint64_t begin_tsc;
    /** Where the supplies stand. */
    union rm_lane stands[SUPPLIES];
    /** The highest term that they were sent. */
    uint16_t term;
    uint64_t grant_number;
    /** Of the guard's counters for the application: those when it began. */
    uint64_t judged[RM_GUARD_COUNTERS];
};

enum { FIRST_TURN = 1000000 };

static void const *find(struct promise_test const *test, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *found;
    struct rm_error error;
    if (rm_workspace_find(test->workspace, kind, name, &object, &found, &error) != RM_OK)
        fail_msg("%s", error.text);
    return found;
}

static uint64_t counted(struct promise_test const *test, char const *name, unsigned counter) {
    return rm_counter_get(find(test, RM_OBJECT_COUNTERS, name), counter);
}

/* The other end of the cable. */

static void send_frame(struct promise_test *test, void const *frame, uint32_t length) {
    struct rm_burst burst;
    if (rm_port_reserve(test->cable, test->queue, &burst, 1) == 0)
        return; /* the link is full, or not up: the datagram is lost */
    memcpy(burst.data[0], frame, length);
    burst.length[0] = length;
    if (rm_port_send(test->cable, test->queue, &burst) == 0)
        rm_port_release(test->cable, test->queue, &burst);
}

/** A native datagram; `spoilt` changes a byte of its payload. */
static void send_native_saying(struct promise_test *test, uint32_t source_ipv4, uint8_t kind, uint16_t id,
                               uint16_t status, rm_turn turn, union rm_lane const *lanes, uint32_t lane_count,
                               bool spoilt) {
    uint8_t frame[RM_FRAME_HEADER_BYTES + RM_NATIVE_LONGEST], payload[RM_NATIVE_LONGEST];
    uint32_t const length = rm_native_write(payload, kind, id, status, turn, lanes, lane_count);
    struct rm_flow const flow = {.source_ipv4 = source_ipv4,
                                 .destination_ipv4 = 0x0A1EFF01,
                                 .source_port = NATIVE_UDP_PORT,
                                 .destination_port = NATIVE_UDP_PORT};
    uint32_t const header = rm_frame_write_header(frame, &flow, length);
    payload[0] ^= spoilt;
    memcpy(frame + header, payload, length);
    send_frame(test, frame, header + length);
}

static void send_native(struct promise_test *test, uint32_t source_ipv4, uint8_t kind, uint16_t id, rm_turn turn,
                        union rm_lane const *lanes, uint32_t lane_count, bool spoilt) {
    send_native_saying(test, source_ipv4, kind, id, 0, turn, lanes, lane_count, spoilt);
}

/** What no instrument of this server sends, in turn. */
static void send_something_else(struct promise_test *test) {
    static uint8_t const ARP[60] = {
        [0] = 0xff, [1] = 0xff, [2] = 0xff, [3] = 0xff, [4] = 0xff, [5] = 0xff, [12] = 8, 6};
    union rm_lane const lane = {.i = 1};
    send_frame(test, ARP, sizeof ARP);
    send_frame(test, ARP, 13);
    send_native(test, BPM_IPV4 + 7, RM_KIND_BPM, 1, test->turn, &lane, 1, false);
    send_native(test, BPM_IPV4, RM_KIND_BPM, 1, test->turn, &lane, 1, true);
    send_native(test, BPM_IPV4, RM_KIND_BPM, 1, test->turn + (1ull << 40), &lane, 1, false);
}

/** One turn of all instruments. Some turns are lost, sent twice, or sent when the next one has gone. */
static void send_turn(struct promise_test *test, rm_turn turn) {
    union rm_lane const lanes[RM_LANES] = {{.i = (int32_t)turn}, {.i = 5}};
    uint32_t const count = test->config->instrument[0].lane_count;
    if (turn % 997 == 0)
        return;
    for (uint32_t id = 1; id <= BPMS; ++id) {
        if (turn % 1013 == 1)
            send_native(test, BPM_IPV4, RM_KIND_BPM, (uint16_t)id, turn - 2, lanes, count, false);
        send_native(test, BPM_IPV4, RM_KIND_BPM, (uint16_t)id, turn, lanes, count, false);
        if (turn % 499 == 0)
            send_native(test, BPM_IPV4, RM_KIND_BPM, (uint16_t)id, turn, lanes, count, false);
    }
    if (turn % 1009 == 0)
        send_something_else(test);
}

/** The chain obeys, and answers. */
static void obey(struct promise_test *test, uint8_t const *frame, uint32_t length) {
    struct rm_datagram udp;
    struct rm_setpoint_datagram datagram;
    union rm_lane lanes[RM_SUPPLY_LANE_FIRST + SUPPLIES] = {{.i = 0}};
    if (rm_frame_parse(frame, length, false, &udp) != RM_PORT_DECODED ||
        rm_setpoint_parse(udp.payload, udp.length, &datagram) != RM_SETPOINT_GOOD)
        return;
    for (uint32_t i = 0; i < SUPPLIES && (datagram.flags & RM_SETPOINT_QUERY) == 0; ++i)
        test->stands[i].f = rm_setpoint_value(&datagram, i);
    bool const query = (datagram.flags & RM_SETPOINT_QUERY) != 0;
    test->term = query ? test->term : datagram.term;
    lanes[RM_SUPPLY_LANE_SEQUENCE].i =
        rm_supply_answer_lane(test->term, query ? RM_SUPPLY_LONG_AGO : (uint16_t)datagram.sequence);
    memcpy(lanes + RM_SUPPLY_LANE_FIRST, test->stands, sizeof test->stands);
    send_native_saying(test, CHAIN_IPV4, RM_KIND_POWER_SUPPLY, RM_CHAIN_ID_PARTS, query ? RM_CHAIN_SAYS_QUERIED : 0,
                       datagram.turn, lanes, RM_SUPPLY_LANE_FIRST + SUPPLIES, false);
}

/** What the instruments and the chain do until now. */
static void run_cable(struct promise_test *test) {
    double const seconds = (double)(rm_tsc() - test->begin_tsc) / test->server->tsc_hz;
    for (rm_turn const due = FIRST_TURN + (rm_turn)(seconds * TURN_RATE_HZ); test->turn <= due; ++test->turn)
        send_turn(test, test->turn);
    struct rm_burst burst;
    if (!test->memif || rm_port_receive(test->cable, test->queue, &burst) == 0)
        return;
    for (uint32_t i = 0; i < burst.count; ++i)
        obey(test, burst.data[i], burst.length[i]);
    rm_port_release(test->cable, test->queue, &burst);
}

/** Lets the machine run until so many more turns were sent. */
static void run_turns(struct promise_test *test, rm_turn turns) {
    for (rm_turn const end = test->turn + turns; test->turn < end;)
        run_cable(test);
}

/* People and programs beside it. */

static bool is_granted(struct promise_test *test) {
    struct rm_grant_reading reading;
    if (!rm_grant_read(find(test, RM_OBJECT_GRANT, "grant/mover"), &reading) || reading.pid != (uint64_t)getpid() ||
        reading.grant_number == 0 || reading.grant_number == test->grant_number)
        return false;
    test->grant_number = reading.grant_number;
    return true;
}

static void run_until(struct promise_test *test, bool (*reached)(struct promise_test *), char const *what) {
    for (uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS; !reached(test); run_turns(test, PERIOD_TURNS))
        if (rm_monotonic_ns() > end)
            fail_msg("waited in vain for %s; system call %d was trapped", what, atomic_load(&promises_call) - 1);
}

/** The guard has taken many of the application's vectors, and refused some of each kind. */
static bool has_been_judged(struct promise_test *test) {
    static unsigned const REFUSALS[] = {RM_GUARD_REFUSED_GRANT, RM_GUARD_REFUSED_HIGH};
    bool judged = counted(test, "counters/guard/mover", RM_GUARD_TAKEN) >= test->judged[RM_GUARD_TAKEN] + VECTORS;
    for (unsigned i = 0; i < sizeof REFUSALS / sizeof REFUSALS[0]; ++i)
        judged &= counted(test, "counters/guard/mover", REFUSALS[i]) > test->judged[REFUSALS[i]];
    return judged;
}

/** One vector; some are old, and some ask for too much. */
static void commit_vector(struct promise_test *test, struct rm_setpoints *setpoints, uint32_t number) {
    struct rm_setpoint_vector *const vector = rm_setpoints_begin(setpoints);
    rm_setpoints_put(vector, 0, number % 50 * 0.1);
    rm_setpoints_put(vector, 1, number % 6 == 0 ? 1e9 : -1.0);
    rm_setpoints_commit(vector, test->grant_number - (number % 7 == 0), test->turn - 1, rm_tsc());
}

/** An application begins, moves two supplies, and ends. */
static void run_application(struct promise_test *test) {
    struct rm_owner *owner;
    struct rm_error error;
    assert_int_equal(rm_owner_new(test->config->workspace, "mover", &owner, &error), RM_OK);
    rm_owner_index const vectors = rm_owner_setpoints(owner, "setpoints/mover", "what it wants", 2);
    assert_int_equal(rm_owner_open(owner, &error), RM_OK);
    run_until(test, is_granted, "a grant");
    for (unsigned i = 0; i < RM_GUARD_COUNTERS; ++i)
        test->judged[i] = counted(test, "counters/guard/mover", i);
    uint64_t const end = rm_monotonic_ns() + TIMEOUT_NS;
    for (uint32_t number = 1; !has_been_judged(test); ++number) {
        if (rm_monotonic_ns() > end)
            fail_msg("the guard has not judged the application's vectors");
        commit_vector(test, rm_owner_memory(owner, vectors), number);
        run_turns(test, PERIOD_TURNS);
    }
    rm_owner_close(owner);
}

static bool put_is_answered(struct promise_test *test) {
    return rm_mailbox_is_answered(&rm_transmit_put(test->server->transmit)->mailbox);
}

/** The operator sets the last supply, as the control thread does it. */
static void put(struct promise_test *test, double value) {
    struct rm_operator_put *const put = rm_transmit_put(test->server->transmit);
    put->supply = SUPPLIES - 1;
    put->value = value;
    rm_mailbox_post(&put->mailbox);
    run_until(test, put_is_answered, "the operator's value to be taken");
}

static bool moves(struct promise_test *test) {
    return counted(test, "counters/chain/c", RM_CHAIN_SENT) > counted(test, "counters/chain/c", RM_CHAIN_QUERIES);
}

static bool is_counted(struct promise_test *test) {
    (void)test;
    return atomic_load(&promises_counted);
}

/** Every record of the streams was written, every buffer of the link was used in both directions, and every chain
 * answered that can. */
static bool has_done_everything_once(struct promise_test *test) {
    bool const answered = !test->memif || counted(test, "counters/chain/c", RM_CHAIN_ANSWERED) > 0;
    return answered && counted(test, "counters/chain/c", RM_CHAIN_SENT) > LINK_BUFFERS &&
           counted(test, "counters/stream/bpm01", RM_STREAM_ACCEPTED) > RECORDS &&
           counted(test, "counters/port/cable", RM_PORT_BAD_MAGIC) > 0;
}

static void a_core_with_all_roles_keeps_its_promises(void **state) {
    struct promise_test *const test = *state;
    promises_listen();
    run_until(test, moves, "setpoints");
    for (int round = 0; round < ROUNDS; ++round) {
        run_application(test);
        put(test, round);
        run_turns(test, RECORDS);
        usleep(50000); /* nothing comes for a while */
        run_turns(test, PERIOD_TURNS);
        if (round + 1 == WARM_ROUNDS) {
            run_until(test, has_done_everything_once, "all records and buffers");
            promises_warm();
        }
    }
    promises_end();
    run_until(test, is_counted, "the page faults");
    promises_expect_kept("the core");
}

/* Making it. */

static void write_config(struct promise_test const *test, char const *path) {
    cpu_set_t cpus;
    struct rm_error error;
    char port[PATH_MAX];
    assert_int_equal(rm_cores_available(&cpus, &error), RM_OK);
    int core = CPU_SETSIZE - 1;
    while (!CPU_ISSET(core, &cpus))
        --core;
    snprintf(port, sizeof port, "kind: memif, socket: %s/cable.sock, role: server", test->place);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "workspace: promises\nturn_rate_hz: %d\n"
        "buffers: {turn_records: %d, fast_records: 1024}\n"
        "ports: [{name: cable, answer: 10.30.0.250, %s}]\n"
        "instruments:\n  - {name: bpm01, kind: bpm, id: 1, port: cable, source: 10.20.0.1}\n"
        "  - {name: bpm02, kind: bpm, id: 2, port: cable, source: 10.20.0.1}\n"
        "setpoints: {period_turns: %d, phase_turns: 10, lost_cycles: 200}\n"
        "chains:\n  - {name: c, id: 1, port: cable, address: 10.30.0.1, readback: %s, supplies: [{name: ps/, count: "
        "%d, unit: A, limits: [-10, 10], slew: 100, safe: 0, tolerance: 1}]}\n"
        "applications: [{name: mover, code: ramp, supplies: [ps/01, ps/02], freshness_turns: 2000}]\n"
        "roles: [{role: receive, core: %d, ports: [cable]}, {role: transmit, core: %d}]\n",
        TURN_RATE_HZ, RECORDS, test->memif ? port : "kind: ring, queues: 2", PERIOD_TURNS,
        test->memif ? "true" : "false", SUPPLIES, core, core);
    fclose(file);
}

static void open_cable(struct promise_test *test) {
    if (!test->memif) {
        test->cable = test->server->port[0].port;
        test->queue = 1;
        return;
    }
    struct rm_port_config config = {.name = "far", .kind = RM_PORT_MEMIF, .queues = 1, .ring_slots = LINK_BUFFERS};
    struct rm_error error;
    snprintf(config.socket_path, sizeof config.socket_path, "%s/cable.sock", test->place);
    if (rm_port_open(&config, &test->cable, &error) != RM_OK)
        fail_msg("%s", error.text);
}

static bool memif;

static int set_up(void **state) {
    struct promise_test *const test = calloc(1, sizeof *test);
    char path[PATH_MAX];
    struct rm_error error = {.text = ""};
    *state = test;
    test->memif = memif;
    assert_true(test_workspaces_make(test->place, sizeof test->place));
    snprintf(path, sizeof path, "%s/server.yaml", test->place);
    write_config(test, path);
    if (rm_config_load(path, &test->config, &error) != RM_OK)
        fail_msg("%s", error.text);
    test->config->port[0].port.ring_slots = LINK_BUFFERS;
    if (rm_server_start(test->config, rm_simd_best(), &test->server, &error) != RM_OK ||
        rm_workspace_attach(test->config->workspace, 0, &test->workspace, &error) != RM_OK)
        fail_msg("%s", error.text);
    open_cable(test);
    test->turn = FIRST_TURN;
    test->begin_tsc = rm_tsc();
    return 0;
}

static int tear_down(void **state) {
    struct promise_test *const test = *state;
    promises_end(); /* also where the test has failed: the core may end */
    rm_workspace_detach(test->workspace);
    if (test->memif)
        rm_port_close(test->cable);
    rm_server_stop(test->server);
    rm_config_free(test->config);
    test_workspaces_remove(test->place);
    free(test);
    return 0;
}

int main(int argc, char **argv) {
    memif = argc > 1 && strcmp(argv[1], "memif") == 0;
    struct CMUnitTest const tests[] = {
        cmocka_unit_test_setup_teardown(a_core_with_all_roles_keeps_its_promises, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("promises of the roles", tests, NULL, NULL);
}
