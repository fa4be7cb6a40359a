// SPDX-License-Identifier: Apache-2.0
/** A virtual ring: the other end of a machine that a server's file describes, and what only the ring has, from an
 * overlay. docs/virtual-ring.md has all keys. Cold path.
 *
 *     struct rm_ring_files const files = {.config = "configs/feedback.yaml", .overlay = "configs/feedback-ring.yaml"};
 *     struct rm_ring_config ring;
 *     struct rm_error error;
 *     if (rm_ring_config_load(&files, &ring, &error) != RM_OK)
 *         errx(1, "%s", error.text);
 *     …
 *     rm_ring_config_free(&ring);
 */
#ifndef RM_INSTRUMENTS_RING_CONFIG_H
#define RM_INSTRUMENTS_RING_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/abi.h>
#include <ringmaster/error.h>
#include <ringmaster/record.h>

#include "base/errors.h"
#include "config/config.h"
#include "fault.h"
#include "lock_step.h"
#include "motion.h"
#include "net/port.h"
#include "ring_machine.h"
#include "ring_supplies.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

enum {
    RM_RING_FAULTS_MAX = 1024,
    RM_RING_PORTS_MAX = RM_CONFIG_PORTS_MAX,
    RM_RING_ANY_CORE = -1,
    RM_RING_BOTH_NETWORKS = -1,
};

/** What a ring is made of. */
struct rm_ring_files {
    /** The server's file. */
    char const *config;
    /** What only the ring has; NULL: nothing. */
    char const *overlay;
    /** Names with commas between: the ring is the other end of these alone; NULL: of all. */
    char const *ports;
};

/** A fault and whom it befalls: consecutive groups, on one network or on all. */
struct rm_ring_fault {
    uint32_t first_group;
    uint32_t group_count;
    /** 0, 1, or RM_RING_BOTH_NETWORKS: then the same datagrams of both. */
    int32_t network;
    struct rm_fault fault;
};

/** A port and what the datagrams that leave through it have in common. */
struct rm_ring_port {
    /** Of kind udp: bind_ipv4 is each group's own. */
    struct rm_port_config port;
    /** Where to; the source address is each group's own. */
    struct rm_flow flow;
    /** Bytes of an IPv4 packet; longer datagrams are fragmented. The kernel knows its own. */
    uint32_t mtu;
};

struct rm_ring_config {
    /** Where the ring publishes its segment; empty: nowhere. */
    char workspace[RM_OWNER_BYTES];
    rm_turn first_turn;
    /** Of the sender; 0: it sends every turn, however late. */
    double max_lag_s;
    struct rm_lock_step_config lock_step;
    /** CPU to run on, or RM_RING_ANY_CORE. */
    int32_t core;
    /** 0 where there are no instruments; 2: every group sends through two ports. */
    uint32_t network_count;
    uint32_t port_count;
    /** In the order of the server's, and of the same names. */
    struct rm_ring_port ports[RM_RING_PORTS_MAX];
    bool udp_checksum;
    struct rm_beam_config beam;
    /** The server's file, whose formats the groups use; NULL of a replay. */
    struct rm_config *description;
    /** That of a replay; else NULL. */
    struct rm_format *native;
    struct rm_virtual_instrument *instruments;
    uint32_t instrument_count;
    /** In the order of their instruments, each of which is in one. */
    struct rm_virtual_group *groups;
    uint32_t group_count;
    struct rm_ring_fault *faults;
    uint32_t fault_count;
    struct rm_ring_supplies supplies;
    struct rm_ring_machine machine;
};

/** Reads and checks the files. Errors name file, line, column and what was expected: RM_E_CONFIG, RM_E_SYSTEM. */
enum rm_code rm_ring_config_load(struct rm_ring_files const *files, struct rm_ring_config *config,
                                 struct rm_error *error);

/** The same, with all that is wrong: against the schema, or of each part that stands on no other that is wrong. */
enum rm_code rm_ring_config_load_all(struct rm_ring_files const *files, struct rm_ring_config *config,
                                     struct rm_errors *errors);

/** Where datagrams go when nobody says: 10.20.255.1, UDP port 4660, a MAC that is nobody's. */
void rm_ring_flow_default(struct rm_flow *flow);

/** Fills in the groups of instruments that all send native datagrams of their own, every turn. RM_E_NO_SPACE. */
enum rm_code rm_ring_all_native(struct rm_ring_config *config, struct rm_error *error);

/** Whether a group sends through this port. */
bool rm_ring_sends_through(struct rm_ring_config const *config, uint32_t port);

/** Frees what loading allocated. */
void rm_ring_config_free(struct rm_ring_config *config);

#endif
