// SPDX-License-Identifier: Apache-2.0
/** The feedback as it is loaded by a host, around the small machine (machine.h): what it sends, a guard of sorts brings
 * within limits. For cmocka: what goes wrong fails the test that runs. */
#ifndef TESTS_FEEDBACK_RIG_H
#define TESTS_FEEDBACK_RIG_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <string.h>

#include "apps/feedback/state/names.h"
#include "host/host_program.h"
#include "machine.h"

struct feedback_test {
    struct feedback_machine machine;
    struct rm_stream stream[ALL];
    char folder[64];
    /** Of the beam, in the feedback's own file. */
    double rearm_s;

    struct rm_host_setup setup;
    struct rm_host_actuator actuator[CORRECTORS];
    char actuator_name[CORRECTORS][32], input_name[ALL][32];
    char const *input[ALL];
    struct rm_host_program *program;
    enum rm_step_result result;
    double setpoint[CORRECTORS];
};

/** The feedback's own file, without what all of them have in common: one family of all correctors; the same with all
 * lines of the mains; with RF, gate, feed-forward and another system's readbacks; fast and slow correctors. */
extern char const *const one_family;
extern char const *const all_lines;
extern char const *const all_kinds;
extern char const *const two_families;

/** For cmocka: a `struct feedback_test` with a machine and a folder. */
int set_up(void **state);
int tear_down(void **state);

/** Takes feedback.so, a program's only argument. False: there is another number of them. */
bool take_module(int count, char **argument);

/** Writes its files, and opens it: it has had no cycle. */
void open_feedback(struct feedback_test *test, char const *families);

/* Cycles */

void cycle(struct feedback_test *test);
void cycles(struct feedback_test *test, uint32_t count);

/** Lets the thread beside do what there is to do, and the stepping thread take it. */
void solve(struct feedback_test *test);

/** On, solved, past its soft start. */
void close_loop(struct feedback_test *test);

/* What it is told */

void put(struct feedback_test *test, enum feedback_setting setting, uint32_t first, double const *values,
         uint32_t count);
void set(struct feedback_test *test, enum feedback_setting setting, double value);

/** A disturbance that the correctors can take away: an orbit of some ten µm. */
void disturb(struct feedback_test *test, double size);

/* What becomes of it */

double rms_nm(struct feedback_test const *test, uint32_t plane);
double reading(struct feedback_test const *test, enum feedback_reading number, uint32_t element);
enum feedback_state state_of(struct feedback_test const *test);

/** Largest change of any setpoint from one cycle to the next, over `count` cycles. */
double largest_step(struct feedback_test *test, uint32_t count);

/** The loop goes on as if nothing had been, but for a matrix newer than of `generation`. */
void expect_stable(struct feedback_test *test, double generation);

#endif
