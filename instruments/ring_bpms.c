// SPDX-License-Identifier: Apache-2.0
/** The electronics of a ring's BPMs: what machine.errors draws of them, and what the list bpm_errors says, a later
 * entry over an earlier one, key by key. Only those that differ from an ideal one are kept. */
#include <stddef.h>
#include <stdlib.h>

#include <ringmaster/stream.h>

#include "base/fail.h"
#include "lane_names.h"
#include "noise.h"
#include "ring_resolve.h"

enum { KEY_INVERTED = 16 << 20, KEY_SWAPPED = 17 << 20, KEY_SHIFT = 18 << 20, BPMS = 2 };

/** One number of a BPM's electronics. */
struct bpm_key {
    char const *key;
    /** Offset of a double * in struct rm_ring_file_bpm_error. */
    size_t from;
    /** Offset of a double in struct rm_readout_config. */
    size_t to;
    /** From the key's unit. */
    double scale;
};

#define BPM_KEY(name, to, scale)                                                                                       \
    { #name, offsetof(struct rm_ring_file_bpm_error, name), offsetof(struct rm_readout_config, to), scale }

static struct bpm_key const bpm_keys[] = {
    BPM_KEY(noise_um, noise_nm, 1e3),         BPM_KEY(corner_hz, corner_hz, 1),
    BPM_KEY(glitch_um, glitch_nm, 1e3),       BPM_KEY(glitch_per_s, glitch_per_s, 1),
    BPM_KEY(adc_range_um, adc_range_nm, 1e3),
};

/** A number between 0 and 1 that is drawn once. */
static double bpm_draw(struct rm_resolve const *resolve, uint64_t what) {
    return rm_noise_uniform(rm_noise_u64(resolve->config->machine.seed) ^ rm_noise_u64(what));
}

static struct rm_readout_config derive_readout(struct rm_resolve const *resolve, uint32_t instrument, uint32_t bpm) {
    struct rm_ring_config const *config = resolve->config;
    uint64_t const place = (uint64_t)instrument * BPMS + bpm;
    struct rm_readout_config readout = {
        .instrument = instrument,
        .lane = bpm == 0 ? 0 : rm_virtual_lane_find(RM_KIND_BPM, "x2"),
        .noise_nm = -1,
        .glitch_nm = 1e3 * rm_yaml_default(&rm_ring_bpm_error_schema, "glitch_um"),
        .adc_range_nm = 1e3 * rm_yaml_default(&rm_ring_bpm_error_schema, "adc_range_um"),
    };
    for (uint32_t plane = 0; config->machine.present && plane < 2; ++plane)
        if (bpm_draw(resolve, KEY_INVERTED + 2 * place + plane) < config->machine.errors.bpm_inverted)
            readout.inverted |= plane == 0 ? RM_READOUT_X : RM_READOUT_Y;
    readout.swapped =
        config->machine.present && bpm_draw(resolve, KEY_SWAPPED + place) < config->machine.errors.bpm_swapped;
    return readout;
}

static enum rm_code derive_readouts(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    config->readouts = calloc(BPMS * (size_t)config->instrument_count + 1, sizeof *config->readouts);
    if (config->readouts == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the BPMs", resolve->path);
    for (uint32_t g = 0; g < config->group_count; ++g) {
        struct rm_virtual_group const *group = &config->groups[g];
        for (uint32_t b = 0; b < BPMS * group->count; ++b) {
            if (config->instruments[group->first + b / BPMS].kind != RM_KIND_BPM)
                continue;
            struct rm_readout_config *to = &config->readouts[config->readout_count++];
            *to = derive_readout(resolve, group->first + b / BPMS, b % BPMS);
            to->period_turns = group->period_turns;
        }
    }
    return RM_OK;
}

static enum rm_code check_bpm_entry(struct rm_resolve *resolve, uint32_t entry) {
    struct rm_ring_file_bpm_error const *from = &resolve->file->bpm_errors[entry];
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof bpm_keys / sizeof bpm_keys[0]; ++k) {
        double const *given = *(double *const *)(void const *)((char const *)from + bpm_keys[k].from);
        struct rm_yaml_key const *key = rm_yaml_key_at(&rm_ring_bpm_error_schema, bpm_keys[k].key);
        if (given != NULL && !rm_yaml_in_range(key, *given))
            code = rm_resolve_fail(resolve, "bpm_errors", entry, bpm_keys[k].key, "found %g, expected %g to %g", *given,
                                   key->min, key->max);
    }
    if (from->adc_bits != NULL && *from->adc_bits > RM_READOUT_ADC_BITS_MAX)
        code = rm_resolve_fail(resolve, "bpm_errors", entry, "adc_bits", "found %u, expected 0 to %d", *from->adc_bits,
                               RM_READOUT_ADC_BITS_MAX);
    if (from->bpm != NULL && (*from->bpm < 1 || *from->bpm > BPMS))
        code = rm_resolve_fail(resolve, "bpm_errors", entry, "bpm", "found %u, expected 1 or 2", *from->bpm);
    return code;
}

static void take_bpm_entry(struct rm_ring_file_bpm_error const *from, struct rm_readout_config *to) {
    for (size_t k = 0; k < sizeof bpm_keys / sizeof bpm_keys[0]; ++k) {
        double const *given = *(double *const *)(void const *)((char const *)from + bpm_keys[k].from);
        if (given != NULL)
            *(double *)(void *)((char *)to + bpm_keys[k].to) = *given * bpm_keys[k].scale;
    }
    to->adc_bits = from->adc_bits != NULL ? *from->adc_bits : to->adc_bits;
    to->inverted = from->inverted != NULL ? (uint32_t)*from->inverted : to->inverted;
    to->swapped = from->swapped != NULL ? *from->swapped : to->swapped;
}

static enum rm_code take_bpm_overlay(struct rm_resolve *resolve, uint32_t entry) {
    struct rm_ring_file_bpm_error const *from = &resolve->file->bpm_errors[entry];
    struct rm_ring_config *config = resolve->config;
    enum rm_code const code = check_bpm_entry(resolve, entry);
    bool found = false;
    for (uint32_t r = 0; r < config->readout_count; ++r) {
        struct rm_readout_config *to = &config->readouts[r];
        struct rm_config_instrument const *described =
            &resolve->machine->instrument[resolve->described[to->instrument]];
        if (!rm_resolve_means(from->instruments, config->instruments[to->instrument].name, described->entry))
            continue;
        found = true;
        if (from->bpm == NULL || (*from->bpm == 1) == (to->lane == 0))
            take_bpm_entry(from, to);
    }
    if (found)
        return code;
    return rm_resolve_fail(resolve, "bpm_errors", entry, "instruments",
                           "found \"%s\", expected the name of an instrument of kind bpm of %s, a pattern, or all",
                           from->instruments, resolve->machine->source_path);
}

/** A reading per turn may be that of the turn before or behind: its counter began at the wrong trigger. Datagrams of
 * several instruments have one counter, and are drawn as one. */
static void draw_shifts(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    for (uint32_t g = 0; config->machine.present && g < config->group_count; ++g) {
        struct rm_virtual_group const *group = &config->groups[g];
        if (group->period_turns != 1 || config->instruments[group->first].kind != RM_KIND_BPM)
            continue;
        if (bpm_draw(resolve, KEY_SHIFT + 2 * (uint64_t)g) >= config->machine.errors.bpm_turn_shift)
            continue;
        int64_t const shift = bpm_draw(resolve, KEY_SHIFT + 2 * (uint64_t)g + 1) < 0.5 ? -1 : 1;
        for (uint32_t i = group->first; i < group->first + group->count; ++i)
            config->instruments[i].turn_error += config->instruments[i].drawn_shift_turns = shift;
    }
}

enum rm_code rm_resolve_bpms(struct rm_resolve *resolve) {
    struct rm_ring_config *config = resolve->config;
    enum rm_code code = derive_readouts(resolve);
    if (code != RM_OK)
        return code;
    for (uint32_t e = 0; e < resolve->file->bpm_errors_count; ++e)
        code = rm_code_first(code, take_bpm_overlay(resolve, e));
    uint32_t kept = 0;
    for (uint32_t r = 0; r < config->readout_count; ++r)
        if (rm_readout_matters(&config->readouts[r]))
            config->readouts[kept++] = config->readouts[r];
    config->readout_count = kept;
    draw_shifts(resolve);
    return code;
}
