// SPDX-License-Identifier: Apache-2.0
/** The instruments of a ring: those of the configuration that send through one of its ports. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/nearest.h"
#include "config/resolve.h"
#include "ring_resolve.h"

/** Status of a Libera: bit 0 PLL locked, bits 2–9 the id, bit 11 valid. */
enum { LIBERA_GOOD = 1 << 0 | 1 << 11, LIBERA_ID_SHIFT = 2, LIBERA_ID_MASK = 0xFF };

enum { TURN_ERROR_MOST = 1 << 30 };

/** What its turn_offset corrects: whole records, as the server takes it. */
static int64_t corrected_error(struct rm_config_instrument const *from) {
    return -(from->turn_offset / (int64_t)from->period_turns * (int64_t)from->period_turns);
}

static void add_instrument(struct rm_resolve *resolve, uint32_t described) {
    struct rm_config_instrument const *from = &resolve->machine->instrument[described];
    uint32_t const index = resolve->config->instrument_count++;
    struct rm_virtual_instrument *to = &resolve->config->instruments[index];
    *to = (struct rm_virtual_instrument){
        .kind = (uint8_t)from->kind,
        .id = from->id,
        .source_ipv4 = from->source_ipv4,
        .lane_count = from->lane_count,
        .turn_error = corrected_error(from),
    };
    if (resolve->machine->format[from->format].libera)
        to->status = (uint16_t)(LIBERA_GOOD | (to->id & LIBERA_ID_MASK) << LIBERA_ID_SHIFT);
    strcpy(to->name, from->name);
    resolve->described[index] = described;
}

static enum rm_code add_instruments(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    for (uint32_t i = 0; i < resolve->machine->instrument_count; ++i) {
        struct rm_config_instrument const *from = &resolve->machine->instrument[i];
        if (from->follows || resolve->ring_port[from->port] == RM_RING_NO_PORT)
            continue;
        if (from->mirror.present && resolve->ring_port[from->mirror.port] == RM_RING_NO_PORT)
            return rm_resolve_fail_plain(
                resolve, RM_E_ARGUMENT,
                "--ports: instrument \"%s\" sends through port \"%s\", too, expected both or neither of "
                "its ports",
                from->name, resolve->machine->port[from->mirror.port].port.name);
        uint32_t const networks = from->mirror.present ? 2 : 1;
        if (config->instrument_count != 0 && networks != config->network_count)
            return rm_resolve_fail_plain(
                resolve, RM_E_CONFIG,
                "%s: instrument \"%s\" has %s mirror and \"%s\" has %s: a virtual ring sends all of its "
                "instruments' datagrams over one network or all over two; give the others a ring of their "
                "own with --ports",
                resolve->machine->source_path, config->instruments[0].name, config->network_count == 2 ? "a" : "no",
                from->name, networks == 2 ? "one" : "none");
        config->network_count = networks;
        add_instrument(resolve, i);
    }
    return RM_OK;
}

/** What the overlay says of one of them, or of several. */
static enum rm_code take_instrument_overlay(struct rm_resolve *resolve, uint32_t index) {
    struct rm_ring_file_instrument const *from = &resolve->file->instruments[index];
    struct rm_ring_config *config = resolve->config;
    struct rm_nearest nearest = {.wanted = from->name};
    bool found = false;
    enum rm_code code = RM_OK;
    if (from->turn_error > TURN_ERROR_MOST || from->turn_error < -TURN_ERROR_MOST)
        code = rm_resolve_fail(resolve, "instruments", index, "turn_error",
                               "found %lld, expected turns of -2^30 to 2^30", (long long)from->turn_error);
    for (uint32_t i = 0; i < config->instrument_count; ++i) {
        rm_nearest_offer(&nearest, config->instruments[i].name);
        if (!rm_resolve_means(from->name, config->instruments[i].name,
                              resolve->machine->instrument[resolve->described[i]].entry))
            continue;
        found = true;
        config->instruments[i].turn_error = from->turn_error;
    }
    if (found)
        return code;
    char guess[64];
    return rm_resolve_fail(resolve, "instruments", index, "name",
                           "found \"%s\", expected the name of an instrument of %s%s", from->name,
                           resolve->machine->source_path, rm_config_guess(&nearest, guess, sizeof guess));
}

enum rm_code rm_resolve_instruments(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    config->instruments = calloc(RM_CONFIG_INSTRUMENTS_MAX, sizeof *config->instruments);
    if (config->instruments == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the instruments", resolve->path);
    enum rm_code code = add_instruments(resolve);
    if (code != RM_OK)
        return code;
    for (uint32_t i = 0; i < resolve->file->instruments_count; ++i)
        code = rm_code_first(code, take_instrument_overlay(resolve, i));
    return code;
}
