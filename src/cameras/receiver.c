// SPDX-License-Identifier: Apache-2.0
#include "cameras/receiver.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "cameras/camera_port.h"
#include "cameras/camera_profiles.h"
#include "cameras/receiver_ports.h"

enum { WATCH_NS = 100000000 };

static char const OWNER[] = "cameras";

struct rm_camera_receiver {
    struct rm_config const *config;
    struct rm_owner *owner;
    struct rm_camera_clock clock;
    struct rm_camera *camera;
    struct rm_camera_ports ports;
    struct rm_camera_profiles profiles;
    double ticks_per_second;
    rm_owner_index tsc_hz_index;
    /** Of the threads of ports, of the one that watches, and of the one of profiles. */
    atomic_bool stop;
    pthread_t watch;
    bool is_watching;
};

static enum rm_code receiver_no_memory(struct rm_error *error) {
    rm_fail(error, RM_E_NO_SPACE, "no memory for the receiver of cameras");
    return RM_E_NO_SPACE;
}

static enum rm_code receiver_make(struct rm_config const *config, struct rm_camera_receiver **receiver,
                                  struct rm_error *error) {
    struct rm_camera_receiver *const made = calloc(1, sizeof *made);
    if (made == NULL)
        return receiver_no_memory(error);
    made->config = config;
    rm_camera_clock_open(&made->clock);
    made->camera = calloc(config->camera_count, sizeof *made->camera);
    made->ticks_per_second = rm_tsc_hz_measure();
    for (uint32_t i = 0; made->camera != NULL && i < config->camera_count; ++i) {
        made->camera[i].config = &config->camera[i];
        made->camera[i].clock = &made->clock;
        made->camera[i].ticks_per_second = made->ticks_per_second;
        if (config->camera[i].format == RM_CAMERA_LINES)
            made->camera[i].lines = &config->format[config->camera[i].lines];
    }
    *receiver = made;
    return made->camera != NULL && rm_camera_ports_make(&made->ports, config, made->camera, &made->stop) &&
                   rm_camera_profiles_make(&made->profiles, config)
               ? RM_OK
               : receiver_no_memory(error);
}

static void receiver_plan(struct rm_camera_receiver *receiver) {
    struct rm_parameter_plan const tsc_hz = {.name = "cameras/tsc_hz",
                                             .unit = "Hz",
                                             .description = "rate of the TSC, which frames are stamped with",
                                             .type = RM_ELEMENT_F64,
                                             .rows = 1};
    receiver->tsc_hz_index = rm_owner_parameter(receiver->owner, &tsc_hz);
    for (uint32_t i = 0; i < receiver->config->camera_count; ++i)
        rm_camera_plan(&receiver->camera[i], receiver->owner);
    rm_camera_ports_plan(&receiver->ports, receiver->owner);
    rm_camera_profiles_plan(&receiver->profiles, receiver->owner);
}

static void receiver_tell(struct rm_camera_receiver *receiver) {
    struct rm_stamp const stamp = {.tai_ns = rm_tai_ns(), .turn = RM_TURN_NONE};
    rm_parameter_write_f64(rm_owner_memory(receiver->owner, receiver->tsc_hz_index), receiver->ticks_per_second, stamp);
}

/** The segment first: another receiver has its lock, and ports that stay closed then. */
static enum rm_code receiver_open(struct rm_camera_receiver *receiver, struct rm_error *error) {
    struct rm_config const *const config = receiver->config;
    enum rm_code code = rm_owner_new(config->workspace, OWNER, &receiver->owner, error);
    if (code != RM_OK)
        return code;
    receiver_plan(receiver);
    code = rm_owner_open(receiver->owner, error);
    if (code == RM_OK)
        receiver_tell(receiver);
    for (uint32_t i = 0; code == RM_OK && i < config->camera_count; ++i)
        code = rm_camera_open(&receiver->camera[i], receiver->owner, error);
    return code == RM_OK ? rm_camera_ports_open(&receiver->ports, receiver->owner, error) : code;
}

static void *receiver_watch(void *argument) {
    struct rm_camera_receiver *const receiver = argument;
    while (!atomic_load_explicit(&receiver->stop, memory_order_relaxed)) {
        rm_camera_clock_watch(&receiver->clock, receiver->config->workspace);
        rm_camera_ports_watch(&receiver->ports);
        nanosleep(&(struct timespec){.tv_nsec = WATCH_NS}, NULL);
    }
    return NULL;
}

static enum rm_code receiver_start(struct rm_camera_receiver *receiver, struct rm_error *error) {
    enum rm_code code = rm_camera_profiles_start(&receiver->profiles, receiver->owner, &receiver->stop, error);
    if (code == RM_OK)
        code = rm_camera_ports_start(&receiver->ports, error);
    if (code != RM_OK)
        return code;
    int const why = pthread_create(&receiver->watch, NULL, receiver_watch, receiver);
    if (why != 0)
        return rm_fail(error, RM_E_SYSTEM, "cannot start a thread: %s", strerror(why));
    receiver->is_watching = true;
    return RM_OK;
}

/** Its threads leave signals to the program, which may be anyone's. */
static enum rm_code receiver_start_deaf(struct rm_camera_receiver *receiver, struct rm_error *error) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    enum rm_code const code = receiver_start(receiver, error);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

enum rm_code rm_camera_receiver_start(struct rm_config const *config, struct rm_camera_receiver **receiver,
                                      struct rm_error *error) {
    struct rm_camera_receiver *made = NULL;
    if (config->camera_count == 0)
        return rm_config_fail(config, error, "", "the key \"cameras\" is missing, expected a list of those that send");
    enum rm_code code = receiver_make(config, &made, error);
    if (code == RM_OK)
        code = receiver_open(made, error);
    if (code == RM_OK)
        code = receiver_start_deaf(made, error);
    if (code == RM_OK)
        *receiver = made;
    else
        rm_camera_receiver_stop(made);
    return code;
}

void rm_camera_receiver_stop(struct rm_camera_receiver *receiver) {
    if (receiver == NULL)
        return;
    atomic_store_explicit(&receiver->stop, true, memory_order_relaxed);
    if (receiver->is_watching)
        pthread_join(receiver->watch, NULL);
    rm_camera_profiles_end(&receiver->profiles);
    rm_camera_ports_close(&receiver->ports);
    for (uint32_t i = 0; receiver->camera != NULL && i < receiver->config->camera_count; ++i)
        rm_camera_close(&receiver->camera[i]);
    rm_owner_close(receiver->owner);
    rm_camera_clock_close(&receiver->clock);
    free(receiver->camera);
    free(receiver);
}
