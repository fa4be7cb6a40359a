// SPDX-License-Identifier: Apache-2.0
/* Prints, as JSON, where the compiler put every member of every struct that lies in shared memory, and the value of
 * every constant that readers of it need. The build runs it, and tools/check_abi.py judges what it prints: members must
 * follow each other without a hole, nothing in the public headers may be left out here, and all must equal abi.json.
 *
 * A struct, member or constant added to the public headers is added here too; the build says so if it was forgotten.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <ringmaster/abi.h>
#include <ringmaster/clock.h>
#include <ringmaster/decision.h>
#include <ringmaster/grant.h>
#include <ringmaster/group.h>
#include <ringmaster/histogram.h>
#include <ringmaster/images.h>
#include <ringmaster/intended.h>
#include <ringmaster/parameter.h>
#include <ringmaster/record.h>
#include <ringmaster/request.h>
#include <ringmaster/rows.h>
#include <ringmaster/segment.h>
#include <ringmaster/setpoint.h>
#include <ringmaster/standby.h>
#include <ringmaster/state.h>
#include <ringmaster/stream.h>
#include <ringmaster/supply.h>

enum { MEMBERS_MAX = 28, CONSTANTS_MAX = 40 }; /* with the empty entry that ends a list */

struct abi_member {
    char const *name; /* NULL ends a list */
    char const *type; /* of an element; "[]" after it for an array */
    size_t offset;
    size_t bytes;
};

struct abi_layout {
    char const *name;
    size_t bytes;
    size_t alignment;
    struct abi_member member[MEMBERS_MAX];
};

struct abi_constant {
    char const *name; /* NULL ends a list */
    uint64_t value;
};

struct abi_constants {
    char const *name;
    struct abi_constant constant[CONSTANTS_MAX];
};

/* An array decays to a pointer to its elements; no struct in shared memory holds a real pointer. */
#define TYPE(member)                                                                                                   \
    _Generic((member),                                                                                                 \
             uint32_t: "u32",                                                                                          \
             uint64_t: "u64",                                                                                          \
             double: "f64",                                                                                            \
             struct rm_limits: "rm_limits",                                                                            \
             struct rm_conversion: "rm_conversion",                                                                    \
             struct rm_stream: "rm_stream",                                                                            \
             struct rm_offence: "rm_offence",                                                                          \
             char *: "char[]",                                                                                         \
             uint32_t *: "u32[]",                                                                                      \
             _Atomic uint32_t *: "u32[]",                                                                                     \
             uint64_t *: "u64[]",                                                                                      \
             _Atomic uint64_t *: "u64[]",                                                                              \
             double *: "f64[]",                                                                                        \
             struct rm_request_slot *: "rm_request_slot[]",                                                            \
             struct rm_reply_slot *: "rm_reply_slot[]",                                                                \
             union rm_lane *: "lane[]",                                                                                \
             struct rm_lane_info *: "rm_lane_info[]")
