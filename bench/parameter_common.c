// SPDX-License-Identifier: Apache-2.0
#include "parameter_cost.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "base/pin.h"

enum { ATTACH_TRIES = 5000 };

void die(char const *what, struct rm_error const *error) {
    fprintf(stderr, "ringmaster-parameter-cost: %s%s%s\n", what, error ? ": " : "", error ? error->text : "");
    exit(1);
}

void pin(int cpu) {
    struct rm_error error;
    if (rm_pin((uint32_t)cpu, &error) != RM_OK)
        die("pin", &error);
}

static int by_value(void const *one, void const *other) {
    double const a = *(double const *)one, b = *(double const *)other;
    return (a > b) - (a < b);
}

void print(char const *name, double *values, size_t count, char const *end) {
    qsort(values, count, sizeof *values, by_value);
    printf("\"%s\": {\"median\": %.3f, \"low\": %.3f, \"high\": %.3f, \"p99\": %.3f}%s", name, values[count / 2],
           values[count / 10], values[count - 1 - count / 10], values[count - 1 - count / 100], end);
}

void *find(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *memory;
    struct rm_error error;
    if (rm_workspace_find(workspace, kind, name, &object, &memory, &error) != RM_OK)
        die("find", &error);
    return (void *)(uintptr_t)memory;
}

struct rm_workspace *attach(char const *where, enum rm_object_kind kind, char const *name) {
    struct rm_error error = {0};
    for (int tries = 0; tries < ATTACH_TRIES; ++tries) {
        struct rm_workspace *workspace;
        if (rm_workspace_attach(where, 0, &workspace, &error) == RM_OK) {
            struct rm_object const *object;
            void const *memory;
            if (rm_workspace_find(workspace, kind, name, &object, &memory, &error) == RM_OK)
                return workspace;
            rm_workspace_detach(workspace);
        }
        usleep(1000);
    }
    die("attach", &error);
    return NULL;
}

struct rm_owner *owner_of(char const *where, char const *name) {
    struct rm_owner *owner;
    struct rm_error error;
    if (rm_owner_new(where, name, &owner, &error) != RM_OK)
        die("owner", &error);
    return owner;
}

void open_owner(struct rm_owner *owner) {
    struct rm_error error;
    if (rm_owner_open(owner, &error) != RM_OK)
        die("open", &error);
}

rm_owner_index plan(struct rm_owner *owner, char const *name, size_t count, struct rm_limits const *limits,
                    char const *group) {
    struct rm_parameter_plan const planned = {.name = name,
                                              .unit = "A",
                                              .description = "",
                                              .type = RM_ELEMENT_F64,
                                              .rows = count,
                                              .columns = 1,
                                              .limits = limits,
                                              .flags = RM_PARAMETER_WRITABLE,
                                              .group = group};
    return rm_owner_parameter(owner, &planned);
}

struct ball *shared(void) {
    void *const memory = mmap(NULL, sizeof(struct ball), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("no memory", NULL);
    return memory;
}

pid_t beside(int cpu) {
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child < 0)
        die("cannot fork", NULL);
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        pin(cpu);
    }
    return child;
}
