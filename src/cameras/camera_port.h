// SPDX-License-Identifier: Apache-2.0
/** A port that cameras send to, and the thread that polls it: receives bursts, finds the camera of each datagram, and
 * lets time pass for those that wait for fragments.
 *
 * Every frame that the port gave ends in one counter of the set "port": a camera's (`decoded`, and then in one of the
 * camera's own), or one that says why it is none's. Fragments of IP are refused: a camera's packets fit the link. */
#ifndef RM_CAMERAS_CAMERA_PORT_H
#define RM_CAMERAS_CAMERA_PORT_H

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "cameras/camera.h"
#include "config/config.h"
#include "net/port.h"

struct rm_camera_port {
    struct rm_config_port const *config;
    struct rm_config_polling const *polling;
    struct rm_port *port;
    rm_counter *counters;
    /** Of the receiver's cameras, those that send here. */
    uint32_t camera_count;
    struct rm_camera **camera;
    double ticks_per_second;
    /** When cameras were tended last. */
    uint64_t tended_tsc;

    atomic_bool const *stop;
    pthread_t thread;
    /** What the thread tells who starts it: it polls (RM_OK), or why it cannot. */
    sem_t begun;
    struct rm_error begin_error;
    enum rm_code begin_code;
    bool is_running;
};

/** Starts the thread, and waits until it polls; the port and its cameras are open. */
enum rm_code rm_camera_port_start(struct rm_camera_port *port, struct rm_error *error);

/** Waits for the thread's end; `*stop` was set. */
void rm_camera_port_join(struct rm_camera_port *port);

/** Takes entry `index` of a received burst. For the thread, and for tests. */
void rm_camera_port_take(struct rm_camera_port *port, struct rm_burst const *burst, uint32_t index, uint64_t tsc);

#endif
