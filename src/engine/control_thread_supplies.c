// SPDX-License-Identifier: Apache-2.0
/* SUPPLY/setpoint and SUPPLY/readback, for people and slow programs. */
#include "engine/control_thread_state.h"

#include <math.h>

void rm_control_thread_show_nothing(struct rm_parameter *const *parameter, uint32_t count) {
    for (uint32_t i = 0; i < count; ++i)
        if (atomic_load_explicit(&parameter[i]->timestamp_tai_ns, memory_order_relaxed) == 0)
            rm_parameter_write_f64(parameter[i], NAN, rm_stamp_now());
}

/** Writes what has changed, so that monitors of a parameter are told of changes and of nothing else. What is not known
 * yet is marked as not to be trusted. */
static void show_supply_parameter(struct rm_parameter *parameter, double value, struct rm_stamp stamp) {
    double const before = rm_parameter_read_f64(parameter);
    bool const same = before == value || (isnan(before) && isnan(value));
    if (same && atomic_load_explicit(&parameter->timestamp_tai_ns, memory_order_relaxed) != 0)
        return;
    rm_parameter_write_f64(parameter, value, stamp);
}

static void show_setpoints(struct rm_control_thread *control_thread) {
    struct rm_control_thread_setup const *const setup = &control_thread->setup;
    struct rm_setpoint_reading reading;
    if (!rm_setpoints_copy(setup->sent, rm_setpoint_vector_bytes(setup->config->supply_count), &control_thread->place,
                           &reading, control_thread->sent, setup->config->supply_count))
        return;
    struct rm_stamp stamp = rm_stamp_now();
    stamp.turn = reading.input_turn;
    for (uint32_t i = 0; i < setup->config->supply_count; ++i)
        show_supply_parameter(setup->setpoint[i], control_thread->sent[i], stamp);
}

static void show_part(struct rm_control_thread *control_thread, struct rm_transmit_chain const *chain, uint32_t part,
                      rm_turn *heard) {
    struct rm_stream_view const *const view = &chain->readback[part];
    rm_turn const head = rm_stream_head(view);
    struct rm_record record;
    if (head == RM_TURN_NONE || head == *heard || rm_stream_read(view, head, &record) != RM_READ_OK)
        return;
    *heard = head;
    struct rm_stamp stamp = rm_stamp_now();
    stamp.turn = head;
    uint32_t const first = part * RM_SUPPLIES_PER_RECORD, count = chain->config->supply_count;
    for (uint32_t i = first; i < count && i < first + RM_SUPPLIES_PER_RECORD; ++i)
        show_supply_parameter(control_thread->setup.readback[chain->config->first_supply + i],
                              (double)record.lane[RM_SUPPLY_LANE_FIRST + i - first].f, stamp);
}

void rm_control_thread_show_supplies(struct rm_control_thread *control_thread) {
    struct rm_control_thread_setup const *const setup = &control_thread->setup;
    if (setup->sent == NULL)
        return;
    show_setpoints(control_thread);
    for (uint32_t c = 0; c < setup->config->chain_count; ++c)
        for (uint32_t p = 0; p < setup->chain[c].config->instrument_count; ++p)
            show_part(control_thread, &setup->chain[c], p, &control_thread->heard[c * RM_CHAIN_ID_PARTS + p]);
}
