// SPDX-License-Identifier: Apache-2.0
/** What a ring's overlay says of the electronics of BPMs, as libcyaml loads it; absent keys are NULL. ring_bpms.c makes
 * sense of it. */
#ifndef RM_INSTRUMENTS_RING_BPMS_FILE_H
#define RM_INSTRUMENTS_RING_BPMS_FILE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/yaml.h"

/** Values are bits RM_READOUT_X and RM_READOUT_Y. */
enum rm_ring_file_inverted {
    RM_RING_FILE_INVERTED_NONE,
    RM_RING_FILE_INVERTED_X,
    RM_RING_FILE_INVERTED_Y,
    RM_RING_FILE_INVERTED_XY
};

/* BPMs of some instruments. */
struct rm_ring_file_bpm_error {
    char *instruments;
    uint32_t *bpm;
    double *noise_um, *corner_hz, *glitch_per_s, *glitch_um, *adc_range_um;
    uint32_t *adc_bits;
    enum rm_ring_file_inverted *inverted;
    bool *swapped;
};

extern cyaml_schema_value_t const rm_ring_bpm_error_schema;

#endif
