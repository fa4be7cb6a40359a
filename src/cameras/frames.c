// SPDX-License-Identifier: Apache-2.0
#include <ringmaster/frames.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "cameras/receiver.h"

#include <ringmaster/workspace.h>

/** The end of an owner wakes no reader: it is looked for that often. */
enum { LOOK_NS = 50000000 };

/** A receiver that begins reserves its memory first, which takes it so long at most; and between two looks for it. */
static uint64_t const BEGIN_NS = 10000000000;
enum { AGAIN_NS = 20000000 };

static char const PREFIX[] = "images/";

/** A camera, and the frame of it that was leased ahead to be compared with those of others. */
struct frames_camera {
    char const *name;
    struct rm_images_reader *reader;
    struct rm_frame waiting;
    bool has_waiting;
};

struct rm_frames {
    /** NULL: another process receives. */
    struct rm_config *config;
    struct rm_camera_receiver *receiver;

    struct rm_workspace *workspace;
    uint32_t count;
    struct frames_camera camera[RM_CONFIG_CAMERAS_MAX];
};

static enum rm_code frames_add(struct rm_frames *frames, char const *name, struct rm_error *error) {
    struct rm_images_view view;
    enum rm_code code = rm_workspace_images(frames->workspace, name, &view, error);
    if (code == RM_OK)
        code = rm_images_reader_new(&view, &frames->camera[frames->count].reader, error);
    if (code == RM_OK)
        frames->camera[frames->count++].name = name;
    return code;
}

/** All images of the workspace, in the order of its directory. */
static enum rm_code frames_find_all(struct rm_frames *frames, char const *workspace, struct rm_error *error) {
    enum rm_code code = rm_workspace_attach(workspace, RM_ATTACH_SERVERLESS, &frames->workspace, error);
    size_t const objects = code == RM_OK ? rm_workspace_object_count(frames->workspace) : 0;
    for (size_t i = 0; code == RM_OK && i < objects && frames->count < RM_CONFIG_CAMERAS_MAX; ++i) {
        void const *memory;
        struct rm_object const *const object = rm_workspace_object(frames->workspace, i, &memory);
        if (object->kind == RM_OBJECT_IMAGES && strncmp(object->name, PREFIX, sizeof PREFIX - 1) == 0)
            code = frames_add(frames, object->name + sizeof PREFIX - 1, error);
    }
    if (code == RM_OK && frames->count == 0)
        return rm_fail(error, RM_E_ABSENT,
                       "workspace \"%s\" has no cameras, expected a receiver: `ringmaster cameras run FILE`",
                       workspace);
    return code;
}

static enum rm_code frames_make(struct rm_frames **frames, struct rm_error *error) {
    *frames = calloc(1, sizeof **frames);
    return *frames != NULL ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory to read cameras");
}

/** Hands over what was opened, or closes it. */
static enum rm_code frames_finish(struct rm_frames *made, enum rm_code code, struct rm_frames **frames) {
    if (code == RM_OK)
        *frames = made;
    else
        rm_frames_close(made);
    return code;
}

enum rm_code rm_frames_attach(char const *workspace, struct rm_frames **frames, struct rm_error *error) {
    struct rm_frames *made = NULL;
    enum rm_code code = frames_make(&made, error);
    if (code == RM_OK)
        code = frames_find_all(made, workspace, error);
    return frames_finish(made, code, frames);
}

static enum rm_code frames_load(char const *file, struct rm_config **config, struct rm_error *error) {
    struct rm_errors errors = {.count = 0};
    enum rm_code const code = rm_config_load_machine(file, config, &errors);
    if (code != RM_OK)
        *error = errors.first[0];
    return code;
}

/** Lets go of what frames_find_all has found. */
static void frames_forget(struct rm_frames *frames) {
    for (uint32_t i = 0; i < frames->count; ++i)
        rm_images_reader_free(frames->camera[i].reader);
    frames->count = 0;
    rm_workspace_detach(frames->workspace);
    frames->workspace = NULL;
}

/** Another process receives, and is as good; it may have begun just now, or end just now, and so this is tried again. */
static enum rm_code frames_receive(struct rm_frames *frames, struct rm_error *error) {
    uint64_t const begin = rm_monotonic_ns();
    struct rm_error absent = {.text = ""};
    for (;;) {
        enum rm_code const code = rm_camera_receiver_start(frames->config, &frames->receiver, error);
        if (code == RM_OK)
            return frames_find_all(frames, frames->config->workspace, error);
        if (code != RM_E_BUSY || rm_monotonic_ns() - begin >= BEGIN_NS)
            return code;
        if (frames_find_all(frames, frames->config->workspace, &absent) == RM_OK)
            return RM_OK;
        frames_forget(frames);
        nanosleep(&(struct timespec){.tv_nsec = AGAIN_NS}, NULL);
    }
}

