// SPDX-License-Identifier: Apache-2.0
#include "session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "camera_control.h"
#include "camera_sender.h"
#include "cameras_summary.h"
#include "instruments/signals.h"

/** A wait for packets that are due later than this is slept, and no sleep is longer than LONGEST_SLEEP. */
static double const SLEEP_SECONDS = 200e-6;
static double const SPARE_SECONDS = 100e-6;
static double const LONGEST_SLEEP_SECONDS = 10e-3;

/** Between looks for commands, which also bounds sleeps where cameras are controlled. */
static double const CONTROL_SECONDS = 1e-3;

/** What is to be sent, and where. */
struct open_port {
    /** Of the machine. */
    uint32_t index;
    /** As it is opened. NULL: it is not yet, because a program will say where it leads. */
    struct rm_port_config config;
    struct rm_port *port;
    struct rm_sender_link link;
};

/** A camera that is controlled, and the port that it sends to. */
struct controlled_camera {
    struct rm_camera_control control;
    struct cameras_run *run;
    struct open_port *port;
};

struct cameras_run {
    struct rm_cameras_session const *session;
    struct rm_signals signals;
    double tsc_hz;
    uint32_t port_count, sender_count, controlled_count;
    struct open_port *ports;
    struct rm_camera_sender *senders;
    struct controlled_camera *controlled;
    uint64_t control_tsc;
};

static bool needs_net(struct rm_cameras_config const *config) {
    for (uint32_t p = 0; p < config->machine->port_count; ++p)
        if (config->port[p].used && config->port[p].port.kind != RM_PORT_UDP)
            return true;
    return false;
}

static enum rm_code port_open(struct cameras_run const *run, struct open_port *port, struct rm_error *error) {
    enum rm_code const code = rm_port_open(&port->config, &port->port, error);
    if (code == RM_OK)
        rm_sender_link_init(&port->link, port->port, run->tsc_hz, &run->signals.stop);
    else
        port->port = NULL;
    return code;
}

/** A socket has the address of its camera, so each camera has its own; other ports are shared. */
static enum rm_code open_port_of(struct cameras_run *run, struct rm_virtual_camera const *camera,
                                 struct open_port **found, struct rm_error *error) {
    struct rm_camera_outlet const *const end = &run->session->config->port[camera->port];
    bool const own = end->port.kind == RM_PORT_UDP;
    for (uint32_t p = 0; p < run->port_count && !own; ++p)
        if (run->ports[p].index == camera->port) {
            *found = &run->ports[p];
            return RM_OK;
        }
    *found = &run->ports[run->port_count++];
    **found = (struct open_port){.index = camera->port, .config = end->port};
    if (own) {
        (*found)->config.bind_ipv4 = camera->ipv4;
        (*found)->config.peer_port = camera->udp_port;
    }
    return own && camera->control ? RM_OK : port_open(run, *found, error);
}

/** Where a program wants the stream of a camera that it controls. */
static bool stream_lead(void *state, uint32_t ipv4, uint16_t port) {
    struct controlled_camera *const controlled = state;
    struct rm_camera_sender *const sender = controlled->control.sender;
    struct rm_error error;
    if (controlled->port->config.kind == RM_PORT_UDP) {
        if (controlled->port->port != NULL)
            rm_port_close(controlled->port->port);
        controlled->port->config.peer_ipv4 = ipv4;
        controlled->port->config.peer_port = port;
        if (port_open(controlled->run, controlled->port, &error) != RM_OK) {
            fprintf(stderr, "ringmaster-virtual-cameras: %s\n", error.text);
            return false;
        }
    }
    sender->ethernet = rm_port_framing(controlled->port->port) == RM_FRAMING_ETHERNET;
    sender->flow.destination_ipv4 = ipv4;
    sender->flow.destination_port = port;
    return true;
}

static enum rm_code open_control(struct cameras_run *run, struct rm_camera_sender *sender, struct open_port *port,
                                 struct rm_error *error) {
    struct controlled_camera *const controlled = &run->controlled[run->controlled_count];
    enum rm_code const code = rm_camera_control_open(&controlled->control, sender, error);
    if (code != RM_OK)
        return code;
    controlled->control.lead = stream_lead;
    controlled->control.state = controlled;
    controlled->run = run;
    controlled->port = port;
    run->controlled_count++;
    return RM_OK;
}

static enum rm_code open_sender(struct cameras_run *run, struct rm_virtual_camera const *camera,
                                struct rm_error *error) {
    struct open_port *port;
    enum rm_code code = open_port_of(run, camera, &port, error);
    if (code != RM_OK)
        return code;
    struct rm_camera_sender *const sender = &run->senders[run->sender_count];
    code = rm_camera_sender_open(sender, camera, run->session->config->machine->workspace, run->tsc_hz, error);
    run->sender_count += code == RM_OK;
    sender->link = &port->link;
    sender->ethernet = port->port != NULL && rm_port_framing(port->port) == RM_FRAMING_ETHERNET;
    sender->flow = run->session->config->port[camera->port].flow;
    sender->flow.source_ipv4 = camera->ipv4;
    sender->flow.source_port = sender->flow.destination_port = camera->udp_port;
    sender->frames_wanted = run->session->frames;
    return code == RM_OK && camera->control ? open_control(run, sender, port, error) : code;
}

