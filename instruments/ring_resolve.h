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
    /** Of the overlay; of the configuration where there is none. */
    char const *path;
    /** As struct rm_ring_files has them. */
    char const *ports_wanted;
    /** The overlay; empty where there is none. */
    struct rm_ring_file const *file;
    /** The configuration. */
    struct rm_config const *machine;
    struct rm_ring_config *config;
    /** Of each of the configuration's, or RM_RING_NO_PORT. */
    uint32_t ring_port[RM_CONFIG_PORTS_MAX];
    /** [instrument]: which of the configuration's it is. */
    uint32_t *described;
    /** [supply]: which of the configuration's it is. */
    uint32_t *described_supply;
    struct rm_error *error;
};

enum rm_code rm_resolve_ports(struct rm_resolve *resolve);
enum rm_code rm_resolve_beam(struct rm_resolve *resolve);
enum rm_code rm_resolve_instruments(struct rm_resolve *resolve);
enum rm_code rm_resolve_groups(struct rm_resolve *resolve);
enum rm_code rm_resolve_faults(struct rm_resolve *resolve);
enum rm_code rm_resolve_chains(struct rm_resolve *resolve);
enum rm_code rm_resolve_supplies(struct rm_resolve *resolve);
enum rm_code rm_resolve_chain_faults(struct rm_resolve *resolve);
enum rm_code rm_resolve_responses(struct rm_resolve *resolve);
enum rm_code rm_resolve_machine(struct rm_resolve *resolve);

/** The file that a lattice's name means, to be freed. */
enum rm_code rm_resolve_lattice(struct rm_resolve const *resolve, char const *name, char **path);

/** Whether a name of the overlay means one of several: "all", the name of it or of its entry, or a pattern with *. */
bool rm_resolve_means(char const *name, char const *own, char const *entry);

/** The supplies that a text means, in their order, into `chosen` of supply_count; returns how many. "cf*": all supplies
 * of the chains that match; "c0?/3" the third of each, "c0?/3-8" six of each; else names of supplies, "sr/ps/ch_*". */
uint32_t rm_resolve_choose(struct rm_resolve const *resolve, char const *text, uint32_t *chosen);

/** An error at `list[index].key` of the overlay; at `list[index]` where `key` is NULL. Returns RM_E_CONFIG. */
enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) __attribute__((format(printf, 5, 6)));

#endif
