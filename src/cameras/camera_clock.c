// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera_clock.h"

enum { LOOKS_PER_ATTACH = 10 };

void rm_camera_clock_open(struct rm_camera_clock *clock) {
    *clock = (struct rm_camera_clock){.is_known = false};
    pthread_mutex_init(&clock->lock, NULL);
}

static void clock_detach(struct rm_camera_clock *clock) {
    rm_workspace_detach(clock->workspace);
    clock->workspace = NULL;
    clock->memory = NULL;
}

static void clock_attach(struct rm_camera_clock *clock, char const *workspace) {
    struct rm_error error;
    struct rm_object const *object;
    void const *memory;
    if (rm_workspace_attach(workspace, 0, &clock->workspace, &error) != RM_OK)
        return;
    if (rm_workspace_find(clock->workspace, RM_OBJECT_CLOCK, "clock", &object, &memory, &error) == RM_OK)
        clock->memory = memory;
}

void rm_camera_clock_watch(struct rm_camera_clock *clock, char const *workspace) {
    struct rm_clock_reading reading;
    if (clock->workspace != NULL && !rm_workspace_alive(clock->workspace))
        clock_detach(clock);
    if (clock->workspace == NULL && clock->looks++ % LOOKS_PER_ATTACH == 0)
        clock_attach(clock, workspace);
    bool const known = clock->memory != NULL && rm_clock_read(clock->memory, &reading) && reading.anchored;
    pthread_mutex_lock(&clock->lock);
    clock->is_known = known;
    if (known)
        clock->reading = reading;
    pthread_mutex_unlock(&clock->lock);
}

void rm_camera_clock_close(struct rm_camera_clock *clock) {
    clock_detach(clock);
    pthread_mutex_destroy(&clock->lock);
}

rm_turn rm_camera_clock_turn(struct rm_camera_clock *clock, uint64_t tsc) {
    pthread_mutex_lock(&clock->lock);
    rm_turn const turn = clock->is_known ? rm_clock_turn(&clock->reading, tsc) : RM_TURN_NONE;
    pthread_mutex_unlock(&clock->lock);
    return turn;
}