#define MEMBER(of, member)                                                                                             \
    { #member, TYPE(((struct of *)0)->member), offsetof(struct of, member), sizeof(((struct of *)0)->member) }
/* Bytes that _Alignas leaves free between `after` and the next member. */
#define PADDING(of, after, size)                                                                                       \
    { "padding", "padding", offsetof(struct of, after) + sizeof(((struct of *)0)->after), size }
#define LAYOUT(of, ...)                                                                                                \
    {                                                                                                                  \
#of, sizeof(struct of), _Alignof(struct of), { __VA_ARGS__ }                                                   \
    }
#define CONSTANT(name)                                                                                                 \
    { #name, name }

/* A struct stands after those it contains. */
static struct abi_layout const layouts[] = {
    LAYOUT(rm_segment_header, MEMBER(rm_segment_header, magic), MEMBER(rm_segment_header, abi_version),
           MEMBER(rm_segment_header, header_bytes), MEMBER(rm_segment_header, layout_hash),
           MEMBER(rm_segment_header, directory_hash), MEMBER(rm_segment_header, segment_bytes),
           MEMBER(rm_segment_header, directory_offset), MEMBER(rm_segment_header, object_count),
           MEMBER(rm_segment_header, object_bytes), MEMBER(rm_segment_header, generation),
           MEMBER(rm_segment_header, state), MEMBER(rm_segment_header, owner_pid),
           MEMBER(rm_segment_header, started_tai_ns), MEMBER(rm_segment_header, owner),
           MEMBER(rm_segment_header, reserved)),
    LAYOUT(rm_object, MEMBER(rm_object, name), MEMBER(rm_object, unit), MEMBER(rm_object, description),
           MEMBER(rm_object, kind), MEMBER(rm_object, element_type), MEMBER(rm_object, shape),
           MEMBER(rm_object, offset), MEMBER(rm_object, bytes), MEMBER(rm_object, variety),
           MEMBER(rm_object, reserved32), MEMBER(rm_object, reserved)),
    LAYOUT(rm_record, MEMBER(rm_record, turn), MEMBER(rm_record, tag), MEMBER(rm_record, lane)),
    LAYOUT(rm_slot, MEMBER(rm_slot, word)),
    LAYOUT(rm_lane_info, MEMBER(rm_lane_info, name), MEMBER(rm_lane_info, unit), MEMBER(rm_lane_info, type),
           MEMBER(rm_lane_info, reduction), MEMBER(rm_lane_info, reserved)),
    LAYOUT(rm_stream, MEMBER(rm_stream, slots_offset), MEMBER(rm_stream, capacity), MEMBER(rm_stream, period),
           MEMBER(rm_stream, margin), MEMBER(rm_stream, instrument_kind), MEMBER(rm_stream, instrument_id),
           MEMBER(rm_stream, source_ipv4), MEMBER(rm_stream, lane_count), MEMBER(rm_stream, group_delay_turns),
           MEMBER(rm_stream, closing_delay_turns), MEMBER(rm_stream, gain), MEMBER(rm_stream, filter),
           MEMBER(rm_stream, calibrated), MEMBER(rm_stream, reserved_word), MEMBER(rm_stream, reserved_constant),
           MEMBER(rm_stream, lane), PADDING(rm_stream, lane, 8), MEMBER(rm_stream, head), MEMBER(rm_stream, first),
           MEMBER(rm_stream, turn_epoch), MEMBER(rm_stream, published_tsc), MEMBER(rm_stream, reserved_live)),
    LAYOUT(rm_rows, MEMBER(rm_rows, values_offset), MEMBER(rm_rows, row_bytes), MEMBER(rm_rows, width),
           MEMBER(rm_rows, axis_first), MEMBER(rm_rows, axis_step), MEMBER(rm_rows, axis_name),
           MEMBER(rm_rows, axis_unit), MEMBER(rm_rows, reserved), MEMBER(rm_rows, stream)),
    LAYOUT(rm_clock, MEMBER(rm_clock, sequence), MEMBER(rm_clock, anchored), MEMBER(rm_clock, turn_epoch),
           MEMBER(rm_clock, turn), MEMBER(rm_clock, turn_tsc), MEMBER(rm_clock, ticks_per_turn_bits),
           MEMBER(rm_clock, residual_ticks_bits), MEMBER(rm_clock, tsc_hz_bits), MEMBER(rm_clock, tai_tsc),
           MEMBER(rm_clock, tai_ns), MEMBER(rm_clock, measured_ticks_per_turn_bits), MEMBER(rm_clock, supported),
           MEMBER(rm_clock, reserved)),
    LAYOUT(rm_limits, MEMBER(rm_limits, display_low), MEMBER(rm_limits, display_high), MEMBER(rm_limits, control_low),
           MEMBER(rm_limits, control_high), MEMBER(rm_limits, minor_low), MEMBER(rm_limits, minor_high),
           MEMBER(rm_limits, major_low), MEMBER(rm_limits, major_high), MEMBER(rm_limits, hysteresis)),
    LAYOUT(rm_conversion, MEMBER(rm_conversion, unit), MEMBER(rm_conversion, c)),
    LAYOUT(rm_parameter, MEMBER(rm_parameter, values_offset), MEMBER(rm_parameter, count),
           MEMBER(rm_parameter, value_bytes), MEMBER(rm_parameter, limits), MEMBER(rm_parameter, conversion),
           MEMBER(rm_parameter, flags), MEMBER(rm_parameter, element_type), MEMBER(rm_parameter, group),
           MEMBER(rm_parameter, owner), MEMBER(rm_parameter, reserved), MEMBER(rm_parameter, sequence),
           MEMBER(rm_parameter, timestamp_tai_ns), MEMBER(rm_parameter, turn), MEMBER(rm_parameter, severity),
           MEMBER(rm_parameter, value)),
    LAYOUT(rm_group, MEMBER(rm_group, member_count), MEMBER(rm_group, reserved), MEMBER(rm_group, sequence),
           MEMBER(rm_group, timestamp_tai_ns), MEMBER(rm_group, turn), MEMBER(rm_group, reserved_live)),
    LAYOUT(rm_request_slot, MEMBER(rm_request_slot, number), MEMBER(rm_request_slot, timestamp_tai_ns),
           MEMBER(rm_request_slot, first), MEMBER(rm_request_slot, bytes), MEMBER(rm_request_slot, reserved),
           MEMBER(rm_request_slot, parameter), MEMBER(rm_request_slot, owner), MEMBER(rm_request_slot, value)),
    LAYOUT(rm_requests, MEMBER(rm_requests, head), MEMBER(rm_requests, reserved), MEMBER(rm_requests, slot)),
    LAYOUT(rm_reply_slot, MEMBER(rm_reply_slot, number), MEMBER(rm_reply_slot, requester_generation),
           MEMBER(rm_reply_slot, verdict), MEMBER(rm_reply_slot, timestamp_tai_ns), MEMBER(rm_reply_slot, requester),
           MEMBER(rm_reply_slot, reason)),
    LAYOUT(rm_replies, MEMBER(rm_replies, head), MEMBER(rm_replies, refused), MEMBER(rm_replies, missed),
           MEMBER(rm_replies, doorbell), MEMBER(rm_replies, reserved32), MEMBER(rm_replies, reserved),
           MEMBER(rm_replies, slot)),
    LAYOUT(rm_offence, MEMBER(rm_offence, sequence), MEMBER(rm_offence, refusal), MEMBER(rm_offence, actuator),
           MEMBER(rm_offence, value), MEMBER(rm_offence, limit), MEMBER(rm_offence, turn), MEMBER(rm_offence, vector),
           MEMBER(rm_offence, tai_ns)),
    LAYOUT(rm_grant, MEMBER(rm_grant, application), MEMBER(rm_grant, actuator_count), MEMBER(rm_grant, period_turns),
           MEMBER(rm_grant, freshness_turns), MEMBER(rm_grant, watchdog_cycles), MEMBER(rm_grant, stop),
           MEMBER(rm_grant, reserved), MEMBER(rm_grant, sequence), MEMBER(rm_grant, grant_number),
           MEMBER(rm_grant, instance), MEMBER(rm_grant, pid), MEMBER(rm_grant, state), MEMBER(rm_grant, since_tai_ns),
           MEMBER(rm_grant, stalls), MEMBER(rm_grant, restarts), MEMBER(rm_grant, offence)),
    LAYOUT(rm_setpoints, MEMBER(rm_setpoints, vectors_offset), MEMBER(rm_setpoints, vector_bytes),
           MEMBER(rm_setpoints, actuator_count), MEMBER(rm_setpoints, reserved)),
    LAYOUT(rm_setpoint_vector, MEMBER(rm_setpoint_vector, sequence), MEMBER(rm_setpoint_vector, grant_number),
           MEMBER(rm_setpoint_vector, input_turn), MEMBER(rm_setpoint_vector, tsc), MEMBER(rm_setpoint_vector, value)),
    LAYOUT(rm_intended, MEMBER(rm_intended, intended), MEMBER(rm_intended, transmitted), MEMBER(rm_intended, supplies),
           MEMBER(rm_intended, term), MEMBER(rm_intended, value)),
    LAYOUT(rm_standby_state, MEMBER(rm_standby_state, server), MEMBER(rm_standby_state, chains),
           MEMBER(rm_standby_state, majority), MEMBER(rm_standby_state, missed_cycles),
           MEMBER(rm_standby_state, period_turns), MEMBER(rm_standby_state, reserved),
           MEMBER(rm_standby_state, sequence), MEMBER(rm_standby_state, role), MEMBER(rm_standby_state, reason),
           MEMBER(rm_standby_state, term), MEMBER(rm_standby_state, highest_term), MEMBER(rm_standby_state, turn),
           MEMBER(rm_standby_state, since_turn), MEMBER(rm_standby_state, instance), MEMBER(rm_standby_state, with_us),
           MEMBER(rm_standby_state, unacknowledged), MEMBER(rm_standby_state, swap_cycles),
           MEMBER(rm_standby_state, switch_turn), MEMBER(rm_standby_state, since_tai_ns),
           MEMBER(rm_standby_state, reserved_too)),
    LAYOUT(rm_standby_orders, MEMBER(rm_standby_orders, sequence), MEMBER(rm_standby_orders, synchronised),
           MEMBER(rm_standby_orders, synchronised_turn), MEMBER(rm_standby_orders, hold),
           MEMBER(rm_standby_orders, acknowledged), MEMBER(rm_standby_orders, switch_turn),
           MEMBER(rm_standby_orders, peer_role), MEMBER(rm_standby_orders, peer_term),
           MEMBER(rm_standby_orders, peer_turn), MEMBER(rm_standby_orders, refused),
           MEMBER(rm_standby_orders, peer_unacknowledged), MEMBER(rm_standby_orders, beat),
           MEMBER(rm_standby_orders, planned_only), MEMBER(rm_standby_orders, reserved)),
    LAYOUT(rm_state, MEMBER(rm_state, bytes_offset), MEMBER(rm_state, capacity), MEMBER(rm_state, reserved),
           MEMBER(rm_state, sequence), MEMBER(rm_state, turn), MEMBER(rm_state, steps), MEMBER(rm_state, bytes),
           MEMBER(rm_state, checksum), MEMBER(rm_state, reserved_too)),
    LAYOUT(rm_images, MEMBER(rm_images, slot_count), MEMBER(rm_images, lease_count), MEMBER(rm_images, slots_offset),
           MEMBER(rm_images, maps_offset), MEMBER(rm_images, bytes_offset), MEMBER(rm_images, map_bytes),
           MEMBER(rm_images, frame_bytes), MEMBER(rm_images, lease_base), MEMBER(rm_images, reserved_constant),
           MEMBER(rm_images, newest), MEMBER(rm_images, bell), MEMBER(rm_images, reserved32),
           MEMBER(rm_images, reserved_live), MEMBER(rm_images, place)),
    LAYOUT(rm_image_slot, MEMBER(rm_image_slot, sequence), MEMBER(rm_image_slot, number),
           MEMBER(rm_image_slot, device_time), MEMBER(rm_image_slot, turn), MEMBER(rm_image_slot, exposure_start_ns),
           MEMBER(rm_image_slot, exposure_end_ns), MEMBER(rm_image_slot, first_tsc), MEMBER(rm_image_slot, last_tsc),
           MEMBER(rm_image_slot, closed_tsc), MEMBER(rm_image_slot, published_tsc), MEMBER(rm_image_slot, tai_ns),
           MEMBER(rm_image_slot, length), MEMBER(rm_image_slot, pixel_format), MEMBER(rm_image_slot, width),
           MEMBER(rm_image_slot, height), MEMBER(rm_image_slot, offset_x), MEMBER(rm_image_slot, offset_y),
           MEMBER(rm_image_slot, padding_x), MEMBER(rm_image_slot, padding_y), MEMBER(rm_image_slot, status),
           MEMBER(rm_image_slot, flags), MEMBER(rm_image_slot, fragment_bytes), MEMBER(rm_image_slot, fragments),
           MEMBER(rm_image_slot, placed), MEMBER(rm_image_slot, resent), MEMBER(rm_image_slot, reserved32),
           MEMBER(rm_image_slot, reserved)),
    LAYOUT(rm_histogram, MEMBER(rm_histogram, total), MEMBER(rm_histogram, largest), MEMBER(rm_histogram, reserved),
           MEMBER(rm_histogram, bucket)),
};

/* Constants without an enum of a name come first, under "constants". */
static struct abi_constants const constant_sets[] = {
    {"constants",
     {CONSTANT(RM_ABI_VERSION),
      CONSTANT(RM_SEGMENT_MAGIC),
      CONSTANT(RM_CACHE_LINE),
      CONSTANT(RM_PAGE_BYTES),
      CONSTANT(RM_LANES),
      CONSTANT(RM_NAME_BYTES),
      CONSTANT(RM_OWNER_BYTES),
      CONSTANT(RM_UNIT_BYTES),
      CONSTANT(RM_DESCRIPTION_BYTES),
      CONSTANT(RM_LANE_NAME_BYTES),
      CONSTANT(RM_TURN_NONE),
      CONSTANT(RM_TURN_END),
      CONSTANT(RM_TAG_TSC_MASK),
      CONSTANT(RM_TAG_MISSING_MASK),
      CONSTANT(RM_SETPOINT_BUFFERS),
      CONSTANT(RM_SETPOINT_INLINE),
      CONSTANT(RM_REASON_BYTES),
      CONSTANT(RM_PARAMETER_INLINE_BYTES),
      CONSTANT(RM_REQUEST_SLOTS),
      CONSTANT(RM_REPLY_SLOTS),
      CONSTANT(RM_REQUEST_VALUE_BYTES),
      CONSTANT(RM_SUPPLIES_PER_RECORD),
      CONSTANT(RM_SUPPLY_LANE_SEQUENCE),
      CONSTANT(RM_SUPPLY_LANE_STATE),
      CONSTANT(RM_SUPPLY_LANE_FIRST),
      CONSTANT(RM_SUPPLY_LONG_AGO),
      CONSTANT(RM_CHAIN_SUPPLIES_MAX),
      CONSTANT(RM_CHAIN_ID_PARTS),
      CONSTANT(RM_DECISION_MASK_INPUTS),
      CONSTANT(RM_ADOPTED_VALUES),
      CONSTANT(RM_ADOPTED_VALUE_LANES),
      CONSTANT(RM_IMAGE_SLOTS_MAX),
      CONSTANT(RM_IMAGE_SLOTS_OWN),
      CONSTANT(RM_TERM_MAX),
      CONSTANT(RM_TERM_WARNS),
      CONSTANT(RM_HISTOGRAM_SUBBITS),
      CONSTANT(RM_HISTOGRAM_BUCKETS)}},
    {"rm_segment_state",
     {CONSTANT(RM_SEGMENT_BUILDING), CONSTANT(RM_SEGMENT_LIVE), CONSTANT(RM_SEGMENT_CLOSED),
      CONSTANT(RM_SEGMENT_REPLACED)}},
    {"rm_object_kind",
     {CONSTANT(RM_OBJECT_STREAM), CONSTANT(RM_OBJECT_SETPOINTS), CONSTANT(RM_OBJECT_PARAMETER),
      CONSTANT(RM_OBJECT_COUNTERS), CONSTANT(RM_OBJECT_CLOCK), CONSTANT(RM_OBJECT_HISTOGRAM), CONSTANT(RM_OBJECT_TEXT),
      CONSTANT(RM_OBJECT_GROUP), CONSTANT(RM_OBJECT_REQUESTS), CONSTANT(RM_OBJECT_REPLIES), CONSTANT(RM_OBJECT_GRANT),
      CONSTANT(RM_OBJECT_INTENDED), CONSTANT(RM_OBJECT_ROWS), CONSTANT(RM_OBJECT_IMAGES),
      CONSTANT(RM_OBJECT_STANDBY_STATE), CONSTANT(RM_OBJECT_STANDBY_ORDERS), CONSTANT(RM_OBJECT_STATE)}},
    {"rm_standby_role",
     {CONSTANT(RM_STANDBY_MAINTENANCE), CONSTANT(RM_STANDBY_JOINING), CONSTANT(RM_STANDBY_READY),
      CONSTANT(RM_STANDBY_ACTIVE), CONSTANT(RM_STANDBY_FAULT)}},
    {"rm_standby_reason",
     {CONSTANT(RM_STANDBY_STARTED), CONSTANT(RM_STANDBY_BEGAN), CONSTANT(RM_STANDBY_TOOK_OVER),
      CONSTANT(RM_STANDBY_SWITCHED), CONSTANT(RM_STANDBY_DEPOSED), CONSTANT(RM_STANDBY_UNANSWERED),
      CONSTANT(RM_STANDBY_LINK_LOST), CONSTANT(RM_STANDBY_COPIED), CONSTANT(RM_STANDBY_DIFFERS),
      CONSTANT(RM_STANDBY_HELD), CONSTANT(RM_STANDBY_REFUSED), CONSTANT(RM_STANDBY_NO_TERM),
      CONSTANT(RM_STANDBY_DEAF)}},
    {"rm_image_status", {CONSTANT(RM_IMAGE_WHOLE), CONSTANT(RM_IMAGE_INCOMPLETE), CONSTANT(RM_IMAGE_FILLED)}},
    {"rm_image_marks",
     {CONSTANT(RM_IMAGE_HAS_GEOMETRY), CONSTANT(RM_IMAGE_HAS_TURN), CONSTANT(RM_IMAGE_TURN_SENT),
      CONSTANT(RM_IMAGE_GEOMETRY_CHANGED), CONSTANT(RM_IMAGE_HAS_EXPOSURE)}},
    {"rm_rows_lane", {CONSTANT(RM_ROWS_QUALITY)}},
    {"rm_element_type",
     {CONSTANT(RM_ELEMENT_RECORD), CONSTANT(RM_ELEMENT_F64), CONSTANT(RM_ELEMENT_F32), CONSTANT(RM_ELEMENT_I64),
      CONSTANT(RM_ELEMENT_I32), CONSTANT(RM_ELEMENT_U64), CONSTANT(RM_ELEMENT_U32), CONSTANT(RM_ELEMENT_U8)}},
    {"rm_instrument_kind",
     {CONSTANT(RM_KIND_BPM), CONSTANT(RM_KIND_BLM), CONSTANT(RM_KIND_LLRF), CONSTANT(RM_KIND_PHOTON_BPM),
      CONSTANT(RM_KIND_INTERLOCK), CONSTANT(RM_KIND_POWER_SUPPLY), CONSTANT(RM_KIND_APPLICATION)}},
    {"rm_lane_type", {CONSTANT(RM_LANE_UNUSED), CONSTANT(RM_LANE_I32), CONSTANT(RM_LANE_F32)}},
    {"rm_reduction",
     {CONSTANT(RM_REDUCE_FIR), CONSTANT(RM_REDUCE_LAST), CONSTANT(RM_REDUCE_OR), CONSTANT(RM_REDUCE_AND),
      CONSTANT(RM_REDUCE_MIN), CONSTANT(RM_REDUCE_MAX)}},
    {"rm_calibrated",
     {CONSTANT(RM_CALIBRATED_NOT), CONSTANT(RM_CALIBRATED_IN_READING), CONSTANT(RM_CALIBRATED_IN_STREAM)}},
    {"rm_severity",
     {CONSTANT(RM_SEVERITY_NONE), CONSTANT(RM_SEVERITY_MINOR), CONSTANT(RM_SEVERITY_MAJOR),
      CONSTANT(RM_SEVERITY_INVALID)}},
    {"rm_parameter_flags",
     {CONSTANT(RM_PARAMETER_WRITABLE), CONSTANT(RM_PARAMETER_SETTING), CONSTANT(RM_PARAMETER_ALARMS)}},
    {"rm_verdict", {CONSTANT(RM_VERDICT_DONE), CONSTANT(RM_VERDICT_REFUSED)}},
    {"rm_application_state",
     {CONSTANT(RM_APPLICATION_ABSENT), CONSTANT(RM_APPLICATION_JOINED), CONSTANT(RM_APPLICATION_RUNNING),
      CONSTANT(RM_APPLICATION_STALLED), CONSTANT(RM_APPLICATION_DEAD)}},
    {"rm_refusal",
     {CONSTANT(RM_REFUSED_NOTHING), CONSTANT(RM_REFUSED_GRANT), CONSTANT(RM_REFUSED_STALE), CONSTANT(RM_REFUSED_FUTURE),
      CONSTANT(RM_REFUSED_NUMBER), CONSTANT(RM_REFUSED_LOW), CONSTANT(RM_REFUSED_HIGH), CONSTANT(RM_REFUSED_SLEW),
      CONSTANT(RM_REFUSED_OWNERSHIP), CONSTANT(RM_REFUSED_FAULT)}},
    {"rm_stop_action", {CONSTANT(RM_STOP_HOLD), CONSTANT(RM_STOP_RAMP)}},
    {"rm_supply_bits",
     {CONSTANT(RM_SUPPLY_BIT_TRIPPED), CONSTANT(RM_SUPPLY_BIT_SATURATED), CONSTANT(RM_SUPPLY_BIT_SAFE),
      CONSTANT(RM_SUPPLY_BITS)}},
    {"rm_chain_status",
     {CONSTANT(RM_CHAIN_SAYS_TRIPPED), CONSTANT(RM_CHAIN_SAYS_SATURATED), CONSTANT(RM_CHAIN_SAYS_STOPPED),
      CONSTANT(RM_CHAIN_SAYS_OLD_TERM), CONSTANT(RM_CHAIN_SAYS_MISDIRECTED), CONSTANT(RM_CHAIN_SAYS_GAP),
      CONSTANT(RM_CHAIN_SAYS_LISTENING), CONSTANT(RM_CHAIN_SAYS_QUERIED)}},
    {"rm_supply_state",
     {CONSTANT(RM_SUPPLY_TRIPPED), CONSTANT(RM_SUPPLY_SATURATED), CONSTANT(RM_SUPPLY_DEVIATES),
      CONSTANT(RM_SUPPLY_LOST), CONSTANT(RM_SUPPLY_JOINING), CONSTANT(RM_SUPPLY_HELD), CONSTANT(RM_SUPPLY_RAMPING),
      CONSTANT(RM_SUPPLY_SLEWING)}},
    {"rm_decision_lane",
     {CONSTANT(RM_DECISION_STEP), CONSTANT(RM_DECISION_GRANT), CONSTANT(RM_DECISION_FLAGS),
      CONSTANT(RM_DECISION_MISSING), CONSTANT(RM_DECISION_SKIPPED), CONSTANT(RM_DECISION_SETTINGS),
      CONSTANT(RM_DECISION_ASKED), CONSTANT(RM_DECISION_ADOPTED), CONSTANT(RM_DECISION_SENT),
      CONSTANT(RM_DECISION_INPUTS), CONSTANT(RM_DECISION_SETPOINTS), CONSTANT(RM_DECISION_VISIBLE)}},
    {"rm_decision_flag", {CONSTANT(RM_DECISION_COMMITTED), CONSTANT(RM_DECISION_LATE), CONSTANT(RM_DECISION_OPENED)}},
    {"rm_decision_run", {CONSTANT(RM_DECISION_RUN_SHIFT)}},
    {"rm_adopted_lane",
     {CONSTANT(RM_ADOPTED_GENERATION), CONSTANT(RM_ADOPTED_LEFT), CONSTANT(RM_ADOPTED_CHECKSUM),
      CONSTANT(RM_ADOPTED_FIRST)}},
};

static void print_constants(struct abi_constants const *set) {
    printf("\"%s\": {", set->name);
    for (struct abi_constant const *constant = set->constant; constant->name != NULL; ++constant)
        printf("%s\"%s\": %" PRIu64, constant == set->constant ? "" : ", ", constant->name, constant->value);
    printf("}");
}

static void print_layout(struct abi_layout const *layout) {
    printf("\"%s\": {\"bytes\": %zu, \"alignment\": %zu, \"members\": [", layout->name, layout->bytes,
           layout->alignment);
    for (struct abi_member const *member = layout->member; member->name != NULL; ++member)
        printf("%s{\"name\": \"%s\", \"offset\": %zu, \"bytes\": %zu, \"type\": \"%s\"}",
               member == layout->member ? "" : ", ", member->name, member->offset, member->bytes, member->type);
    printf("]}");
}

int main(void) {
    size_t const set_count = sizeof constant_sets / sizeof constant_sets[0];
    size_t const layout_count = sizeof layouts / sizeof layouts[0];

    printf("{");
    print_constants(&constant_sets[0]);
    printf(", \"enums\": {");
    for (size_t i = 1; i < set_count; ++i) {
        printf("%s", i == 1 ? "" : ", ");
        print_constants(&constant_sets[i]);
    }
    printf("}, \"structs\": {");
    for (size_t i = 0; i < layout_count; ++i) {
        printf("%s", i == 0 ? "" : ", ");
        print_layout(&layouts[i]);
    }
    printf("}}\n");
    return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