static enum rm_code open_all(struct cameras_run *run, struct rm_error *error) {
    struct rm_cameras_config const *const config = run->session->config;
    run->ports = calloc(config->camera_count, sizeof *run->ports);
    run->senders = calloc(config->camera_count, sizeof *run->senders);
    run->controlled = calloc(config->camera_count, sizeof *run->controlled);
    if (run->ports == NULL || run->senders == NULL || run->controlled == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for %u cameras", config->camera_count);
    enum rm_code code = RM_OK;
    for (uint32_t c = 0; c < config->camera_count && code == RM_OK; ++c)
        code = open_sender(run, &config->camera[c], error);
    return code;
}

static void close_all(struct cameras_run *run) {
    for (uint32_t c = 0; c < run->controlled_count; ++c)
        rm_camera_control_close(&run->controlled[c].control);
    for (uint32_t s = 0; s < run->sender_count; ++s)
        rm_camera_sender_close(&run->senders[s]);
    for (uint32_t p = 0; p < run->port_count; ++p)
        if (run->ports[p].port != NULL)
            rm_port_close(run->ports[p].port);
    free(run->controlled);
    free(run->senders);
    free(run->ports);
}

/** A sender that no program starts begins when the other end of its port is there, so that no frame is sent to no one. */
static void start_senders(struct cameras_run *run, bool tells) {
    for (uint32_t s = 0; s < run->sender_count; ++s) {
        struct rm_camera_sender *const sender = &run->senders[s];
        if (sender->camera.control || sender->running || sender->link == NULL)
            continue;
        if (rm_port_check(sender->link->port, NULL) != RM_E_ABSENT)
            rm_camera_sender_start(sender);
        else if (tells)
            fprintf(stderr, "ringmaster-virtual-cameras: %s waits for the other end of port \"%s\"\n",
                    sender->camera.name, rm_port_name(sender->link->port));
    }
}

/** Lets time pass until `due`, or some of it. */
static void pass_time(struct cameras_run const *run, uint64_t due) {
    uint64_t const now = rm_tsc();
    if (due <= now)
        return;
    double seconds = (double)(due - now) / run->tsc_hz;
    if (seconds < SLEEP_SECONDS) {
        rm_pause();
        return;
    }
    double const longest = run->controlled_count != 0 ? CONTROL_SECONDS : LONGEST_SLEEP_SECONDS;
    seconds = seconds > longest ? longest : seconds - SPARE_SECONDS;
    nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
}

/** Answers the programs that control cameras, from time to time. */
static void poll_controls(struct cameras_run *run) {
    uint64_t const now = rm_tsc();
    if (run->controlled_count == 0 || now < run->control_tsc)
        return;
    run->control_tsc = now + (uint64_t)(CONTROL_SECONDS / 2 * run->tsc_hz);
    for (uint32_t c = 0; c < run->controlled_count; ++c)
        rm_camera_control_poll(&run->controlled[c].control);
}

/** Sends what is due of all cameras. Returns when the next packet is; UINT64_MAX: there will be none. */
static uint64_t poll_senders(struct cameras_run *run) {
    uint64_t next = UINT64_MAX;
    for (uint32_t s = 0; s < run->sender_count; ++s) {
        uint64_t const due = rm_camera_sender_poll(&run->senders[s]);
        next = due < next ? due : next;
    }
    for (uint32_t p = 0; p < run->port_count; ++p) {
        if (run->ports[p].port == NULL)
            continue;
        rm_sender_link_flush(&run->ports[p].link);
        run->ports[p].link.lost = false;
    }
    return next;
}

static bool all_are_done(struct cameras_run const *run) {
    bool done = true;
    for (uint32_t s = 0; s < run->sender_count; ++s)
        done &= rm_camera_sender_is_done(&run->senders[s]);
    return done;
}

static void run_all(struct cameras_run *run) {
    start_senders(run, true);
    while (!all_are_done(run) && !atomic_load_explicit(&run->signals.stop, memory_order_relaxed)) {
        start_senders(run, false);
        poll_controls(run);
        pass_time(run, poll_senders(run));
    }
}

static enum rm_code run_with_ports(struct cameras_run *run, struct rm_error *error) {
    run->tsc_hz = rm_tsc_hz_measure();
    enum rm_code const code = open_all(run, error);
    if (code == RM_OK) {
        if (!run->session->json)
            rm_cameras_describe(run->session->config, stdout);
        run_all(run);
        rm_cameras_summary(run->senders, run->sender_count, run->session->json, stdout);
    }
    close_all(run);
    return code;
}

static enum rm_code run_with_net(struct cameras_run *run, struct rm_error *error) {
    struct rm_cameras_config const *const config = run->session->config;
    bool const net = needs_net(config);
    enum rm_code code = RM_OK;
    if (config->core != RM_CAMERAS_ANY_CORE && rm_pin((uint32_t)config->core, error) != RM_OK)
        code = error->code = RM_E_CONFIG; /* the file says which */
    if (code == RM_OK && net) {
        struct rm_net_config net_config = {0};
        snprintf(net_config.prefix, sizeof net_config.prefix, "ringmaster-cameras-%d", (int)getpid());
        for (uint32_t p = 0; p < config->machine->port_count; ++p)
            if (config->port[p].used)
                rm_net_config_add(&net_config, &config->port[p].port);
        code = rm_net_start(&net_config, error);
    }
    if (code != RM_OK)
        return code;
    code = run_with_ports(run, error);
    if (net)
        rm_net_stop();
    return code;
}

enum rm_code rm_cameras_run(struct rm_cameras_session const *session, struct rm_error *error) {
    struct cameras_run run = {.session = session};
    rm_signals_block();
    enum rm_code code = rm_signals_start(&run.signals, session->seconds, NULL, NULL, error);
    if (code != RM_OK)
        return code;
    code = run_with_net(&run, error);
    rm_signals_finish(&run.signals);
    return code;
}
