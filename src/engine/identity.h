// SPDX-License-Identifier: Apache-2.0
/** Which instrument sent a record: from (source address, id) to the instrument, within one port.
 *
 * An open hash table, filled at start and then only read, at most half full: a look-up takes one multiplication and
 * mostly one cache line, with one instrument per address or a thousand.
 */
#ifndef RM_ENGINE_IDENTITY_H
#define RM_ENGINE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ringmaster/error.h>

struct rm_instrument;
struct rm_mirror_path;

struct rm_identity {
    /** RM_IDENTITY_NONE where the place is empty. */
    uint64_t key;

    struct rm_instrument *instrument;
    /** NULL unless the instrument sends on two networks. */
    struct rm_mirror_path *path;
};

#define RM_IDENTITY_NONE UINT64_MAX

struct rm_identity_table {
    struct rm_identity *place;
    /** Number of places, minus 1. */
    uint64_t mask;
    /** Shift of the hash, so that its best bits are left. */
    uint32_t shift;
};

/** Makes a table for up to `count` identities. */
enum rm_code rm_identity_table_init(struct rm_identity_table *table, uint32_t count, struct rm_error *error);
void rm_identity_table_free(struct rm_identity_table *table);

/** Adds an instrument. Call it once for each (source, id). */
void rm_identity_add(struct rm_identity_table *table, uint32_t source_ipv4, uint16_t id,
                     struct rm_instrument *instrument, struct rm_mirror_path *path);

/** True when some instrument sends from there. */
bool rm_identity_knows_source(struct rm_identity_table const *table, uint32_t source_ipv4);

/** True when some instrument has this id, wherever it sends from. Looks through the table. */
bool rm_identity_knows_id(struct rm_identity_table const *table, uint32_t id);

enum {
    RM_IDENTITY_ID_BITS = 17,
    /** The id of an instrument that is known by its source alone. */
    RM_IDENTITY_SOURCE = 1 << 16,
};

static inline struct rm_identity const *rm_identity_look(struct rm_identity_table const *table, uint64_t key) {
    uint64_t at = key * 0x9E3779B97F4A7C15ull >> table->shift; /* 2^64 over the golden ratio, after Knuth */
    while (table->place[at].key != key) {
        if (table->place[at].key == RM_IDENTITY_NONE)
            return NULL;
        at = (at + 1) & table->mask;
    }
    return &table->place[at];
}

/** The identity, or NULL. Any 32-bit id may be asked for. */
static inline struct rm_identity const *rm_identity_find(struct rm_identity_table const *table, uint32_t source_ipv4,
                                                         uint32_t id) {
    return id <= UINT16_MAX ? rm_identity_look(table, (uint64_t)source_ipv4 << RM_IDENTITY_ID_BITS | id) : NULL;
}

#endif
