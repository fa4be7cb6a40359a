// SPDX-License-Identifier: Apache-2.0
#include "session_images.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ringmaster/pattern.h>

#include "archive/format/block.h"
#include "base/fail.h"

enum {
    /** What a buffer takes at most, unless a frame is longer. */
    BUFFER_MOST = 16 << 20,
    /** Of a file that is small, a buffer is one part in so many. */
    BUFFERS_OF_FILE = 32,
    FILE_MOST = 1 << 30,
    /** What a camera's rate counts as. */
    FRAMES_PER_S = 30,
};

static bool images_wants(struct rm_record_images const *images, char const *camera) {
    for (uint32_t p = 0; p < images->pattern_count; ++p)
        if (rm_pattern_matches(images->pattern[p], camera))
            return true;
    return false;
}

/** Bytes of a block of the longest frame. */
static uint64_t images_block_bytes(struct rm_images_view const *view) {
    return sizeof(struct rm_block) + rm_block_room(rm_image_payload_bytes(view->frame_bytes, view->map_bytes * 8));
}

/** Where the camera was left in the session before: there it goes on. One that came since is recorded from its first
 * frame on. */
static void images_go_on(struct rm_recorder const *recorder, unsigned index, char const *name,
                         struct rm_follow_images *follow) {
    if (recorder->began)
        rm_images_begin_after(follow->reader, 0);
    for (uint32_t i = 0; i < recorder->left_count; ++i) {
        struct rm_left_stream const *left = &recorder->left[i];
        if (left->log == index && strcmp(left->name, name) == 0) {
            rm_images_begin_after(follow->reader, left->next);
            follow->told_begin = true;
        }
    }
}

/** Adds a camera to a log; what stands against it is said. */
static void images_add(struct rm_recorder *recorder, unsigned index, char const *name) {
    struct rm_recorded_log *log = &recorder->log[index];
    struct rm_follow_images *follow = &log->camera[log->camera_count];
    char text[RM_ERROR_TEXT_BYTES];
    struct rm_error why;
    *follow = (struct rm_follow_images){.log = &log->log, .object = log->camera_count, .tick_ns = recorder->tick_ns};
    enum rm_code code = rm_workspace_images(recorder->workspace, name, &follow->view, &why);
    if (code == RM_OK && images_block_bytes(&follow->view) > RM_BLOCK_PAYLOAD_MAX)
        code = rm_fail(&why, RM_E_CONFIG,
                       "camera %s: its frames may have %llu bytes, and a block of an archive has at most %d; lower the "
                       "camera's `frame_bytes`: it is not recorded",
                       name, (unsigned long long)follow->view.frame_bytes, RM_BLOCK_PAYLOAD_MAX);
    if (code == RM_OK)
        code = rm_images_reader_new(&follow->view, &follow->reader, &why);
    if (code != RM_OK) {
        snprintf(text, sizeof text, "%.40s: %.400s", log->log.name, why.text);
        recorder->say(text);
        return;
    }
    images_go_on(recorder, index, name, follow);
    struct rm_archived_object *object = &log->object[log->camera_count++];
    *object = (struct rm_archived_object){.kind = RM_BLOCK_IMAGE};
    snprintf(object->name, sizeof object->name, "%s", name);
    log->bytes_per_s += (double)images_block_bytes(&follow->view) * FRAMES_PER_S;
}

