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
    /** Electronics. */
    INPUTS = 10,

    TIMING = INPUTS,
    /** Readbacks of another system, two datagrams. */
    OTHER = INPUTS + 1,

    ALL = INPUTS + 3,
    ROWS = 4 * INPUTS,
    CORRECTORS = 12,
    PERIOD = 120,
    X = 0,
    Y = 1,
};

/** Turns per second. */
static double const TURN_RATE = 1157000.0;
/** Of a corrector. */
static double const LIMIT = 10.0;

/** What the machine does wrong, for a test to say. */
struct machine_wrongs {
    bool silent[INPUTS];
    bool invalid[INPUTS];
    bool frozen[INPUTS];
    /** Added to all four readings. */
    double leap_nm[INPUTS];
    /** Its chain does not answer. */
    bool lost[CORRECTORS];
    /** Relative. */
    double beam;
    /** nm */
    double disturbance[ROWS];
    /** Along the first corrector's response. */
    double sine_nm, sine_hz;
    /** Thirteen lines of 50 to 900 Hz, the same way. */
    double mains_nm;
    /** Inputs arrive in the other order. */
    bool backwards;
};

struct feedback_machine {
    struct rm_record last[ALL];
    double response[ROWS][CORRECTORS];
    double effective[CORRECTORS], sent[CORRECTORS], before[CORRECTORS];
    double pole[CORRECTORS];
    /** nm, without noise and what instruments do to it. */
    double orbit[ROWS];
    /** Of another system, which has the machine if it is `ruled`. */
    double other[CORRECTORS];
    /** Of the timing. */
    int32_t flags;
    /** Of an insertion device. */
    float gap;

    struct machine_wrongs wrongs;
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
void make_machine(struct feedback_machine *machine);

/** The two fast correctors of a plane do what the four slow ones can do as well, as in a ring with many slow ones. */
void span_fast_by_slow(struct feedback_machine *machine);

/** One cycle: the correctors follow what they were sent, the orbit them and what disturbs it. */
void move(struct feedback_machine *machine);

/** What an input sends in this cycle. */
struct rm_record read_input(struct feedback_machine *machine, uint32_t input, rm_turn turn);

#endif
