// SPDX-License-Identifier: Apache-2.0
#include "cameras/camera_port.h"

#include <string.h>

#include "base/fail.h"
#include "base/idle.h"
#include "cameras/camera_formats.h"
#include "frames/tecmp.h"
#include "wire/frame.h"
#include "wire/network_order.h"

enum {
    /** A thread sleeps so long where frames are in flight, and RM_SLEEP where none are. */
    WAIT_NS = 1000000,
    /** Looks at deadlines, per second. */
    TENDS_PER_SECOND = 10000,
    VLAN_ID_MASK = 0x0FFF,
};

/** A burst's entry as bytes of a UDP datagram, or of a capture device's frame. */
struct camera_arrival {
    struct rm_datagram datagram;
    /** NULL: it came by a socket. */
    uint8_t const *frame;
    bool is_captured;
};

static bool frame_is_captured(uint8_t const *frame, uint32_t length, struct rm_datagram *datagram) {
    uint32_t at = RM_ETHERNET_BYTES - 2;
    uint16_t vlan = RM_VLAN_NONE;
    for (uint32_t tag = 0; tag < 2 && at + RM_VLAN_BYTES <= length && frame[at] == 0x81 && frame[at + 1] == 0x00;
         ++tag) {
        vlan = tag == 0 ? rm_load16(frame + at + 2) & VLAN_ID_MASK : vlan;
        at += RM_VLAN_BYTES;
    }
    if (at + 2 > length || (frame[at] << 8 | frame[at + 1]) != (int)RM_CAPTURE_ETHERTYPE)
        return false;
    *datagram = (struct rm_datagram){.payload = frame + at + 2, .length = length - at - 2, .vlan = vlan};
    return true;
}

static enum rm_port_counter frame_read(struct rm_camera_port const *port, struct rm_burst const *burst, uint32_t index,
                                       struct camera_arrival *arrival) {
    struct rm_datagram *const datagram = &arrival->datagram;
    arrival->frame = burst->data[index];
    enum rm_port_counter verdict =
        rm_frame_parse(burst->data[index], burst->length[index], burst->checksum_good[index], datagram);
    if (verdict == RM_PORT_UNFINISHED_CHECKSUM && port->config->local_senders)
        verdict = RM_PORT_DECODED;
    arrival->is_captured =
        verdict == RM_PORT_NOT_IPV4 && frame_is_captured(burst->data[index], burst->length[index], datagram);
    if (arrival->is_captured)
        verdict = RM_PORT_DECODED;
    bool const other = port->config->vlan != RM_CONFIG_ANY_VLAN && datagram->vlan != port->config->vlan;
    return verdict == RM_PORT_DECODED && other ? RM_PORT_WRONG_VLAN : verdict;
}

static enum rm_port_counter payload_read(struct rm_camera_port const *port, struct rm_burst const *burst,
                                         uint32_t index, struct camera_arrival *arrival) {
    if (burst->length[index] == RM_LENGTH_CUT)
        return RM_PORT_TOO_LONG;
    arrival->datagram = (struct rm_datagram){.payload = burst->data[index],
                                             .length = burst->length[index],
                                             .source_ipv4 = burst->source_ipv4[index],
                                             .destination_port = port->config->udp_port};
    arrival->frame = NULL;
    arrival->is_captured = false;
    return RM_PORT_DECODED;
}

static bool camera_listens(struct rm_camera const *camera, struct camera_arrival const *arrival) {
    if (camera->reader->is_captured || arrival->is_captured)
        return camera->reader->is_captured == arrival->is_captured;
    return rm_camera_listens(camera, arrival->datagram.source_ipv4, arrival->datagram.destination_port);
}

/** Once per burst, for those that are asked for packets: the way back to the sender that is heard. */
static void camera_learn_way(struct rm_camera *camera, struct camera_arrival const *arrival, uint64_t tsc) {
    struct rm_datagram const *const datagram = &arrival->datagram;
    bool const is_heard = camera->config->ipv4 != 0 || datagram->source_ipv4 == camera->sender_ipv4;
    if (camera->resend == NULL || camera->way_tsc == tsc || !is_heard)
        return;
    camera->way_tsc = tsc;
    camera->has_way = true;
    if (arrival->frame == NULL)
        rm_resend_way_of_socket(datagram->source_ipv4, &camera->way);
    else
        camera->has_way = rm_resend_way_of_frame(arrival->frame, datagram, &camera->way);
}

static void camera_give(struct rm_camera *camera, struct camera_arrival const *arrival, uint64_t tsc) {
    struct rm_datagram const *const datagram = &arrival->datagram;
    rm_camera_take(camera, datagram->payload, datagram->length, datagram->source_ipv4, tsc);
    camera_learn_way(camera, arrival, tsc);
}

/** Whether any camera of the port listens to that UDP port. */
static bool port_has(struct rm_camera_port const *port, uint16_t udp_port) {
    for (uint32_t i = 0; i < port->camera_count; ++i)
        if (port->camera[i]->config->udp_port == udp_port)
            return true;
    return false;
}

