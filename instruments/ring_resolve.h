// SPDX-License-Identifier: Apache-2.0
/** The parts of making a struct rm_ring_config of a file, one per section; each checks what the schema cannot. They are
 * called in this order. */
#ifndef RM_INSTRUMENTS_RING_RESOLVE_H
#define RM_INSTRUMENTS_RING_RESOLVE_H

#include "ring_config.h"
#include "ring_file.h"

#define RM_RING_FIRST_TURN_MAX (1ull << 62)
#define RM_RING_TURN_RATE_MIN 1.0
#define RM_RING_TURN_RATE_MAX 1e8

struct rm_resolve {
    char const *path;
    struct rm_ring_file const *file;
    struct rm_ring_config *config;
    /** [instrument]: which of the file's `instruments` it is of; RM_RING_INSTRUMENTS_MAX of them. */
    uint32_t *entry;

    struct rm_error *error;
};

enum rm_code rm_resolve_ports(struct rm_resolve const *resolve);
enum rm_code rm_resolve_beam(struct rm_resolve const *resolve);
enum rm_code rm_resolve_formats(struct rm_resolve const *resolve);
enum rm_code rm_resolve_instruments(struct rm_resolve const *resolve);
enum rm_code rm_resolve_groups(struct rm_resolve const *resolve);
enum rm_code rm_resolve_faults(struct rm_resolve const *resolve);
enum rm_code rm_resolve_supplies(struct rm_resolve const *resolve);

/** All parts are done: that each port of the file has something to carry. */
enum rm_code rm_resolve_ports_used(struct rm_resolve const *resolve);
enum rm_code rm_resolve_machine(struct rm_resolve const *resolve);

/** The file that a lattice's name means, to be freed. */
enum rm_code rm_resolve_lattice(struct rm_resolve const *resolve, char const *name, char **path);

/** The parts of rm_resolve_supplies: the physics of one entry of a chain's supplies, and what the file says beside. */
enum rm_code rm_resolve_supply(struct rm_resolve const *resolve, uint32_t chain, uint32_t entry,
                               struct rm_supply_config *to);
enum rm_code rm_resolve_responses(struct rm_resolve const *resolve);
enum rm_code rm_resolve_chain_faults(struct rm_resolve const *resolve);

/** A port, at the key `place` of the file; `name` where it has none of its own. */
enum rm_code rm_resolve_port(struct rm_resolve const *resolve, char const *place, struct rm_ring_file_port const *from,
                             char const *name, struct rm_port_config *to);

/** The port of this name; `name` NULL: the first. An error is at `list[index].port`. */
enum rm_code rm_resolve_port_name(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *name,
                                  uint32_t *port);

/** The format that an instrument names, NULL when there is none of that name. */
struct rm_format const *rm_resolve_format(struct rm_resolve const *resolve, char const *name);

/** Whether a format is Libera Grouping, under its own name or another. */
bool rm_resolve_is_libera(struct rm_resolve const *resolve, struct rm_format const *format);

/** An error at `list[index].key`; at `list[index]` where `key` is NULL. Returns RM_E_CONFIG. */
enum rm_code rm_resolve_fail(struct rm_resolve const *resolve, char const *list, uint32_t index, char const *key,
                             char const *format, ...) __attribute__((format(printf, 5, 6)));

#endif
