// SPDX-License-Identifier: Apache-2.0
/** Signals that ask the loop what it does: a function of the cycle since they were asked for, and of nothing else.
 *
 * A multi-sine has the RMS of a sine of the same amplitude, shared among its lines, with phases after M. R. Schroeder
 * (IEEE Trans. Inf. Theory 16, 1970), which keep its peak low. PRBS is the register x^15 + x^14 + 1.
 */
#ifndef FEEDBACK_EXCITE_H
#define FEEDBACK_EXCITE_H

#include <stdbool.h>
#include <stdint.h>

enum { FEEDBACK_EXCITE_LINES = 32 };

/** What was asked for; compared whole to see a change. */
struct feedback_excite_request {
    /** enum feedback_excitation */
    uint32_t kind;

    double amplitude, low_hz, high_hz;
};

struct feedback_excite {
    double rate_hz;
    struct feedback_excite_request request;
    /** Cycles since it began. */
    uint64_t cycle;

    uint32_t lines;
    /** Frequencies in cycles per s, phases in turns. */
    double line_hz[FEEDBACK_EXCITE_LINES], phase[FEEDBACK_EXCITE_LINES];
    /** Amplitude of each line. */
    double each;

    uint16_t shift;
};

/** Takes a request. Another one than before begins anew; the same one changes nothing. */
void feedback_excite_ask(struct feedback_excite *excite, struct feedback_excite_request const *request);

/** `cycles` were not run: the signal has gone on meanwhile. */
void feedback_excite_skip(struct feedback_excite *excite, uint32_t cycles);

/** The value of the next cycle. */
double feedback_excite_next(struct feedback_excite *excite);

#endif