enum rm_code rm_session_images_plan(struct rm_recorder *recorder, unsigned index, struct rm_error *error) {
    static char const IMAGES[] = "images/";
    struct rm_recorded_log *log = &recorder->log[index];
    size_t const objects = rm_workspace_object_count(recorder->workspace);
    log->object = calloc(objects + 1, sizeof *log->object);
    log->camera = calloc(objects + 1, sizeof *log->camera);
    log->camera_count = 0;
    log->bytes_per_s = 0;
    if (log->object == NULL || log->camera == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory for its cameras", log->log.name);
    for (size_t i = 0; i < objects; ++i) {
        struct rm_object const *object = rm_workspace_object(recorder->workspace, i, NULL);
        char const *name = object->name + sizeof IMAGES - 1;
        if (object->kind == RM_OBJECT_IMAGES && images_wants(log->images, name))
            images_add(recorder, index, name);
    }
    log->log.object = log->object;
    log->log.object_count = log->camera_count;
    return RM_OK;
}

static uint64_t sectors(uint64_t bytes) { return (bytes + RM_DISK_ALIGNMENT - 1) & ~(uint64_t)(RM_DISK_ALIGNMENT - 1); }

void rm_session_images_size(struct rm_recorded_log *log, uint64_t most) {
    uint64_t longest = sizeof(struct rm_block);
    for (uint32_t i = 0; i < log->camera_count; ++i) {
        uint64_t const bytes = images_block_bytes(&log->camera[i].view);
        longest = bytes > longest ? bytes : longest;
    }
    most = most < FILE_MOST ? most : FILE_MOST;
    uint64_t const wanted = most / BUFFERS_OF_FILE < BUFFER_MOST ? most / BUFFERS_OF_FILE : BUFFER_MOST;
    uint64_t const frames = wanted > longest ? wanted / longest : 1;
    log->log.buffer_bytes = sectors(frames * longest);
    uint64_t const least = log->log.head_bytes + 2 * (uint64_t)RM_LOG_BUFFERS * log->log.buffer_bytes;
    log->log.file_bytes = sectors(most > least ? most : least);
}

uint64_t rm_session_images_step(struct rm_recorded_log *log, struct rm_record_moment const *moment) {
    uint64_t taken = 0;
    for (uint32_t i = 0; i < log->camera_count; ++i) {
        struct rm_follow_images *follow = &log->camera[i];
        taken += rm_follow_images_step(follow, moment);
        for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r) {
            log->lost[r] += follow->lost[r] - follow->counted[r];
            follow->counted[r] = follow->lost[r];
        }
    }
    return taken;
}

void rm_session_images_tell(struct rm_recorder *recorder, struct rm_recorded_log *log) {
    for (uint32_t i = 0; i < log->camera_count; ++i) {
        struct rm_follow_images *follow = &log->camera[i];
        for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r)
            if (follow->lost[r] != follow->told[r]) {
                rm_events_lost_frames(&recorder->watch, log->log.name, log->object[i].name, rm_mark_reason_text(r),
                                      follow->lost[r] - follow->told[r]);
                follow->told[r] = follow->lost[r];
            }
    }
}

bool rm_session_images_moved(struct rm_recorder const *recorder, struct rm_workspace const *now) {
    for (unsigned l = 0; l < recorder->log_count; ++l)
        for (uint32_t i = 0; i < recorder->log[l].camera_count; ++i) {
            struct rm_images_view const *ours = &recorder->log[l].camera[i].view;
            struct rm_images_view view;
            if (rm_workspace_images(now, recorder->log[l].object[i].name, &view, NULL) == RM_OK &&
                (view.inode != ours->inode || view.device != ours->device))
                return true;
        }
    return false;
}

void rm_session_images_leave(struct rm_recorder *recorder, unsigned index) {
    struct rm_recorded_log const *log = &recorder->log[index];
    for (uint32_t i = 0; i < log->camera_count; ++i) {
        if (log->camera[i].last == 0)
            continue;
        struct rm_left_stream *left = &recorder->left[recorder->left_count++];
        *left = (struct rm_left_stream){.log = index, .next = log->camera[i].last};
        memcpy(left->name, log->object[i].name, sizeof left->name);
    }
}

void rm_session_images_end(struct rm_recorder *recorder, struct rm_recorded_log *log) {
    for (uint32_t i = 0; i < log->camera_count; ++i) {
        struct rm_follow_images *follow = &log->camera[i];
        if (*recorder->ending)
            rm_follow_images_give_up(follow);
        for (unsigned r = 0; r < RM_FOLLOW_REASONS; ++r)
            log->lost[r] += follow->lost[r] - follow->counted[r];
        rm_follow_images_end(follow);
    }
    free(log->camera);
    log->camera = NULL;
    log->camera_count = 0;
}
