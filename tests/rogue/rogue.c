// SPDX-License-Identifier: Apache-2.0
/** An application that goes wrong on purpose: rogue WORKSPACE APPLICATION ACTUATORS WRONG SECONDS [VECTORS_PER_S
 * [VALUE]]
 *
 * It takes the application's segment as any host does, waits for its grant, and then does WRONG over and over, as fast
 * as it can or at a rate. At the end it prints how many vectors it has written, and in how many seconds. Exit status 3:
 * another process has the segment. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <ringmaster/grant.h>
#include <ringmaster/owner.h>
#include <ringmaster/workspace.h>

#include "base/options.h"
#include "wrongs.h"

enum { GRANT_TRIES = 2000, REFRESH_VECTORS = 64 };

static void rogue_fail(struct rm_error const *error) {
    fprintf(stderr, "rogue: %s\n", error->text);
    exit(error->code == RM_E_BUSY ? 3 : 1);
}

static double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static struct rogue_wrong const *find_wrong(char const *name) {
    for (struct rogue_wrong const *wrong = wrongs; wrong->name != NULL; ++wrong)
        if (strcmp(wrong->name, name) == 0)
            return wrong;
    fprintf(stderr, "rogue: no \"%s\"; there are:\n", name);
    for (struct rogue_wrong const *wrong = wrongs; wrong->name != NULL; ++wrong)
        fprintf(stderr, "  %-12s %s\n", wrong->name, wrong->what);
    exit(2);
}

static void const *rogue_object(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_error error;
    struct rm_object const *entry;
    void const *memory;
    if (rm_workspace_find(workspace, kind, name, &entry, &memory, &error) != RM_OK)
        rogue_fail(&error);
    return memory;
}

/** Waits until the server has granted this process a grant number. */
static uint64_t rogue_granted_number(struct rm_grant const *grant) {
    for (int i = 0; i < GRANT_TRIES; ++i) {
        uint64_t const grant_number = atomic_load(&grant->grant_number);
        if (grant_number != 0 && atomic_load(&grant->pid) == (uint64_t)getpid())
            return grant_number;
        usleep(5000);
    }
    fprintf(stderr, "rogue: no number was granted\n");
    exit(4);
}

static rm_turn turn_now(struct rm_clock const *clock) {
    struct rm_clock_reading reading;
    return rm_clock_read(clock, &reading) && reading.anchored ? rm_clock_turn(&reading, __builtin_ia32_rdtsc()) : 0;
}

static void pause_until(double due) {
    while (now_s() < due)
        usleep(50);
}

static void go_wrong(struct rogue_wrong const *wrong, struct rogue *rogue, struct rm_clock const *clock, double seconds,
                     double vectors_per_s) {
    double const begin = now_s();
    double now = begin;
    while (now < begin + seconds) {
        if (vectors_per_s > 0)
            pause_until(begin + (double)rogue->count / vectors_per_s);
        uint64_t const burst = vectors_per_s > 0 ? 1 : REFRESH_VECTORS;
        rogue->turn = turn_now(clock);
        for (uint64_t i = 0; i < burst; ++i, ++rogue->count)
            wrong->once(rogue);
        now = now_s();
    }
    printf("%llu vectors in %.3f s\n", (unsigned long long)rogue->count, now - begin);
}

int main(int argc, char **argv) {
    char const *where = NULL, *application = NULL, *way = NULL;
    uint64_t actuators = 0;
    double seconds = 0, vectors_per_s = 0, value = 0;
    struct rm_option options[] = {
        {.name = "WORKSPACE", .kind = RM_OPTION_TEXT, .value = &where, .place = RM_WORD},
        {.name = "APPLICATION", .kind = RM_OPTION_TEXT, .value = &application, .place = RM_WORD},
        {.name = "ACTUATORS", .kind = RM_OPTION_WHOLE, .value = &actuators, .least = 1, .most = 1e6, .place = RM_WORD},
        {.name = "WRONG", .kind = RM_OPTION_TEXT, .value = &way, .place = RM_WORD},
        {.name = "SECONDS", .kind = RM_OPTION_NUMBER, .value = &seconds, .most = 1e6, .place = RM_WORD},
        {.name = "VECTORS_PER_S",
         .kind = RM_OPTION_NUMBER,
         .value = &vectors_per_s,
         .most = 1e9,
         .place = RM_OPTIONAL_WORD},
        {.name = "VALUE",
         .kind = RM_OPTION_NUMBER,
         .value = &value,
         .least = -1e300,
         .most = 1e300,
         .place = RM_OPTIONAL_WORD},
    };
    rm_options_or_exit(argc, argv,
                       "Usage: rogue WORKSPACE APPLICATION ACTUATORS WRONG SECONDS [VECTORS_PER_S [VALUE]]\n", options,
                       sizeof options / sizeof *options);
    struct rogue_wrong const *wrong = find_wrong(way);
    char name[RM_NAME_BYTES];
    struct rm_error error;
    struct rm_owner *owner;
    if (rm_owner_new(where, application, &owner, &error) != RM_OK)
        rogue_fail(&error);
    snprintf(name, sizeof name, "setpoints/%s", application);
    rm_owner_index const vectors = rm_owner_setpoints(owner, name, "what a rogue wants", actuators);
    if (rm_owner_open(owner, &error) != RM_OK)
        rogue_fail(&error);
    struct rm_workspace *workspace;
    if (rm_workspace_attach(where, 0, &workspace, &error) != RM_OK)
        rogue_fail(&error);
    snprintf(name, sizeof name, "grant/%s", application);
    struct rogue rogue = {
        .setpoints = rm_owner_memory(owner, vectors),
        .actuators = actuators,
        .value = value,
        .grant_number = rogue_granted_number(rogue_object(workspace, RM_OBJECT_GRANT, name)),
        .seed = 0x9E3779B97F4A7C15ull,
    };
    go_wrong(wrong, &rogue, rogue_object(workspace, RM_OBJECT_CLOCK, "clock"), seconds, vectors_per_s);
    rm_workspace_detach(workspace);
    rm_owner_close(owner);
    return 0;
}