enum rm_code rm_frames_open(char const *file, struct rm_frames **frames, struct rm_error *error) {
    struct rm_frames *made = NULL;
    enum rm_code code = frames_make(&made, error);
    if (code == RM_OK)
        code = frames_load(file, &made->config, error);
    if (code == RM_OK)
        code = frames_receive(made, error);
    return frames_finish(made, code, frames);
}

void rm_frames_close(struct rm_frames *frames) {
    if (frames == NULL)
        return;
    frames_forget(frames);
    rm_camera_receiver_stop(frames->receiver);
    rm_config_free(frames->config);
    free(frames);
}

uint32_t rm_frames_count(struct rm_frames const *frames) { return frames->count; }

char const *rm_frames_name(struct rm_frames const *frames, uint32_t camera) { return frames->camera[camera].name; }

uint32_t rm_frames_find(struct rm_frames const *frames, char const *name) {
    uint32_t camera = 0;
    while (camera < frames->count && strcmp(frames->camera[camera].name, name) != 0)
        ++camera;
    return camera;
}

struct rm_images_reader *rm_frames_reader(struct rm_frames *frames, uint32_t camera) {
    return frames->camera[camera].reader;
}

/** Leases the next frame of each camera of which none waits. RM_FRAME_OK: some wait; RM_FRAME_ENDED: all have ended. */
static enum rm_frame_read frames_lease(struct rm_frames *frames) {
    uint32_t waiting = 0, ended = 0, refused = 0;
    for (uint32_t i = 0; i < frames->count; ++i) {
        struct frames_camera *const camera = &frames->camera[i];
        enum rm_frame_read const verdict =
            camera->has_waiting ? RM_FRAME_OK : rm_images_next(camera->reader, 0, &camera->waiting);
        camera->has_waiting = verdict == RM_FRAME_OK;
        waiting += verdict == RM_FRAME_OK;
        ended += verdict == RM_FRAME_ENDED;
        refused += verdict == RM_FRAME_NO_LEASE;
    }
    if (waiting != 0)
        return RM_FRAME_OK;
    return ended == frames->count ? RM_FRAME_ENDED : refused != 0 ? RM_FRAME_NO_LEASE : RM_FRAME_NOT_YET;
}

/** The camera whose waiting frame was published first. */
static uint32_t frames_first(struct rm_frames const *frames) {
    uint32_t first = frames->count;
    for (uint32_t i = 0; i < frames->count; ++i)
        if (frames->camera[i].has_waiting &&
            (first == frames->count || (int64_t)(frames->camera[i].waiting.slot->published_tsc -
                                                 frames->camera[first].waiting.slot->published_tsc) < 0))
            first = i;
    return first;
}

static void frames_wait(struct rm_frames *frames, uint64_t timeout_ns) {
    struct rm_images_reader *readers[RM_CONFIG_CAMERAS_MAX];
    for (uint32_t i = 0; i < frames->count; ++i)
        readers[i] = frames->camera[i].reader;
    rm_images_wait(readers, frames->count, timeout_ns < LOOK_NS ? timeout_ns : LOOK_NS);
}

enum rm_frame_read rm_frames_next(struct rm_frames *frames, uint64_t timeout_ns, uint32_t *camera,
                                  struct rm_frame *frame) {
    uint64_t const begin = rm_monotonic_ns();
    for (;;) {
        enum rm_frame_read const verdict = frames_lease(frames);
        if (verdict == RM_FRAME_OK) {
            *camera = frames_first(frames);
            *frame = frames->camera[*camera].waiting;
            frames->camera[*camera].has_waiting = false;
            return RM_FRAME_OK;
        }
        uint64_t const waited = rm_monotonic_ns() - begin;
        if (verdict != RM_FRAME_NOT_YET || waited >= timeout_ns)
            return verdict;
        frames_wait(frames, timeout_ns - waited);
    }
}

void rm_frames_release(struct rm_frames *frames, uint32_t camera, struct rm_frame *frame) {
    rm_images_release(frames->camera[camera].reader, frame);
}
