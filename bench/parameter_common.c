// SPDX-License-Identifier: Apache-2.0
#include "parameter_cost.h"

#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { ATTACH_TRIES = 5000 };

void *find(struct rm_workspace *workspace, enum rm_object_kind kind, char const *name) {
    struct rm_object const *object;
    void const *memory;
    struct rm_error error;
    bench_must(rm_workspace_find(workspace, kind, name, &object, &memory, &error), &error);
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
    bench_fail(error.text);
}

struct rm_owner *owner_of(char const *where, char const *name) {
    struct rm_owner *owner;
    struct rm_error error;
    bench_must(rm_owner_new(where, name, &owner, &error), &error);
    return owner;
}

void open_owner(struct rm_owner *owner) {
    struct rm_error error;
    bench_must(rm_owner_open(owner, &error), &error);
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
        bench_fail("no memory");
    return memory;
}

pid_t beside(int cpu) {
    pid_t const parent = getpid();
    pid_t const child = fork();
    if (child < 0)
        bench_fail("cannot fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        bench_pin((uint32_t)cpu);
    }
    return child;
}
