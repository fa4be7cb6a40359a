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
#include "readouts.h"
#include "ring_event.h"
#include "ring_machine.h"
#include "ring_supplies.h"
#include "virtual_instrument.h"
#include "wire/frame.h"

enum {
    RM_RING_FAULTS_MAX = 1024,
    RM_RING_BPM_ERRORS_MAX = 1024,
    RM_RING_EVENTS_MAX = 1024,
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

/** A fault and what it befalls: consecutive groups, on one network or on all. */
struct rm_ring_fault {
    uint32_t first_group;
    uint32_t group_count;
    /** 0, 1, or RM_RING_BOTH_NETWORKS: then it befalls the same datagrams on both. */
    int32_t network;
    struct rm_fault fault;
};

/** A port, and what the datagrams that leave through it have in common. */
struct rm_ring_port {
    /** For kind udp, each group has its own bind_ipv4. */
    struct rm_port_config port;
    /** The ring is of a pair of servers: what leaves by the port goes to the second one, too, by `second`. All ports of
     * a ring are paired, or none. */
    bool paired;
    struct rm_port_config second;
    /** Where datagrams go; each group has its own source address. */
    struct rm_flow flow;
    /** Bytes of an IPv4 packet; longer datagrams are fragmented. For sockets the kernel does that. */
    uint32_t mtu;
};

struct rm_ring_config {
    /** Where the ring publishes its segment; empty: nowhere. */
    char workspace[RM_OWNER_BYTES];
    rm_turn first_turn;
    /** Maximum lag of the sender; 0: it sends every turn, however late. */
    double max_lag_s;
    /** As the server's cores: polling.naps. */
    bool naps;
    struct rm_lock_step_config lock_step;
    /** CPU to run on, or RM_RING_ANY_CORE. */
    int32_t core;
    /** 0 where there are no instruments; 2: every group sends through two ports. */
    uint32_t network_count;
    uint32_t port_count;
    /** In the order of the server's ports, with the same names. */
    struct rm_ring_port ports[RM_RING_PORTS_MAX];
    bool udp_checksum;
    struct rm_beam_config beam;
    /** The server's file, whose formats the groups use; NULL for a replay. */
    struct rm_config *description;
    /** The format of a replay; else NULL. */
    struct rm_format *native;
    struct rm_virtual_instrument *instruments;
    uint32_t instrument_count;
    /** In the order of their instruments; each instrument is in one group. */
    struct rm_virtual_group *groups;
    uint32_t group_count;
    struct rm_ring_fault *faults;
    uint32_t fault_count;
    struct rm_ring_supplies supplies;
    struct rm_ring_machine machine;
    /** Electronics of BPMs that are not ideal, in the order of their instruments. */
    struct rm_readout_config *readouts;
    uint32_t readout_count;
    struct rm_ring_event *events;
    uint32_t event_count;
};

/** Reads and checks the files. Errors name file, line, column and what was expected: RM_E_CONFIG, RM_E_SYSTEM. */
enum rm_code rm_ring_config_load(struct rm_ring_files const *files, struct rm_ring_config *config,
                                 struct rm_error *error);

/** The same, but with all errors of the files. A part that builds on a wrong part is not checked. */
enum rm_code rm_ring_config_load_all(struct rm_ring_files const *files, struct rm_ring_config *config,
                                     struct rm_errors *errors);

/** Default destination: 10.20.255.1, UDP port 4660, and a MAC address that belongs to no device. */
void rm_ring_flow_default(struct rm_flow *flow);

/** Fills in the groups of instruments that all send native datagrams of their own, every turn. RM_E_NO_SPACE. */
enum rm_code rm_ring_all_native(struct rm_ring_config *config, struct rm_error *error);

/** True when a group sends through this port. */
bool rm_ring_sends_through(struct rm_ring_config const *config, uint32_t port);

/** Finds the supplies that a text means, in their order; writes their indices into `chosen`, which has room for all,
 * and returns how many there are. "cf*": all supplies of the chains that match. "c0?/3": the third of each, "c0?/3-8":
 * six of each. Other texts are names of supplies: "sr/ps/ch_*". */
uint32_t rm_ring_choose_supplies(struct rm_ring_config const *ring, char const *text, uint32_t *chosen);

/** Frees what loading allocated. */
void rm_ring_config_free(struct rm_ring_config *config);

#endif
