// SPDX-License-Identifier: Apache-2.0
/** A ring's overlay as libcyaml loads it: strings as written, absent keys NULL. ring_config.c makes sense of it. */
#ifndef RM_INSTRUMENTS_RING_FILE_H
#define RM_INSTRUMENTS_RING_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "config/file.h"
#include "fault.h"
#include "net/port.h"
#include "ring_bpms_file.h"
#include "ring_event_file.h"
#include "ring_machine_file.h"
#include "ring_supplies_file.h"

/* The other end of one of the server's ports: what does not follow from the server's description, or differs from it.
 */
struct rm_ring_file_port {
    char *name;
    /** NULL: the kind that belongs to the server's. */
    enum rm_port_kind *kind;
    char *socket;
    enum rm_memif_role *role;
    char *interface;
    char *peer;
    char *device;
    char *destination;
    char *destination_mac;
    uint16_t *vlan;
};

struct rm_ring_file_beam {
    double *tune_x, *tune_y, *synchrotron_tune;
    double *betatron_um, *betatron_modulation, *modulation_hz;
    double *kick_um, *kick_every_turns, *damping_turns;
    double *synchrotron_um, *mains_um, *drift_um, *drift_period_s;
    double *orbit_um, *noise_um, *sum_counts, *loss_counts;
};

struct rm_ring_file_instrument {
    char *name;
    int64_t turn_error;
};

enum rm_ring_file_network { RM_RING_FILE_NETWORK_A, RM_RING_FILE_NETWORK_B };

struct rm_ring_file_fault {
    char *instrument;
    enum rm_fault_kind fault;
    double *probability;
    uint64_t *at_turn;
    int64_t *turns;
    uint64_t *duration;
    bool *unseen;
    enum rm_fragment_order *order;
    enum rm_ring_file_network *network;
};

struct rm_ring_file {
    uint64_t *first_turn;
    double *max_lag_ms;
    uint32_t *answer_turns;
    uint32_t *core;
    uint64_t *seed;
    struct rm_ring_file_port *ports;
    uint32_t ports_count;
    uint32_t *mtu;
    bool *udp_checksum;
    char *source_mac;
    struct rm_ring_file_beam *beam;
    struct rm_ring_file_instrument *instruments;
    uint32_t instruments_count;
    struct rm_ring_file_bpm_error *bpm_errors;
    struct rm_ring_file_fault *faults;
    uint32_t bpm_errors_count, faults_count;
    struct rm_ring_file_chain *chains;
    uint32_t chains_count;
    struct rm_ring_file_supply *supplies;
    uint32_t supplies_count;
    struct rm_ring_file_chain_fault *chain_faults;
    uint32_t chain_faults_count;
    struct rm_ring_file_response *responses;
    uint32_t responses_count;
    uint32_t events_count;
    struct rm_ring_file_event *events;
    struct rm_ring_file_machine *machine;
};

extern cyaml_schema_value_t const rm_ring_schema, rm_ring_fault_schema;

/** The kind of port for a word such as "memif". False: the word is unknown, or that kind cannot send. */
bool rm_ring_port_kind_parse(char const *text, enum rm_port_kind *kind);

/** A fault's name in the file, for example "turn_jump". */
char const *rm_ring_fault_name(enum rm_fault_kind kind);

#endif
