// SPDX-License-Identifier: Apache-2.0
/** The GigE Vision device of a virtual camera: what it answers to programs, and what their commands mean for its stream.
 *
 * All may read. One at a time may write: the program that has taken control by the register RM_DEVICE_PRIVILEGE, until it
 * gives it back or is not heard for RM_DEVICE_HEARTBEAT_MS. Then the stream ends. No system call and no time of its own, so
 * tests and a fuzzer play it. */
#ifndef RM_CAMERAS_DEVICE_H
#define RM_CAMERAS_DEVICE_H

#include "device_registers.h"

struct rm_camera_device {
    struct rm_device_registers registers;
    /** Who controls it; port 0: no one. And when it was heard last, ns. */
    uint32_t owner_ipv4;
    uint16_t owner_port;
    uint64_t heard_ns;
    /** Commands that were answered, those that were refused, and what was no command. */
    uint64_t answered, refused, unreadable;
};

/** What a command means for the stream. */
enum rm_device_action { RM_DEVICE_NO_ACTION, RM_DEVICE_STREAM_BEGINS, RM_DEVICE_STREAM_ENDS, RM_DEVICE_SENDS_AGAIN };

/** Where a command came from, host byte order. */
struct rm_device_client {
    uint32_t ipv4;
    uint16_t port;
};

struct rm_device_answer {
    /** 0: there is none. */
    uint32_t length;
    uint8_t bytes[RM_GVCP_LONGEST];
    enum rm_device_action action;
    /** Of RM_DEVICE_SENDS_AGAIN. */
    struct rm_gvcp_resend resend;
};

enum rm_code rm_camera_device_new(struct rm_virtual_camera const *camera, struct rm_camera_device *device,
                                  struct rm_error *error);
void rm_camera_device_free(struct rm_camera_device *device);

/** Takes a datagram. */
void rm_camera_device_take(struct rm_camera_device *device, struct rm_device_client from, uint8_t const *payload,
                           uint32_t length, uint64_t now_ns, struct rm_device_answer *answer);

/** True once when the program that controls it is not heard any more: the stream ends. */
bool rm_camera_device_expire(struct rm_camera_device *device, uint64_t now_ns);

#endif
