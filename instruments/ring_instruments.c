// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "kind_lanes.h"
#include "ring_resolve.h"
#include "wire/address.h"

/** Status of a Libera: bit 0 PLL locked, bits 2–9 the id, bit 11 valid. */
enum { LIBERA_GOOD = 1 << 0 | 1 << 11, LIBERA_ID_SHIFT = 2, LIBERA_ID_MASK = 0xFF };

enum { NUMBER_DIGITS_LEAST = 2, TURN_ERROR_MOST = 1 << 30 };

static uint32_t count_of(struct rm_ring_file_instrument const *from) { return from->count == NULL ? 1 : *from->count; }

static enum rm_code check_entry(struct rm_resolve const *resolve, uint32_t entry) {
    struct rm_ring_file_instrument const *from = &resolve->file->instruments[entry];
    uint32_t const room = RM_RING_INSTRUMENTS_MAX - resolve->config->instrument_count, count = count_of(from);
    if (strcmp(from->name, "all") == 0 || !rm_virtual_name_is_good(from->name))
        return rm_resolve_fail(resolve, "instruments", entry, "name",
                               "found \"%s\", expected a name of a-z, 0-9, _ and -, other than \"all\"", from->name);
    if (count == 0 || count > room)
        return rm_resolve_fail(resolve, "instruments", entry, "count",
                               "found %u, expected 1 to %u: %d instruments are the most", count, room,
                               RM_RING_INSTRUMENTS_MAX);
    if (from->id + count - 1 > UINT16_MAX)
        return rm_resolve_fail(resolve, "instruments", entry, "count", "the last id would be %u, expected at most %d",
                               from->id + count - 1, UINT16_MAX);
    if (from->turn_error != NULL && (*from->turn_error > TURN_ERROR_MOST || *from->turn_error < -TURN_ERROR_MOST))
        return rm_resolve_fail(resolve, "instruments", entry, "turn_error", "expected turns of -2^30 to 2^30");
    if (from->format != NULL && rm_resolve_format(resolve, from->format) == NULL)
        return rm_resolve_fail(resolve, "instruments", entry, "format",
                               "found \"%s\", expected native, libera_grouping, libera_grouping_counter_first, or the "
                               "name of an entry of `formats`",
                               from->format);
    uint32_t port;
    return rm_resolve_port_name(resolve, "instruments", entry, from->port, &port);
}

/** NAME, or NAME and a number from 1 on with as many digits as the last one has. */
static enum rm_code write_name(struct rm_resolve const *resolve, uint32_t entry, uint32_t place, char *name) {
    struct rm_ring_file_instrument const *from = &resolve->file->instruments[entry];
    int digits = snprintf(NULL, 0, "%u", count_of(from));
    if (digits < NUMBER_DIGITS_LEAST)
        digits = NUMBER_DIGITS_LEAST;
    int length = (int)strlen(from->name);
    if (from->count == NULL)
        strcpy(name, from->name);
    else if ((length += digits) < RM_VIRTUAL_NAME_BYTES)
        sprintf(name, "%s%0*u", from->name, digits, place + 1);
    if (length >= RM_VIRTUAL_NAME_BYTES)
        return rm_resolve_fail(resolve, "instruments", entry, "name",
                               "with its number it has %d characters, expected at most %d", length,
                               RM_VIRTUAL_NAME_BYTES - 1);
    return RM_OK;
}

static enum rm_code fail_name(struct rm_resolve const *resolve, uint32_t entry, uint32_t earlier, char const *name) {
    return rm_resolve_fail(resolve, "instruments", entry, "name", "instruments[%u] has the name \"%s\" already",
                           earlier, name);
}

/** Entries are called by their names too, where they are many instruments. */
static enum rm_code check_unique(struct rm_resolve const *resolve, uint32_t entry, uint32_t index) {
    struct rm_virtual_instrument const *all = resolve->config->instruments, *one = &all[index];
    struct rm_ring_file_instrument const *entries = resolve->file->instruments;
    for (uint32_t e = 0; e < entry; ++e)
        if (strcmp(entries[e].name, one->name) == 0)
            return fail_name(resolve, entry, e, one->name);
    for (uint32_t i = 0; i < index; ++i) {
        if (strcmp(all[i].name, one->name) == 0 || strcmp(all[i].name, entries[entry].name) == 0)
            return fail_name(resolve, entry, resolve->entry[i], all[i].name);
        if (all[i].id == one->id && all[i].source_ipv4 == one->source_ipv4)
            return rm_resolve_fail(resolve, "instruments", entry, "id",
                                   "\"%s\" has the same id and source, so their datagrams could not be told apart",
                                   all[i].name);
    }
    return RM_OK;
}

static enum rm_code resolve_one(struct rm_resolve const *resolve, uint32_t entry, uint32_t place) {
    struct rm_ring_file_instrument const *from = &resolve->file->instruments[entry];
    uint32_t const index = resolve->config->instrument_count++;
    struct rm_virtual_instrument *to = &resolve->config->instruments[index];
    *to = (struct rm_virtual_instrument){
        .kind = from->kind,
        .id = (uint16_t)(from->id + place),
        .turn_error = from->turn_error == NULL ? 0 : *from->turn_error,
    };
    resolve->entry[index] = entry;
    rm_virtual_lanes(to->kind, &to->lane_count);
    if (from->format != NULL && rm_resolve_is_libera(resolve, rm_resolve_format(resolve, from->format)))
        to->status = (uint16_t)(LIBERA_GOOD | (to->id & LIBERA_ID_MASK) << LIBERA_ID_SHIFT);
    if (!rm_ipv4_parse(from->source, &to->source_ipv4))
        return rm_resolve_fail(resolve, "instruments", entry, "source",
                               "found \"%s\", expected an IPv4 address such as 10.20.0.1", from->source);
    enum rm_code const code = write_name(resolve, entry, place, to->name);
    return code == RM_OK ? check_unique(resolve, entry, index) : code;
}

enum rm_code rm_resolve_instruments(struct rm_resolve const *resolve) {
    struct rm_ring_config *config = resolve->config;
    config->instruments = calloc(RM_RING_INSTRUMENTS_MAX, sizeof *config->instruments);
    if (config->instruments == NULL)
        return rm_fail(resolve->error, RM_E_NO_SPACE, "%s: no memory for the instruments", resolve->path);
    for (uint32_t e = 0; e < resolve->file->instruments_count; ++e) {
        enum rm_code code = check_entry(resolve, e);
        for (uint32_t place = 0; code == RM_OK && place < count_of(&resolve->file->instruments[e]); ++place)
            code = resolve_one(resolve, e, place);
        if (code != RM_OK)
            return code;
    }
    return RM_OK;
}
