// SPDX-License-Identifier: Apache-2.0
/** Owns the parameters of an orbit bump, whose current goes to where it is asked to.
 *
 *     cc -O2 bump.c $(pkg-config --cflags --libs ringmaster) -o bump
 *     ./bump demo
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ringmaster/group.h>
#include <ringmaster/owner.h>
#include <ringmaster/request.h>

enum { STEP_NS = 100000000 };

static double const STEP_S = 0.1;

static struct rm_limits const LIMITS = {
    .display_low = NAN,
    .display_high = NAN,
    .control_low = -10,
    .control_high = 10,
    .minor_low = -8,
    .minor_high = 8,
    .major_low = -9,
    .major_high = 9,
    .hysteresis = 0.5,
};
static struct rm_limits const RATES = {
    .display_low = NAN,
    .display_high = NAN,
    .control_low = 0,
    .control_high = 50,
    .minor_low = NAN,
    .minor_high = NAN,
    .major_low = NAN,
    .major_high = NAN,
    .hysteresis = 0,
};
static struct rm_conversion const KICK = {.unit = "µrad", .c = {0, 12.5}};

struct bump {
    struct rm_parameter *current, *rate, *actual;
};

/** Adds what it has, and opens. */
static enum rm_code open_bump(struct rm_owner *owner, struct bump *bump, struct rm_error *error) {
    char const *const group = "bump/settings";
    unsigned const choice = RM_PARAMETER_WRITABLE | RM_PARAMETER_SETTING;
    rm_owner_group(owner, group, "what one may choose");
    rm_owner_replies(owner);
    rm_owner_index const current =
        rm_owner_parameter(owner, &(struct rm_parameter_plan){"bump/current", "A", "where it shall go", RM_ELEMENT_F64,
                                                              1, 1, &LIMITS, &KICK, choice, group});
    rm_owner_index const rate =
        rm_owner_parameter(owner, &(struct rm_parameter_plan){"bump/rate", "A/s", "how fast", RM_ELEMENT_F64, 1, 1,
                                                              &RATES, NULL, choice, group});
    rm_owner_index const actual =
        rm_owner_parameter(owner, &(struct rm_parameter_plan){"bump/actual", "A", "where it is", RM_ELEMENT_F64, 1, 1,
                                                              &LIMITS, &KICK, 0, NULL});
    enum rm_code const code = rm_owner_open(owner, error);
    if (code != RM_OK)
        return code;
    *bump =
        (struct bump){rm_owner_memory(owner, current), rm_owner_memory(owner, rate), rm_owner_memory(owner, actual)};
    if (!rm_owner_adopted(owner)) {
        rm_parameter_write_f64(bump->current, 2.0, rm_stamp_now());
        rm_parameter_write_f64(bump->rate, 5.0, rm_stamp_now());
        rm_parameter_write_f64(bump->actual, 0.0, rm_stamp_now());
    }
    return RM_OK;
}

/** Answers all requesters; refuses another rate while the bump is on its way. */
static void answer(struct rm_inbox *inbox, struct bump const *bump) {
    static struct rm_request request;
    rm_inbox_look(inbox);
    while (rm_inbox_take(inbox, &request)) {
        bool const moving = rm_parameter_read_f64(bump->actual) != rm_parameter_read_f64(bump->current);
        if (moving && strcmp(request.parameter, "bump/rate") == 0)
            rm_inbox_answer(inbox, &request, RM_VERDICT_REFUSED, "bump/rate: not while the bump moves");
        else
            rm_inbox_apply(inbox, &request, rm_stamp_now());
    }
}

static void step(struct bump const *bump) {
    double const at = rm_parameter_read_f64(bump->actual);
    double const left = rm_parameter_read_f64(bump->current) - at;
    double const most = rm_parameter_read_f64(bump->rate) * STEP_S;
    if (left != 0.0)
        rm_parameter_write_f64(bump->actual, at + fmax(-most, fmin(most, left)), rm_stamp_now());
}

int main(int argc, char **argv) {
    struct rm_owner *owner = NULL;
    struct rm_inbox *inbox = NULL;
    struct rm_error error;
    struct bump bump;
    if (argc > 1 && argv[1][0] == '-') {
        printf("usage: bump [WORKSPACE]\n\nOwns the parameters of an orbit bump in WORKSPACE (demo), until Ctrl-C.\n");
        return strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ? 0 : 2;
    }
    if (rm_owner_new(argc > 1 ? argv[1] : "demo", "bump", &owner, &error) != RM_OK ||
        open_bump(owner, &bump, &error) != RM_OK || rm_inbox_new(owner, &inbox, &error) != RM_OK) {
        fprintf(stderr, "%s\n", error.text);
        rm_owner_close(owner);
        return 1;
    }
    for (;;) {
        answer(inbox, &bump);
        step(&bump);
        rm_inbox_wait(inbox, STEP_NS);
    }
}
