// SPDX-License-Identifier: Apache-2.0
/** The parts of making a struct rm_ring_config of a machine and an overlay, one per section; each checks what the
 * schema cannot. They are called in this order. */
#ifndef RM_INSTRUMENTS_RING_RESOLVE_H
#define RM_INSTRUMENTS_RING_RESOLVE_H

#include "ring_config.h"
#include "ring_file.h"

#define RM_RING_FIRST_TURN_MAX (1ull << 62)

enum { RM_RING_NO_PORT = UINT32_MAX };

struct rm_resolve {
    /** Path of the overlay; where there is none, of the configuration. */
    char const *path;
    /** Names of ports, as in struct rm_ring_files. */
    char const *ports_wanted;
    /** The overlay; empty where there is none. */
    struct rm_ring_file const *file;
    /** The configuration. */
    struct rm_config const *machine;
    /** Both of the second server, where the ring is that of a pair; else NULL. */
    struct rm_ring_file const *second_file;
    struct rm_config const *second;
    struct rm_ring_config *config;
    /** [port of the configuration] index of the ring's port, or RM_RING_NO_PORT. */
    uint32_t ring_port[RM_CONFIG_PORTS_MAX];
    /** [instrument] its index in the configuration. */
    uint32_t *described;
    /** All that is wrong: those that fail below add to it. */
    struct rm_errors *errors;
};

enum rm_code rm_resolve_frames(struct rm_resolve *resolve);
enum rm_code rm_resolve_ports(struct rm_resolve *resolve);
/** Of a pair: the ports of the second server. */
enum rm_code rm_resolve_second(struct rm_resolve *resolve);
enum rm_code rm_resolve_beam(struct rm_resolve *resolve);
enum rm_code rm_resolve_instruments(struct rm_resolve *resolve);
enum rm_code rm_resolve_groups(struct rm_resolve *resolve);
enum rm_code rm_resolve_faults(struct rm_resolve *resolve);
enum rm_code rm_resolve_chains(struct rm_resolve *resolve);
enum rm_code rm_resolve_chain_keys(struct rm_resolve *resolve);
enum rm_code rm_resolve_supplies(struct rm_resolve *resolve);
enum rm_code rm_resolve_chain_faults(struct rm_resolve *resolve);
enum rm_code rm_resolve_responses(struct rm_resolve *resolve);
enum rm_code rm_resolve_machine(struct rm_resolve *resolve);
/** Of a machine. */
enum rm_code rm_resolve_disturbances(struct rm_resolve *resolve);
enum rm_code rm_resolve_bpms(struct rm_resolve *resolve);
enum rm_code rm_resolve_events(struct rm_resolve *resolve);

/** Judges a number of the key `machine`, such as "filter.delay_us", by the range that the schema has of it. */
enum rm_code rm_resolve_machine_number(struct rm_resolve const *resolve, char const *key, double value);

/** Path of the file that a lattice's name means, to be freed. */
enum rm_code rm_resolve_lattice(struct rm_resolve const *resolve, char const *name, char **path);

/** True when `name` of the overlay means this one: "all", its own name, that of its entry, or a pattern that fits. */
bool rm_resolve_means(char const *name, char const *own, char const *entry);

/** Fills in an error at `list[index].key` of the overlay, or at `list[index]` where `key` is NULL. Returns
 * RM_E_CONFIG. */
enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) __attribute__((format(printf, 5, 6)));

/** The same, at a whole key of the overlay: "machine.rf.supply". */
enum rm_code rm_resolve_fail_at(struct rm_resolve const *resolve, char const *key, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

/** An error that has no place in the overlay; returns `code`. */
enum rm_code rm_resolve_fail_plain(struct rm_resolve const *resolve, enum rm_code code, char const *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
