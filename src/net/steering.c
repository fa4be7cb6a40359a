// SPDX-License-Identifier: Apache-2.0
#include "net/steering.h"

#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_flow.h>

#include "net/spread.h"

bool rm_steer_make(struct rm_steer *steer, struct rm_port_config const *config) {
    *steer = (struct rm_steer){.queues = config->queues, .source_count = config->source_count};
    if (config->queues == 1)
        steer->how = RM_STEERING_ONE;
    else
        steer->how = config->spread ? RM_STEERING_SOFTWARE : RM_STEERING_NONE;
    if (config->source_count == 0)
        return true;
    steer->source = calloc(config->source_count, sizeof steer->source[0]);
    if (steer->source == NULL)
        return false;
    memcpy(steer->source, config->source, config->source_count * sizeof steer->source[0]);
    return true;
}

void rm_steer_free(struct rm_steer *steer) {
    free(steer->source);
    steer->source = NULL;
}

/** With the source's host address in the rule and nothing else: fragments go the same way. */
static bool add_rule(uint16_t id, uint32_t source_ipv4, uint16_t queue) {
    struct rte_flow_attr const attributes = {.ingress = 1};
    struct rte_flow_item_ipv4 const wanted = {.hdr.src_addr = rte_cpu_to_be_32(source_ipv4)};
    struct rte_flow_item_ipv4 const mask = {.hdr.src_addr = UINT32_MAX};
    struct rte_flow_item const pattern[] = {{.type = RTE_FLOW_ITEM_TYPE_ETH},
                                            {.type = RTE_FLOW_ITEM_TYPE_IPV4, .spec = &wanted, .mask = &mask},
                                            {.type = RTE_FLOW_ITEM_TYPE_END}};
    struct rte_flow_action_queue const to = {.index = queue};
    struct rte_flow_action const actions[] = {{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &to},
                                              {.type = RTE_FLOW_ACTION_TYPE_END}};
    struct rte_flow_error why;
    return rte_flow_validate(id, &attributes, pattern, actions, &why) == 0 &&
           rte_flow_create(id, &attributes, pattern, actions, &why) != NULL;
}

static bool add_rules(struct rm_steer const *steer, uint16_t id) {
    for (uint32_t i = 0; i < steer->source_count; ++i)
        if (!add_rule(id, steer->source[i], (uint16_t)(i % steer->queues))) {
            struct rte_flow_error why;
            (void)rte_flow_flush(id, &why);
            return false;
        }
    return steer->source_count != 0;
}

bool rm_steer_plan(struct rm_steer *steer, uint16_t id) {
    if (steer->how != RM_STEERING_NONE)
        return false;
    rm_rss_plan(&steer->rss, id, steer->queues);
    return steer->rss.table_size != 0;
}

void rm_steer_device(struct rm_steer *steer, uint16_t id) {
    if (steer->how != RM_STEERING_NONE)
        return;
    if (add_rules(steer, id))
        steer->how = RM_STEERING_FLOW;
    else if (steer->rss.table_size != 0 && rm_rss_set(&steer->rss, id))
        steer->how = RM_STEERING_RSS;
}

uint16_t rm_steer_queue_of(struct rm_steer const *steer, uint32_t source_ipv4) {
    switch (steer->how) {
    case RM_STEERING_ONE:
        return 0;
    case RM_STEERING_SOFTWARE:
        return rm_spread_queue_of(source_ipv4, steer->queues);
    case RM_STEERING_RSS:
        return rm_rss_queue_of(&steer->rss, source_ipv4);
    case RM_STEERING_FLOW:
        for (uint32_t i = 0; i < steer->source_count; ++i)
            if (steer->source[i] == source_ipv4)
                return (uint16_t)(i % steer->queues);
        break;
    case RM_STEERING_NONE:
        break;
    }
    return RM_QUEUE_ANY;
}

char const *rm_steering_name(enum rm_steering steering) {
    switch (steering) {
    case RM_STEERING_ONE:
        return "one queue";
    case RM_STEERING_FLOW:
        return "flow rules";
    case RM_STEERING_RSS:
        return "RSS";
    case RM_STEERING_SOFTWARE:
        return "software";
    case RM_STEERING_NONE:
        break;
    }
    return "not steered";
}
