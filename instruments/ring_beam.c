// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>
#include <stdio.h>

#include "ring_resolve.h"

/** One number of the beam. */
struct beam_key {
    char const *key;
    size_t from; /**< offset of a double * in struct rm_ring_file_beam */
    size_t to;   /**< offset of a double in struct rm_beam_config */
    double otherwise, low, high;
    bool of_machine; /**< a living machine makes it: then it is 0 unless somebody wants more */
};

#define SOME_KEY(name, otherwise, low, high, of_machine)                                                               \
    {                                                                                                                  \
#name, offsetof(struct rm_ring_file_beam, name), offsetof(struct rm_beam_config, name), otherwise, low, high,  \
            of_machine                                                                                                 \
    }
#define BEAM_KEY(name, otherwise, low, high) SOME_KEY(name, otherwise, low, high, false)
#define ORBIT_KEY(name, otherwise, low, high) SOME_KEY(name, otherwise, low, high, true)

/* Positions stay below 10 mm, where a float still resolves a nanometre. */
static struct beam_key const beam_keys[] = {
    BEAM_KEY(tune_x, 0.2994, 0, 0.5),
    BEAM_KEY(tune_y, 0.1612, 0, 0.5),
    BEAM_KEY(synchrotron_tune, 0.0086, 0, 0.5),
    BEAM_KEY(betatron_um, 5, 0, 1000),
    BEAM_KEY(betatron_modulation, 0.2, 0, 1),
    BEAM_KEY(modulation_hz, 1, 0, 1000),
    BEAM_KEY(kick_um, 0, 0, 5000),
    BEAM_KEY(kick_every_turns, 1157000, RM_MOTION_BLOCK, 1e15),
    BEAM_KEY(damping_turns, 10000, 1, 1e15),
    BEAM_KEY(synchrotron_um, 3, 0, 1000),
    ORBIT_KEY(mains_um, 20, 0, 1000),
    ORBIT_KEY(drift_um, 5, 0, 1000),
    BEAM_KEY(drift_period_s, 60, 1, 1e6),
    ORBIT_KEY(orbit_um, 100, 0, 1000),
    BEAM_KEY(noise_um, 0.5, 0, 1000),
    BEAM_KEY(sum_counts, 1e6, 0, 1e9),
    BEAM_KEY(loss_counts, 2, 0, 5),
};

enum rm_code rm_resolve_beam(struct rm_resolve *resolve) {
    struct rm_ring_file_beam const none = {0};
    struct rm_ring_file_beam const *beam = resolve->file->beam == NULL ? &none : resolve->file->beam;
    bool const lives = resolve->file->machine != NULL;
    for (size_t k = 0; k < sizeof beam_keys / sizeof beam_keys[0]; ++k) {
        struct beam_key const *key = &beam_keys[k];
        double const *given = *(double *const *)(void const *)((char const *)beam + key->from);
        double const value = given != NULL ? *given : lives && key->of_machine ? 0 : key->otherwise;
        if (!(value >= key->low && value <= key->high)) {
            char place[40];
            snprintf(place, sizeof place, "beam.%s", key->key);
            return rm_yaml_fail(resolve->error, resolve->path, place, "found %g, expected %g to %g", value, key->low,
                                key->high);
        }
        *(double *)(void *)((char *)&resolve->config->beam + key->to) = value;
    }
    return RM_OK;
}
