// SPDX-License-Identifier: Apache-2.0
/** ringmaster-camera-control: keeps the cameras of a file sending, until it is stopped. */
#include <signal.h>
#include <stdlib.h>

#include <glib-unix.h>

#include "base/errors.h"
#include "base/fail.h"
#include "base/options.h"
#include "control.h"

enum { EXIT_GOOD = 0, EXIT_FAILED = 1 };

static char const USAGE[] =
    "Usage: ringmaster-camera-control CONFIG\n"
    "\n"
    "Opens each GigE Vision camera of CONFIG that has an address, sets its features, sends its stream to the port "
    "that\n"
    "its receiver polls, starts it and keeps its heartbeat: until Ctrl-C, which stops it.\n"
    "\n"
    "Example:\n"
    "  ringmaster-camera-control configs/cameras.yaml\n"
    "\n"
    "Exit status: 0 stopped, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

struct controls {
    struct rm_camera_control *control;
    uint32_t count;
    GMainLoop *loop;
    /** The camera that control was lost of. */
    struct rm_camera_control *_Atomic lost;
};

static gboolean controls_end(gpointer loop) {
    g_main_loop_quit(loop);
    return G_SOURCE_CONTINUE;
}

/** In a thread of Aravis'. */
static void controls_lose(ArvDevice *device, gpointer argument) {
    struct controls *const controls = argument;
    for (uint32_t i = 0; i < controls->count; ++i)
        if (controls->control[i].device == device)
            controls->lost = &controls->control[i];
    g_main_loop_quit(controls->loop);
}

/** All cameras that can be controlled; none is opened yet. */
static enum rm_code controls_find(struct rm_config const *config, struct controls *controls, struct rm_error *error) {
    controls->control = calloc(config->camera_count + 1, sizeof *controls->control);
    if (controls->control == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "%s: no memory to hold it", config->source_path);
    for (uint32_t i = 0; i < config->camera_count; ++i) {
        struct rm_config_camera const *const camera = &config->camera[i];
        if (camera->format == RM_CAMERA_GVSP && camera->ipv4 != 0)
            controls->control[controls->count++] =
                (struct rm_camera_control){.camera = camera, .port = &config->port[camera->port], .listener = -1};
    }
    if (controls->count == 0)
        return rm_fail(error, RM_E_CONFIG,
                       "%s: cameras: none can be controlled, expected one of format gvsp with its address",
                       config->source_path);
    return RM_OK;
}

static enum rm_code controls_run(struct controls *controls, struct rm_error *error) {
    for (uint32_t i = 0; i < controls->count; ++i) {
        struct rm_camera_control *const control = &controls->control[i];
        enum rm_code const code = rm_camera_control_start(control, error);
        if (code != RM_OK)
            return code;
        g_signal_connect(control->device, "control-lost", G_CALLBACK(controls_lose), controls);
        rm_camera_control_print(control, stdout);
    }
    g_main_loop_run(controls->loop);
    struct rm_camera_control const *const lost = controls->lost;
    return lost == NULL ? RM_OK
                        : rm_fail(error, RM_E_SYSTEM,
                                  "camera \"%s\" no longer answers its heartbeat; see to its cable and its power, and "
                                  "start the control again",
                                  lost->camera->name);
}

static enum rm_code control_cameras(struct rm_config const *config, struct rm_error *error) {
    struct controls controls = {.loop = g_main_loop_new(NULL, FALSE)};
    g_unix_signal_add(SIGINT, controls_end, controls.loop);
    g_unix_signal_add(SIGTERM, controls_end, controls.loop);
    enum rm_code code = controls_find(config, &controls, error);
    if (code == RM_OK)
        code = controls_run(&controls, error);
    for (uint32_t i = 0; i < controls.count; ++i)
        rm_camera_control_close(&controls.control[i]);
    free(controls.control);
    g_main_loop_unref(controls.loop);
    return code;
}

int main(int argc, char **argv) {
    char const *path = NULL;
    struct rm_option options[] = {{"CONFIG", &path, .kind = RM_OPTION_TEXT, .place = RM_WORD}};
    rm_options_or_exit(argc, argv, USAGE, options, sizeof options / sizeof *options);
    struct rm_config *config = NULL;
    struct rm_errors errors = {.count = 0};
    if (rm_config_load_machine(path, &config, &errors) != RM_OK) {
        rm_errors_print(&errors, "ringmaster-camera-control", stderr);
        return EXIT_FAILED;
    }
    struct rm_error error = {.text = ""};
    enum rm_code const code = control_cameras(config, &error);
    rm_config_free(config);
    if (code == RM_OK)
        return EXIT_GOOD;
    fprintf(stderr, "ringmaster-camera-control: %s\n", error.text);
    return EXIT_FAILED;
}
