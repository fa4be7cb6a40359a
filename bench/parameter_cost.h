// SPDX-License-Identifier: Apache-2.0
/** The parts of ringmaster-parameter-cost: what it measures, each in a file of its own, and what they have in common.
 * All of them end the program where something fails, and say so. */
#ifndef RM_BENCH_PARAMETER_COST_H
#define RM_BENCH_PARAMETER_COST_H

#include <stdatomic.h>
#include <stddef.h>
#include <sys/types.h>

#include <ringmaster/error.h>
#include <ringmaster/owner.h>
#include <ringmaster/parameter.h>
#include <ringmaster/workspace.h>

#include "rounds.h"

/* What is measured: prints its JSON, returns the exit status. */

int measure_cost(char const *where, int cpu);
int measure_visible(char const *where, int first, int second);
int measure_request(char const *where, int first, int second);

/* In common. */

/** What two processes share that play a number back and forth. */
struct ball {
    _Alignas(64) atomic_uint plain;
    /** Both have what they need. */
    _Alignas(64) atomic_bool go;

    _Alignas(64) atomic_uint phase;
};

void *find(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name);

/** Attaches once the object `name` is there. */
struct rm_workspace *attach(char const *where, enum rm_object_kind kind, char const *name);

struct rm_owner *owner_of(char const *where, char const *name);
void open_owner(struct rm_owner *owner);

/** A parameter of so many f64. `limits` and `group` may be NULL. */
rm_owner_index plan(struct rm_owner *owner, char const *name, size_t count, struct rm_limits const *limits,
                    char const *group);

/** Makes a ball that this process and its children share. */
struct ball *shared(void);

/** Forks. Returns 0 in the child, which is pinned to `cpu` and ends with its parent. */
pid_t beside(int cpu);

#endif
