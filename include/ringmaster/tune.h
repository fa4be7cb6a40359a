// SPDX-License-Identifier: Apache-2.0
/** The tune as an input: all that an application needs of the stream that the application `tune` writes.
 *
 *     inputs: [tune/tune]                                 # in the server's configuration, after `tune` itself
 *
 *     struct rm_tune_input tune;                          // in the state
 *     rm_tune_find(setup, "tune/tune", &tune, error)      // in init
 *     …
 *     struct rm_tune now;
 *     if (rm_tune_read(setup, given, &tune, &now) && now.quality[0] == 0)
 *         … now.tune[0], now.sigma[0]                     // in step
 *
 * A tune is a mean over a window of turns that ends with its record's turn, so it is older by half of the window: what
 * closes a loop through it must be slow against that (docs/tune-feedback.md). In the library `ringmaster-support`.
 */
#ifndef RINGMASTER_TUNE_H
#define RINGMASTER_TUNE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/application.h>
#include <ringmaster/error.h>

enum {
    /** Index 0 is horizontal, 1 vertical. */
    RM_TUNE_PLANES = 2,
};

/** Reasons not to trust a tune, each a bit of its quality; 0 is a tune to trust. */
enum rm_tune_reason {
    RM_TUNE_NO_BEAM = 1 << 0,
    RM_TUNE_NO_PEAK = 1 << 1,
    RM_TUNE_TWO_PEAKS = 1 << 2,
    /** A line that is known not to be the beam's is near. */
    RM_TUNE_KNOWN_LINE = 1 << 3,
    /** At an end of the band in which it is looked for. */
    RM_TUNE_AT_EDGE = 1 << 4,
    RM_TUNE_SATURATED = 1 << 5,
    RM_TUNE_FROZEN = 1 << 6,
    RM_TUNE_LOST_TURNS = 1 << 7,
    /** The other plane has the same line. */
    RM_TUNE_COUPLED = 1 << 8,
};

/** Both planes of one record. */
struct rm_tune {
    /** The last turn of the window. */
    rm_turn turn;
    /** Oscillations per turn, 0 to 0.5; NaN without a peak. */
    double tune[RM_TUNE_PLANES];
    /** Standard deviation of a steady line in the noise of this window. */
    double sigma[RM_TUNE_PLANES];
    /** Of the oscillation, in the unit of the stream. */
    double amplitude[RM_TUNE_PLANES];
    /** enum rm_tune_reason, added up. */
    uint32_t quality[RM_TUNE_PLANES];
};

/** Where the stream is among the inputs, and its lanes. */
struct rm_tune_input {
    uint32_t input;
    uint32_t tune[RM_TUNE_PLANES], sigma[RM_TUNE_PLANES], amplitude[RM_TUNE_PLANES], quality[RM_TUNE_PLANES];
};

/** Finds the input `stream` ("tune/tune") and its lanes. RM_E_CONFIG where it is not among the inputs, or lacks a lane. */
enum rm_code rm_tune_find(struct rm_application_setup const *setup, char const *stream, struct rm_tune_input *found,
                          struct rm_error *error);

/** Reads the record of this step. False where it is missing: `tune` is then as it was. */
bool rm_tune_read(struct rm_application_setup const *setup, struct rm_step const *step,
                  struct rm_tune_input const *input, struct rm_tune *tune);

#endif
