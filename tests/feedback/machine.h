// SPDX-License-Identifier: Apache-2.0
/** A small linear machine for the feedback to be around: ten electronics of two BPMs each, and twelve correctors whose
 * response has nothing to do with a ring, but is as good as one.
 *
 * Every cycle the machine makes readings of where its correctors really are (a pole and a delay behind what they were
 * sent), of what disturbs it, and of noise.
 */
#ifndef TESTS_FEEDBACK_MACHINE_H
#define TESTS_FEEDBACK_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/record.h>

enum {
    INPUTS = 10, /**< electronics */
    TIMING = INPUTS,
    OTHER = INPUTS + 1, /**< readbacks of another system, two datagrams */
    ALL = INPUTS + 3,
    ROWS = 4 * INPUTS,
    CORRECTORS = 12,
    PERIOD = 120,
    X = 0,
    Y = 1,
};

static double const TURN_RATE = 1157000.0; /**< turns per second */
static double const LIMIT = 10.0;          /**< of a corrector */

/** What the machine does wrong, for a test to say. */
struct wrongs {
    bool silent[INPUTS];
    bool invalid[INPUTS];
    bool frozen[INPUTS];
    double leap_nm[INPUTS];   /**< added to all four readings */
    bool lost[CORRECTORS];    /**< its chain does not answer */
    double beam;              /**< relative */
    double disturbance[ROWS]; /**< nm */
    double sine_nm, sine_hz;  /**< along the first corrector's response */
    double mains_nm;          /**< thirteen lines of 50 to 900 Hz, the same way */
    bool backwards;           /**< inputs arrive in the other order */
};

struct machine {
    struct rm_record last[ALL];
    double response[ROWS][CORRECTORS];
    double effective[CORRECTORS], sent[CORRECTORS], before[CORRECTORS];
    double pole[CORRECTORS];
    double orbit[ROWS];       /**< nm, without noise and what instruments do to it */
    double other[CORRECTORS]; /**< of another system, which has the machine if it is `ruled` */
    int32_t flags;            /**< of the timing */
    float gap;                /**< of an insertion device */
    struct wrongs wrongs;
    uint64_t cycle;
    uint32_t dice;
    bool ruled;
};

/** Names of an electronics' lanes, and which of them are rows. */
extern char const lane_name[8][4];
extern uint32_t const lane_row[4];

uint32_t plane_of(uint32_t row);
uint32_t plane_of_corrector(uint32_t corrector);
bool is_fast(uint32_t corrector);

/** One with a response, at rest, with beam. */
void make_machine(struct machine *machine);

/** The two fast correctors of a plane do what the four slow ones can do as well, as in a ring with many slow ones. */
void span_fast_by_slow(struct machine *machine);

/** One cycle: the correctors follow what they were sent, the orbit them and what disturbs it. */
void move(struct machine *machine);

/** What an input sends in this cycle. */
struct rm_record read_input(struct machine *machine, uint32_t input, rm_turn turn);

#endif
