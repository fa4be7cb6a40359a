// SPDX-License-Identifier: Apache-2.0
/* What the commands' thread has of the generator. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/mailbox_ask.h"
#include "traffic/generator.h"
#include "traffic/generator_order.h"
#include "traffic/template_source.h"

enum rm_code rm_generator_order(struct rm_generator_port *port, struct rm_generator_message *message,
                                struct rm_error *error) {
    port->message = *message;
    if (!rm_mailbox_ask(&port->mailbox))
        return rm_fail(error, RM_E_SYSTEM, "the core of port '%s' has stood still for %d s; see that its role runs",
                       rm_port_name(port->plan.port), RM_MAILBOX_ANSWER_S);
    *message = port->message;
    rm_mailbox_close(&port->mailbox);
    return RM_OK;
}

enum rm_code rm_generator_check_port(struct rm_generator const *generator, uint32_t port, struct rm_error *error) {
    if (port < generator->port_count)
        return RM_OK;
    return rm_fail(error, RM_E_ARGUMENT, "there is no port %u; expected 0 to %d", port, (int)generator->port_count - 1);
}

/** Hands a job over, and frees the one of before. With a new source, which is the job's from now on, also where this
 * fails; or with the one that the job of before has, which goes on. */
static enum rm_code generator_hand_over(struct rm_generator_port *port, struct rm_traffic const *traffic,
                                        struct rm_source *source, struct rm_error *error) {
    bool const goes_on = source == port->read;
    struct rm_traffic_job *const job = malloc(sizeof *job);
    if (job == NULL) {
        if (!goes_on)
            source->ops->free(source);
        return rm_fail(error, RM_E_NO_SPACE, "no memory for a description; free some memory");
    }
    *job = (struct rm_traffic_job){*traffic, source};
    struct rm_generator_message message = {.order = RM_GENERATOR_TAKE_JOB, .job = job};
    enum rm_code const code = rm_generator_order(port, &message, error);
    if (goes_on)
        free(message.job); // its source is in use
    else
        rm_traffic_job_free(message.job); // the one of before; or ours, where nobody took it
    return code;
}

/** Sends described frames. */
static enum rm_code generator_send_described(struct rm_generator *generator, uint32_t number,
                                             struct rm_traffic const *traffic, struct rm_error *error) {
    struct rm_generator_port *const port = generator->port[number];
    struct rm_source *source;
    enum rm_code code = rm_template_source_new(traffic, number, port->sent, generator->key, &source, error);
    if (code == RM_OK)
        code = generator_hand_over(port, traffic, source, error);
    if (code != RM_OK)
        return code;
    port->read = NULL;
    port->read_words[0] = '\0';
    return RM_OK;
}

enum rm_code rm_generator_describe(struct rm_generator *generator, uint32_t number, struct rm_traffic const *traffic,
                                   struct rm_error *error) {
    enum rm_code code = rm_generator_check_port(generator, number, error);
    if (code != RM_OK)
        return code;
    struct rm_generator_port *const port = generator->port[number];
    code = rm_traffic_check(traffic, port->plan.longest_frame, error);
    if (code == RM_OK)
        code = port->read != NULL ? generator_hand_over(port, traffic, port->read, error)
                                  : generator_send_described(generator, number, traffic, error);
    if (code == RM_OK)
        port->traffic = *traffic;
    return code;
}

enum rm_code rm_generator_replace_source(struct rm_generator *generator, uint32_t number, struct rm_source *source,
                                         char const *words, struct rm_error *error) {
    enum rm_code code = rm_generator_check_port(generator, number, error);
    if (code == RM_OK && generator->port[number]->traffic.template_count == 0)
        code = rm_fail(error, RM_E_ARGUMENT, "port %u has no description whose pace a source could follow", number);
    if (code != RM_OK) {
        source->ops->free(source);
        return code;
    }
    struct rm_generator_port *const port = generator->port[number];
    code = generator_hand_over(port, &port->traffic, source, error);
    if (code != RM_OK)
        return code;
    port->read = source;
    snprintf(port->read_words, sizeof port->read_words, "%s", words);
    return RM_OK;
}

