// SPDX-License-Identifier: Apache-2.0
#include "traffic/generator.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "base/zeroed.h"
#include "traffic/generator_beside.h"

static enum rm_code generator_no_memory(struct rm_error *error) {
    return rm_fail(error, RM_E_NO_SPACE, "no memory for the packet generator; free some memory");
}

enum rm_code rm_generator_new(double tsc_hz, uint64_t number, struct rm_generator **generator, struct rm_error *error) {
    *generator = rm_zeroed(1, sizeof **generator);
    if (*generator == NULL)
        return generator_no_memory(error);
    (*generator)->tsc_hz = tsc_hz;
    (*generator)->key = rm_flow_stamp_key(number);
    return RM_OK;
}

void rm_generator_free(struct rm_generator *generator) {
    if (generator == NULL)
        return;
    for (uint32_t i = 0; i < generator->port_count; ++i) {
        rm_traffic_sender_stop(&generator->port[i]->sender);
        rm_traffic_job_free(generator->port[i]->sender.job);
        rm_generator_end_capture(generator->port[i]);
        free(generator->port[i]->cleared);
        free(generator->port[i]);
    }
    for (uint32_t i = 0; i < generator->side_count; ++i)
        rm_flows_free(&generator->side[i]);
    free(generator);
}

enum rm_code rm_generator_add_side(struct rm_generator *generator, struct rm_error *error) {
    if (generator->side_count == RM_TRAFFIC_PORTS_MAX)
        return rm_fail(error, RM_E_CONFIG, "more roles generate than ports may: expected at most %d",
                       RM_TRAFFIC_PORTS_MAX);
    return rm_flows_init(&generator->side[generator->side_count++], generator->key, error);
}

enum rm_code rm_generator_add_port(struct rm_generator *generator, struct rm_generator_port_plan const *plan,
                                   struct rm_error *error) {
    if (generator->port_count == RM_TRAFFIC_PORTS_MAX)
        return rm_fail(error, RM_E_CONFIG, "port '%s' is one too many for the generator: expected at most %d",
                       rm_port_name(plan->port), RM_TRAFFIC_PORTS_MAX);
    if (rm_port_framing(plan->port) != RM_FRAMING_ETHERNET)
        return rm_fail(error, RM_E_CONFIG,
                       "port '%s' carries UDP payloads alone; a generator sends Ethernet frames: "
                       "take a port of another kind, such as raw",
                       rm_port_name(plan->port));
    struct rm_generator_port *const port = rm_zeroed(1, sizeof *port);
    if (port == NULL)
        return generator_no_memory(error);
    port->plan = *plan;
    port->flows = &generator->side[generator->side_count - 1];
    rm_traffic_sender_init(&port->sender, plan->port, plan->queue[0], plan->counters, plan->jitter, generator->tsc_hz);
    rm_arp_ping_init(&port->arp_ping, generator->tsc_hz);
    generator->port[generator->port_count++] = port;
    return RM_OK;
}

/* ── the core ── */

static void generator_port_obey(struct rm_generator_port *port, uint64_t tsc) {
    switch (port->message.order) {
    case RM_GENERATOR_TAKE_JOB:
        rm_generator_answer_for(port, port->message.job != NULL ? &port->message.job->traffic : NULL);
        port->message.job = rm_traffic_sender_take(&port->sender, port->message.job, tsc);
        break;
    case RM_GENERATOR_CAPTURE:
        port->sender.capture = port->message.capture;
        break;
    case RM_GENERATOR_START:
        rm_traffic_sender_start(&port->sender, tsc);
        break;
    case RM_GENERATOR_STOP:
        rm_traffic_sender_stop(&port->sender);
        break;
    }
    rm_mailbox_answer(&port->mailbox);
}

static uint32_t generator_port_receive(struct rm_generator_port *port, uint16_t queue) {
    struct rm_burst burst;
    uint32_t const count = rm_port_receive(port->plan.port, queue, &burst);
    if (count == 0)
        return 0;
    uint64_t const tsc = rm_tsc();
    rm_arrivals_count(&burst, tsc, port->plan.counters, port->flows, port->plan.latency);
    rm_generator_hear(port, &burst, tsc);
    rm_port_release(port->plan.port, queue, &burst);
    return count;
}

uint32_t rm_generator_turn(struct rm_generator_port *port, uint64_t tsc) {
    if (rm_mailbox_take(&port->mailbox))
        generator_port_obey(port, tsc);
    uint32_t packets = rm_traffic_sender_turn(&port->sender, tsc) + rm_generator_ask_due(port, tsc);
    for (uint32_t i = 0; i < port->plan.queue_count; ++i)
        packets += generator_port_receive(port, port->plan.queue[i]);
    return packets;
}
