// SPDX-License-Identifier: Apache-2.0
#include "fake_frames.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include <ringmaster/frames.h>

#include "base/fail.h"

enum { CAMERAS = 2 };

struct rm_images_reader {
    uint32_t camera;
    uint64_t last;
    uint32_t leases;
    /** Calls that wait for a frame, and those that got none for want of a lease. */
    uint32_t waiting, refused;
};

/** Frame n lies in slot n % FAKE_SLOTS. */
struct fake_camera {
    struct rm_image_slot slot[FAKE_SLOTS];
    uint8_t bytes[FAKE_SLOTS][FAKE_BYTES];
    uint64_t newest;
    struct rm_images_reader reader;
};

struct rm_frames {
    pthread_mutex_t lock;
    /** Anything. */
    pthread_cond_t changed;
    bool ended;
    struct fake_camera camera[CAMERAS];
};

static char const *const names[CAMERAS] = {"cam01", "cam02"};

static struct rm_frames *fake(void) {
    static struct rm_frames frames = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
    return &frames;
}

void fake_publish(uint32_t camera, uint64_t number, enum rm_image_status status, uint32_t flags) {
    struct rm_frames *frames = fake();
    (void)pthread_mutex_lock(&frames->lock);
    struct fake_camera *cam = &frames->camera[camera];
    uint64_t const sequence = ++cam->newest;
    struct rm_image_slot *slot = &cam->slot[sequence % FAKE_SLOTS];
    memset(slot, 0, sizeof *slot);
    slot->sequence = sequence;
    slot->number = number;
    slot->device_time = 1000 + number;
    slot->tai_ns = 2000 + number;
    slot->turn = 3000 + number;
    slot->length = FAKE_BYTES;
    slot->pixel_format = 0x01080001;
    slot->width = FAKE_WIDTH;
    slot->height = FAKE_HEIGHT;
    slot->offset_x = 5;
    slot->offset_y = 6;
    slot->status = status;
    slot->flags = flags;
    for (uint32_t i = 0; i < FAKE_BYTES; ++i)
        cam->bytes[sequence % FAKE_SLOTS][i] = (uint8_t)(number + i);
    (void)pthread_cond_broadcast(&frames->changed);
    (void)pthread_mutex_unlock(&frames->lock);
}

static void fake_await(uint32_t const *count) {
    struct rm_frames *frames = fake();
    (void)pthread_mutex_lock(&frames->lock);
    while (*count == 0)
        (void)pthread_cond_wait(&frames->changed, &frames->lock);
    (void)pthread_mutex_unlock(&frames->lock);
}

void fake_await_reader(uint32_t camera) { fake_await(&fake()->camera[camera].reader.waiting); }

void fake_await_refusal(uint32_t camera) { fake_await(&fake()->camera[camera].reader.refused); }

void fake_end(void) {
    struct rm_frames *frames = fake();
    (void)pthread_mutex_lock(&frames->lock);
    frames->ended = true;
    (void)pthread_cond_broadcast(&frames->changed);
    (void)pthread_mutex_unlock(&frames->lock);
}

uint32_t fake_leases(uint32_t camera) {
    struct rm_frames *frames = fake();
    (void)pthread_mutex_lock(&frames->lock);
    uint32_t const leases = frames->camera[camera].reader.leases;
    (void)pthread_mutex_unlock(&frames->lock);
    return leases;
}

uint8_t const *fake_bytes(uint32_t camera, uint64_t number) {
    struct fake_camera const *cam = &fake()->camera[camera];
    for (uint64_t back = 0; back < FAKE_SLOTS && back < cam->newest; ++back) {
        uint32_t const slot = (cam->newest - back) % FAKE_SLOTS;
        if (cam->slot[slot].number == number)
            return cam->bytes[slot];
    }
    return NULL;
}

enum rm_code rm_frames_open(char const *file, struct rm_frames **frames, struct rm_error *error) {
    (void)frames;
    return rm_fail(error, RM_E_CONFIG, "%s:1: not a file of cameras", file);
}

