// SPDX-License-Identifier: Apache-2.0
/** The modules of the producer, as GenTL has them: one system, one interface, and for each camera a device, the remote
 * device behind it, a data stream with its buffers, and an event. One lock is for all of it.
 *
 * ## Handles
 * A handle is a number and never a pointer, so any value of a caller can be checked: kind, camera, buffer, and the
 * generation that its module got when it was opened. A handle of a module that was closed since is refused.
 *
 * ## The reader of a camera
 * It is for one thread (ringmaster/frames.h). While a stream runs it is the stream's thread's, without the lock.
 * Else it is used under the lock. */
#ifndef GENTL_MODULES_H
#define GENTL_MODULES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <ringmaster/frames.h>

#include "answer.h"

#define GENTL_VENDOR "Ringmaster"
#define GENTL_VERSION "1.0.0"
#define GENTL_INTERFACE_ID "cameras"
#define GENTL_TYPE "Custom"

enum {
    GENTL_BUFFERS_MAX = 256,
    /** Most frames that a stream lends to its consumer in place. Others are copied: the tickets are for all readers. */
    GENTL_LEASES_MAX = 4,
    /** As a cache line, so that copies are cheap. */
    GENTL_ALIGNMENT = 64,
};

enum gentl_kind {
    GENTL_SYSTEM = 1,
    GENTL_INTERFACE,
    GENTL_DEVICE,
    /** The camera itself, the "remote device": it has a port and nothing else. */
    GENTL_CAMERA,
    GENTL_STREAM,
    GENTL_BUFFER,
    GENTL_EVENT,
};

/** What a frame is; of a slot (ringmaster/images.h), whose lease may have ended. */
struct gentl_image {
    uint64_t number, device_time, tai_ns, turn, length;
    uint32_t pixel_format, width, height, offset_x, offset_y, padding_x, padding_y;
    bool has_geometry, has_turn, whole;
};

enum gentl_buffer_state {
    /** Not announced. */
    GENTL_BUFFER_ABSENT,
    /** With the consumer. */
    GENTL_BUFFER_IDLE,
    /** In the input pool. */
    GENTL_BUFFER_QUEUED,
    /** The stream's thread writes to it. */
    GENTL_BUFFER_FILLING,
    /** In the output queue. */
    GENTL_BUFFER_FILLED,
};

struct gentl_buffer {
    enum gentl_buffer_state state;
    /** Announced by which call; part of its handle. */
    uint32_t generation;
    /** Lower ones are taken first. */
    uint64_t order;
    uint8_t *memory;
    size_t size;
    void *user_pointer;
    /** `memory` was allocated here. Only such buffers may be a frame in place. */
    bool allocated;
    /** It is a frame in place: `frame` has its bytes. */
    bool leased;
    struct rm_frame frame;
    /** A frame has come into it; `image` and what follows are its. */
    bool has_image;
    bool is_new;
    struct gentl_image image;
    size_t filled;
};

struct gentl_event {
    bool registered;
    uint32_t generation;
    /** The next EventGetData is aborted. */
    bool killed;
    uint64_t fired;
};

struct gentl_stream {
    /** 0: not open. */
    uint32_t generation;
    /** GENTL_BUFFERS_MAX of them while it is open. */
    struct gentl_buffer *buffers;
    struct gentl_event event;
    uint64_t next_order;
    uint64_t delivered, missed, started;
    /** Frames that are still to be delivered; GENTL_INFINITE: no end. */
    uint64_t remaining;
    /** Most frames that it lends in place: GENTL_LEASES_MAX, or fewer where it has found that it gets fewer. */
    uint32_t leases_max;
    /** Whatever a waiting thread waits for has changed. */
    pthread_cond_t changed;
    /** Calls that wait on `changed`. The stream is closed when they have left. */
    uint32_t waiting;
    pthread_t thread;
    /** The thread was made, and not joined. */
    bool running;
    /** The thread is to end; it has ended; and it found that no receiver lives any more. */
    bool stop, stopped, ended;
    bool closing;
};

struct gentl_camera {
    char const *name;
    uint32_t index;
    struct rm_images_reader *reader;
    /** Of the device and its remote device; 0: not open. */
    uint32_t generation;
    /** Between the commands AcquisitionStart and AcquisitionStop. */
    bool acquiring;
    /** The newest frame is to come next, because acquisition has just begun. */
    bool skip;
    uint64_t parameters_locked;
    /** The newest frame seen. */
    bool has_image;
    struct gentl_image newest;
    struct gentl_stream stream;
};

struct gentl_library {
    pthread_mutex_t lock;
    bool initialised;
    uint32_t last_generation;
    /** 0: not open. */
    uint32_t system, interface;
    struct rm_frames *frames;
    struct gentl_camera *cameras;
    uint32_t camera_count;
    /** As RINGMASTER_CAMERAS names them. */
    char source[256];
};

/** Locks the producer, for one call; and unlocks it, passing the call's result on. */
struct gentl_library *gentl_enter(void);
GC_ERROR gentl_leave(struct gentl_library *library, GC_ERROR result);

/** The generation of a module that is opened now. */
uint32_t gentl_generation(struct gentl_library *library);

/** A handle; `camera` and `buffer` are 0 where the kind has none. */
void *gentl_handle(enum gentl_kind kind, uint32_t generation, uint32_t camera, uint32_t buffer);

/** What kind of module a handle claims to be. */
enum gentl_kind gentl_handle_kind(void const *handle);

/** The module of a handle, if it is open. `camera` is set for the kinds from GENTL_DEVICE on. */
GC_ERROR gentl_find(struct gentl_library *library, void const *handle, enum gentl_kind kind,
                    struct gentl_camera **camera);

/** A buffer that is announced to a camera's stream. */
GC_ERROR gentl_find_buffer(struct gentl_camera *camera, void const *handle, struct gentl_buffer **buffer);

/** Closes modules with all that is below them, which must be open; calls that wait there come back first. */
void gentl_close_system(struct gentl_library *library);
void gentl_close_device(struct gentl_library *library, struct gentl_camera *camera);
void gentl_close_stream(struct gentl_library *library, struct gentl_camera *camera);

/** Takes the description of the newest frame over, where no stream runs that does so. */
void gentl_look(struct gentl_camera *camera);

/** The description in a slot that is leased. */
struct gentl_image gentl_image_of(struct rm_image_slot const *slot);

/** The answers to DEVICE_INFO of a camera, which need not be open. */
GC_ERROR gentl_device_info(struct gentl_camera const *camera, struct gentl_answer answer, int32_t command);

#endif
