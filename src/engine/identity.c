// SPDX-License-Identifier: Apache-2.0
#include "engine/identity.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"

enum rm_code rm_identity_table_init(struct rm_identity_table *table, uint32_t count, struct rm_error *error) {
    uint32_t bits = 4;
    while (1u << bits < 4 * count) /* an identity takes two places at most: its own and its source's */
        ++bits;
    *table = (struct rm_identity_table){.mask = (1u << bits) - 1, .shift = 64 - bits};
    table->place = rm_zeroed(1ul << bits, sizeof *table->place);
    if (table->place == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory to tell %u instruments apart", count);
    for (uint64_t i = 0; i <= table->mask; ++i)
        table->place[i] = (struct rm_identity){.key = RM_IDENTITY_NONE};
    return RM_OK;
}

void rm_identity_table_free(struct rm_identity_table *table) {
    free(table->place);
    table->place = NULL;
}

static void identity_table_put(struct rm_identity_table *table, struct rm_identity identity) {
    if (rm_identity_look(table, identity.key) != NULL)
        return;
    uint64_t at = identity.key * 0x9E3779B97F4A7C15ull >> table->shift;
    while (table->place[at].key != RM_IDENTITY_NONE)
        at = (at + 1) & table->mask;
    table->place[at] = identity;
}

void rm_identity_add(struct rm_identity_table *table, uint32_t source_ipv4, uint16_t id,
                     struct rm_instrument *instrument, struct rm_mirror_path *path) {
    uint64_t const source = (uint64_t)source_ipv4 << RM_IDENTITY_ID_BITS;
    identity_table_put(table, (struct rm_identity){.key = source | id, .instrument = instrument, .path = path});
    identity_table_put(table, (struct rm_identity){.key = source | RM_IDENTITY_SOURCE});
}

bool rm_identity_knows_source(struct rm_identity_table const *table, uint32_t source_ipv4) {
    return rm_identity_look(table, (uint64_t)source_ipv4 << RM_IDENTITY_ID_BITS | RM_IDENTITY_SOURCE) != NULL;
}

bool rm_identity_knows_id(struct rm_identity_table const *table, uint32_t id) {
    for (uint64_t i = 0; i <= table->mask; ++i)
        if (table->place[i].instrument != NULL && (table->place[i].key & ((1ull << RM_IDENTITY_ID_BITS) - 1)) == id)
            return true;
    return false;
}
