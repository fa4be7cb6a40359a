// SPDX-License-Identifier: Apache-2.0
/** A ring's file as libcyaml loads it: strings as written, absent keys NULL. ring_config.c makes sense of it. */
#ifndef RM_INSTRUMENTS_RING_FILE_H
#define RM_INSTRUMENTS_RING_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"
#include "fault.h"
#include "format/format_file.h"
#include "net/port.h"
#include "ring_machine_file.h"
#include "ring_supplies_file.h"

enum rm_memif_role { RM_MEMIF_SERVER, RM_MEMIF_CLIENT };

struct rm_ring_file_port {
    char *name;
    enum rm_port_kind kind;
    char *socket;
    enum rm_memif_role *role;
    char *interface;
    char *peer;
    char *device;
};

/* One of several ports, or that of the mirrored network, and where to its datagrams go. */
struct rm_ring_file_outlet {
    struct rm_ring_file_port port;
    char *destination; /* NULL, as the others: the ring's */
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
    uint8_t kind;
    uint16_t id;
    char *port; /* NULL: the first */
    char *source;
    char *mirror_source; /* NULL: the same */
    char *format;        /* NULL: native */
    uint32_t *count;     /* NULL: one */
    uint32_t *period_turns;
    int64_t *turn_error;
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

struct rm_ring_file_lock_step {
    uint32_t period_turns;
    uint32_t answer_turns;
};

struct rm_ring_file {
    char *workspace;
    double *turn_rate_hz;
    uint64_t *first_turn;
    double *patience_ms;
    struct rm_ring_file_lock_step *lock_step;
    uint32_t *core;
    uint64_t *seed;
    struct rm_ring_file_port *port; /* NULL where there are several, or no instruments */
    struct rm_ring_file_outlet *ports;
    uint32_t ports_count;
    struct rm_ring_file_outlet *mirror;
    uint32_t *mtu;
    uint16_t *vlan;
    uint16_t *udp_port;
    bool *udp_checksum;
    char *destination;
    char *destination_mac;
    char *source_mac;
    struct rm_ring_file_beam *beam;
    struct rm_file_format *formats;
    uint32_t formats_count;
    struct rm_ring_file_instrument *instruments;
    uint32_t instruments_count;
    struct rm_ring_file_fault *faults;
    uint32_t faults_count;
    struct rm_ring_file_supplies *supplies;
    struct rm_ring_file_machine *machine;
};

extern cyaml_schema_value_t const rm_ring_schema;

/** The keys of a struct rm_ring_file_port. */
extern cyaml_schema_field_t const rm_ring_port_fields[];

/** A word for a kind of port, "memif"; and the kind for a word, which may be one that cannot send: false. */
char const *rm_ring_port_kind_name(enum rm_port_kind kind);
bool rm_ring_port_kind_parse(char const *text, enum rm_port_kind *kind);

/** A fault's name in the file, "turn_jump". */
char const *rm_ring_fault_name(enum rm_fault_kind kind);

#endif
