// SPDX-License-Identifier: Apache-2.0
/** A template ready to make frames of, a burst at a time.
 *
 * It has frames of its own, written once: one where nothing varies, else as many as a burst has. Making a burst writes
 * what varies into them, field by field, and the checksums. These are made of sums over what stays, which were taken
 * once, and the words that vary: the sum of RFC 1071 in the manner of RFC 1624, without the differences, for the field
 * counts as zero in the sum of what stays. A payload of varying length has its sums in a table.
 */
#ifndef RM_TRAFFIC_TEMPLATE_H
#define RM_TRAFFIC_TEMPLATE_H

#include "traffic/field_values.h"
#include "traffic/flows.h"
#include "traffic/template_frame.h"

enum {
    /** Sizes of a mix in their order. */
    RM_TEMPLATE_MIX_STEPS_MAX = 256,
};

/** A field that varies. */
struct rm_template_field {
    enum rm_traffic_field_name name;
    struct rm_field_values values;
};

struct rm_template {
    struct rm_traffic_template description;
    struct rm_frame_layout layout;
    /** The frames, `stride` bytes from each other; whole cache lines, an odd number of them. */
    uint8_t *frames;
    uint32_t frame_count;
    uint32_t stride;
    /** Without FCS, where all have the same. */
    uint32_t length;

    uint32_t field_count;
    struct rm_template_field field[RM_TRAFFIC_FIELDS];
    bool ip_varies;
    bool transport_varies;
    /** Of what stays. */
    struct rm_frame_sums sums;
    /** Where sizes vary: sums of the payload of frames of layout.payload + i bytes. */
    uint16_t *payload_sum;

    /** Sizes of the mix in their order, with FCS. */
    uint32_t mix_steps;
    uint32_t mix_next;
    uint16_t mix_size[RM_TEMPLATE_MIX_STEPS_MAX];

    /** Flows of the template, of which `flow_next` is the next; the first one is number `flow_first` of the server's. */
    uint32_t flow_first;
    uint32_t flow_next;
    /** [flow of the template]: the port's. */
    struct rm_flow_sent *sent;
    uint16_t stamp_key;
};

/** Where the flows of a template are counted. */
struct rm_template_flows {
    uint32_t first;
    struct rm_flow_sent *sent;
    uint16_t key;
};

/** Makes a template of a description that rm_traffic_check has passed. RM_E_NO_SPACE: no memory. */
enum rm_code rm_template_init(struct rm_template *template, struct rm_traffic_template const *description,
                              uint64_t seed, struct rm_template_flows const *flows, struct rm_error *error);
void rm_template_free(struct rm_template *template);

/** All fields begin anew; flows go on. */
void rm_template_restart(struct rm_template *template, uint64_t seed);

/** Makes the next `count` ≤ RM_TRAFFIC_BURST_MAX frames, and writes their lengths without FCS. The frames of before are
 * overwritten. */
void rm_template_make(struct rm_template *template, uint32_t *length, uint32_t count, uint64_t tsc);

/** Frame `index` of those made last. */
static inline uint8_t *rm_template_frame(struct rm_template const *template, uint32_t index) {
    return template->frames + (template->frame_count > 1 ? (size_t)index * template->stride : 0);
}

#endif
