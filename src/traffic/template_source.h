// SPDX-License-Identifier: Apache-2.0
/** The source of frames that a description's templates make, a frame of each in turn. */
#ifndef RM_TRAFFIC_TEMPLATE_SOURCE_H
#define RM_TRAFFIC_TEMPLATE_SOURCE_H

#include "traffic/flows.h"
#include "traffic/source.h"

/** Makes the source of a description that rm_traffic_check has passed, for port `port` of the generator, whose
 * RM_TRAFFIC_FLOWS_MAX flows are `sent`. They outlive it. The key is that of flow_stamp.h. */
enum rm_code rm_template_source_new(struct rm_traffic const *traffic, uint32_t port, struct rm_flow_sent *sent,
                                    uint16_t key, struct rm_source **source, struct rm_error *error);

#endif