/** Gives a datagram to its camera, or to all whose it may be. */
static enum rm_port_counter port_deal(struct rm_camera_port *port, struct camera_arrival const *arrival, uint64_t tsc) {
    struct rm_datagram const *const datagram = &arrival->datagram;
    bool heard = false, given = false;
    for (uint32_t i = 0; i < port->camera_count; ++i) {
        struct rm_camera *const camera = port->camera[i];
        if (!camera_listens(camera, arrival))
            continue;
        heard = true;
        if (!camera->reader->names(camera, datagram->payload, datagram->length))
            continue;
        camera_give(camera, arrival, tsc);
        given = true;
        if (!camera->reader->is_shared)
            break;
    }
    if (given || heard)
        return given ? RM_PORT_DECODED : RM_PORT_UNKNOWN_INSTRUMENT;
    if (arrival->is_captured)
        return RM_PORT_NOT_IPV4;
    return port_has(port, datagram->destination_port) ? RM_PORT_UNKNOWN_SOURCE : RM_PORT_NOT_OUR_PORT;
}

void rm_camera_port_take(struct rm_camera_port *port, struct rm_burst const *burst, uint32_t index, uint64_t tsc) {
    struct camera_arrival arrival;
    bool const is_socket = rm_port_framing(port->port) == RM_FRAMING_UDP;
    enum rm_port_counter ending = (is_socket ? payload_read : frame_read)(port, burst, index, &arrival);
    if (ending == RM_PORT_DECODED)
        ending = port_deal(port, &arrival, tsc);
    rm_counter_add(port->counters, RM_PORT_RECEIVED, 1);
    rm_counter_add(port->counters, ending, 1);
    if (burst->length[index] != RM_LENGTH_CUT)
        rm_counter_add(port->counters, RM_PORT_BYTES, burst->length[index]);
}

static bool port_waits(struct rm_camera_port const *port) {
    for (uint32_t i = 0; i < port->camera_count; ++i)
        if (rm_camera_waits(port->camera[i]))
            return true;
    return false;
}

static void port_ask(struct rm_camera_port *port, struct rm_camera *camera, uint64_t now) {
    struct rm_gvcp_resend request[RM_RESEND_REQUESTS];
    uint32_t const count = camera->has_way ? rm_camera_ask(camera, now, request) : 0;
    if (count != 0)
        rm_resend_send(port->port, 0, &camera->way, request, count);
}

/** What time brings, and what people are shown. */
static void port_tend(struct rm_camera_port *port, bool any) {
    uint64_t const now = rm_tsc();
    bool const due = (double)(now - port->tended_tsc) * TENDS_PER_SECOND >= port->ticks_per_second;
    for (uint32_t i = 0; i < port->camera_count && (due || any); ++i) {
        if (due) {
            rm_camera_tend(port->camera[i], now);
            port_ask(port, port->camera[i], now);
        }
        rm_camera_show(port->camera[i]);
    }
    if (due)
        port->tended_tsc = now;
}

static uint32_t port_receive(struct rm_camera_port *port, struct rm_burst *burst) {
    uint32_t const count = rm_port_receive(port->port, 0, burst);
    if (count != 0 || port->config->port.kind != RM_PORT_UDP)
        return count;
    return rm_port_receive_sleeping(port->port, 0, burst, port_waits(port) ? WAIT_NS : RM_SLEEP);
}

static void port_poll(struct rm_camera_port *port) {
    struct rm_burst burst = {.count = 0};
    uint32_t const count = port_receive(port, &burst);
    uint64_t const tsc = rm_tsc();
    for (uint32_t i = 0; i < count; ++i)
        rm_camera_port_take(port, &burst, i, tsc);
    if (count != 0)
        rm_port_release(port->port, 0, &burst);
    port_tend(port, count != 0);
    if (count == 0 && port->config->port.kind != RM_PORT_UDP)
        (port->polling->naps ? rm_nap : rm_pause)();
}

static void *port_run(void *argument) {
    struct rm_camera_port *const port = argument;
    port->begin_code = rm_net_thread_join(&port->begin_error);
    bool const good = port->begin_code == RM_OK;
    sem_post(&port->begun);
    if (!good)
        return NULL;
    while (!atomic_load_explicit(port->stop, memory_order_relaxed))
        port_poll(port);
    rm_net_thread_leave();
    return NULL;
}

enum rm_code rm_camera_port_start(struct rm_camera_port *port, struct rm_error *error) {
    sem_init(&port->begun, 0, 0);
    int const why = pthread_create(&port->thread, NULL, port_run, port);
    if (why != 0)
        return rm_fail(error, RM_E_SYSTEM, "port \"%s\": cannot start its thread: %s", port->config->port.name,
                       strerror(why));
    port->is_running = true;
    while (sem_wait(&port->begun) != 0)
        ; /* a signal's handler ran */
    if (port->begin_code == RM_OK)
        return RM_OK;
    return rm_fail(error, port->begin_code, "port \"%s\": %s", port->config->port.name, port->begin_error.text);
}

void rm_camera_port_join(struct rm_camera_port *port) {
    if (port->is_running)
        pthread_join(port->thread, NULL);
    port->is_running = false;
}