enum rm_code rm_frames_attach(char const *workspace, struct rm_frames **frames, struct rm_error *error) {
    if (strcmp(workspace, "fake") != 0)
        return rm_fail(error, RM_E_ABSENT, "there is no workspace \"%s\"", workspace);
    *frames = fake();
    (*frames)->ended = false;
    for (uint32_t i = 0; i < CAMERAS; ++i) {
        struct fake_camera *cam = &(*frames)->camera[i];
        cam->reader = (struct rm_images_reader){.camera = i, .last = cam->newest};
    }
    return RM_OK;
}

void rm_frames_close(struct rm_frames *frames) { (void)frames; }

uint32_t rm_frames_count(struct rm_frames const *frames) {
    (void)frames;
    return CAMERAS;
}

char const *rm_frames_name(struct rm_frames const *frames, uint32_t camera) {
    (void)frames;
    return names[camera];
}

uint32_t rm_frames_find(struct rm_frames const *frames, char const *name) {
    (void)frames;
    uint32_t i = 0;
    while (i < CAMERAS && strcmp(names[i], name) != 0)
        ++i;
    return i;
}

struct rm_images_reader *rm_frames_reader(struct rm_frames *frames, uint32_t camera) {
    return &frames->camera[camera].reader;
}

/** Leases the frame `sequence`, or one behind it that is still there. */
static enum rm_frame_read camera_lease(struct fake_camera *cam, uint64_t sequence, struct rm_frame *frame) {
    struct rm_images_reader *reader = &cam->reader;
    if (reader->leases == FAKE_LEASES) {
        ++reader->refused;
        (void)pthread_cond_broadcast(&fake()->changed);
        return RM_FRAME_NO_LEASE;
    }
    if (cam->newest >= FAKE_SLOTS && sequence <= cam->newest - FAKE_SLOTS)
        sequence = cam->newest - FAKE_SLOTS + 1;
    uint32_t const slot = sequence % FAKE_SLOTS;
    *frame = (struct rm_frame){.sequence = sequence,
                               .slot = &cam->slot[slot],
                               .bytes = cam->bytes[slot],
                               .passed_over = sequence - reader->last - 1};
    reader->last = sequence;
    ++reader->leases;
    return RM_FRAME_OK;
}

static enum rm_frame_read reader_read(struct rm_images_reader *reader, uint64_t timeout_ns, bool newest,
                                      struct rm_frame *frame) {
    struct rm_frames *frames = fake();
    struct fake_camera *cam = &frames->camera[reader->camera];
    struct timespec deadline;
    (void)clock_gettime(CLOCK_REALTIME, &deadline);
    deadline.tv_nsec += (long)(timeout_ns % 1000000000);
    deadline.tv_sec += (time_t)(timeout_ns / 1000000000) + deadline.tv_nsec / 1000000000;
    deadline.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&frames->lock);
    int status = timeout_ns > 0 ? 0 : 1;
    reader->waiting += timeout_ns > 0;
    (void)pthread_cond_broadcast(&frames->changed);
    while (!frames->ended && cam->newest == reader->last && status == 0)
        status = pthread_cond_timedwait(&frames->changed, &frames->lock, &deadline);
    reader->waiting -= timeout_ns > 0;
    enum rm_frame_read read = frames->ended ? RM_FRAME_ENDED : RM_FRAME_NOT_YET;
    if (cam->newest > reader->last)
        read = camera_lease(cam, newest ? cam->newest : reader->last + 1, frame);
    (void)pthread_mutex_unlock(&frames->lock);
    return read;
}

enum rm_frame_read rm_images_next(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame) {
    return reader_read(reader, timeout_ns, false, frame);
}

enum rm_frame_read rm_images_newest(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame) {
    return reader_read(reader, timeout_ns, true, frame);
}

void rm_images_release(struct rm_images_reader *reader, struct rm_frame *frame) {
    struct rm_frames *frames = fake();
    (void)pthread_mutex_lock(&frames->lock);
    --reader->leases;
    *frame = (struct rm_frame){0};
    (void)pthread_mutex_unlock(&frames->lock);
}
