// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "ring_resolve.h"

/** One number of the beam. */
struct beam_key {
    /** As in the file. */
    char const *place;
    /** Offset of a double * in struct rm_ring_file_beam. */
    size_t from;
    /** Offset of a double in struct rm_beam_config. */
    size_t to;
};

#define BEAM_KEY(name)                                                                                                 \
    { "beam." #name, offsetof(struct rm_ring_file_beam, name), offsetof(struct rm_beam_config, name) }

/* Positions stay below 10 mm, where a float still resolves a nanometre. */
static struct beam_key const beam_keys[] = {
    BEAM_KEY(tune_x),
    BEAM_KEY(tune_y),
    BEAM_KEY(synchrotron_tune),
    BEAM_KEY(betatron_um),
    BEAM_KEY(betatron_modulation),
    BEAM_KEY(modulation_hz),
    BEAM_KEY(kick_um),
    BEAM_KEY(kick_every_turns),
    BEAM_KEY(damping_turns),
    BEAM_KEY(synchrotron_um),
    BEAM_KEY(mains_um),
    BEAM_KEY(drift_um),
    BEAM_KEY(drift_period_s),
    BEAM_KEY(orbit_um),
    BEAM_KEY(noise_um),
    BEAM_KEY(sum_counts),
    BEAM_KEY(loss_counts),
};

/** A living machine makes the orbit itself: more of it is there only if the file says so. */
enum rm_code rm_resolve_beam(struct rm_resolve *resolve) {
    bool const lives = resolve->file->machine != NULL;
    enum rm_code code = RM_OK;
    for (size_t k = 0; k < sizeof beam_keys / sizeof beam_keys[0]; ++k) {
        struct beam_key const *number = &beam_keys[k];
        struct rm_yaml_key const *key = rm_yaml_key_at(&rm_ring_schema, number->place);
        double const *given = *(double *const *)(void const *)((char const *)resolve->file->beam + number->from);
        double const value = given != NULL ? *given : lives ? 0 : rm_yaml_default(&rm_ring_schema, number->place);
        if (!rm_yaml_in_range(key, value))
            code = rm_resolve_fail_at(resolve, number->place, "found %g, expected %g to %g", value, key->min, key->max);
        *(double *)(void *)((char *)&resolve->config->beam + number->to) = value;
    }
    return code;
}