enum rm_code rm_generator_restore_source(struct rm_generator *generator, uint32_t number, struct rm_error *error) {
    enum rm_code const code = rm_generator_check_port(generator, number, error);
    if (code != RM_OK || generator->port[number]->read == NULL)
        return code;
    return generator_send_described(generator, number, &generator->port[number]->traffic, error);
}

char const *rm_generator_source_words(struct rm_generator const *generator, uint32_t port) {
    return generator->port[port]->read_words;
}

static enum rm_code generator_simple_order(struct rm_generator *generator, uint32_t port, enum rm_generator_order order,
                                           struct rm_error *error) {
    enum rm_code code = rm_generator_check_port(generator, port, error);
    struct rm_generator_message message = {.order = order};
    return code == RM_OK ? rm_generator_order(generator->port[port], &message, error) : code;
}

enum rm_code rm_generator_start(struct rm_generator *generator, uint32_t port, struct rm_error *error) {
    enum rm_code const code = rm_generator_check_port(generator, port, error);
    if (code == RM_OK && generator->port[port]->traffic.template_count == 0)
        return rm_fail(error, RM_E_ARGUMENT, "port %u has nothing to send: describe it first", port);
    return generator_simple_order(generator, port, RM_GENERATOR_START, error);
}

enum rm_code rm_generator_stop(struct rm_generator *generator, uint32_t port, struct rm_error *error) {
    return generator_simple_order(generator, port, RM_GENERATOR_STOP, error);
}

bool rm_generator_is_sending(struct rm_generator const *generator, uint32_t port) {
    return atomic_load_explicit(&generator->port[port]->sender.sending, memory_order_relaxed);
}

/* ── flows ── */

static void generator_read_flow(struct rm_generator const *generator, uint32_t port, uint32_t flow,
                                struct rm_flow_reading *reading) {
    struct rm_flows const *sides[RM_TRAFFIC_PORTS_MAX];
    for (uint32_t i = 0; i < generator->side_count; ++i)
        sides[i] = &generator->side[i];
    rm_flow_read(&generator->port[port]->sent[flow], sides, generator->side_count, port * RM_TRAFFIC_FLOWS_MAX + flow,
                 reading);
}

enum rm_code rm_generator_clear(struct rm_generator *generator, uint32_t number, struct rm_error *error) {
    enum rm_code const code = rm_generator_check_port(generator, number, error);
    if (code != RM_OK)
        return code;
    struct rm_generator_port *const port = generator->port[number];
    if (port->cleared == NULL)
        port->cleared = calloc(RM_TRAFFIC_FLOWS_MAX, sizeof *port->cleared);
    if (port->cleared == NULL)
        return rm_fail(error, RM_E_NO_SPACE, "no memory for the flows as they are; free some memory");
    for (uint32_t i = 0; i < RM_TRAFFIC_FLOWS_MAX; ++i)
        generator_read_flow(generator, number, i, &port->cleared[i]);
    return RM_OK;
}

static uint32_t generator_flow_count(struct rm_traffic const *traffic) {
    uint32_t flows = 0;
    for (uint32_t i = 0; i < traffic->template_count; ++i)
        flows += traffic->template[i].flow_count;
    return flows;
}

bool rm_generator_flow(struct rm_generator const *generator, uint32_t number, uint32_t flow,
                       struct rm_flow_reading *reading) {
    if (number >= generator->port_count || flow >= generator_flow_count(&generator->port[number]->traffic))
        return false;
    generator_read_flow(generator, number, flow, reading);
    if (generator->port[number]->cleared != NULL)
        rm_flow_reading_subtract(reading, &generator->port[number]->cleared[flow]);
    return true;
}
