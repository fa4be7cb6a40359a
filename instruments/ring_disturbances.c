// SPDX-License-Identifier: Apache-2.0
/** Makes sense of the key `machine.disturbances` of a ring's file. */
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "ring_resolve.h"

static enum rm_code resolve_mains(struct rm_resolve *resolve, struct rm_ring_file_disturbances const *from) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    enum rm_code code = RM_OK;
    char place[60];
    machine->disturbances.mains_count = from->mains_count;
    machine->disturbances.mains_wander = *from->mains_wander;
    for (uint32_t m = 0; m < from->mains_count; ++m) {
        snprintf(place, sizeof place, "disturbances.mains[%u].hz", m);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, from->mains[m].hz));
        snprintf(place, sizeof place, "disturbances.mains[%u].orbit_um", m);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, from->mains[m].orbit_um));
        snprintf(place, sizeof place, "disturbances.mains[%u].phase_rad", m);
        code = rm_code_first(code, rm_resolve_machine_number(resolve, place, *from->mains[m].phase_rad));
        machine->disturbances.mains[m].phase_rad = *from->mains[m].phase_rad;
        machine->disturbances.mains[m].hz = from->mains[m].hz;
        machine->disturbances.mains[m].orbit_m = 1e-6 * from->mains[m].orbit_um;
    }
    return rm_code_first(
        code, rm_resolve_machine_number(resolve, "disturbances.mains_wander", machine->disturbances.mains_wander));
}

static enum rm_code resolve_ground(struct rm_resolve *resolve, struct rm_ring_file_ground const *from) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    if (from == NULL)
        return RM_OK;
    machine->disturbances.ground_rms_m = 1e-9 * from->rms_nm;
    machine->disturbances.ground_corner_hz = *from->corner_hz;
    enum rm_code const code = rm_resolve_machine_number(resolve, "disturbances.ground.rms_nm", from->rms_nm);
    return rm_code_first(code, rm_resolve_machine_number(resolve, "disturbances.ground.corner_hz",
                                                         machine->disturbances.ground_corner_hz));
}

static enum rm_code resolve_steps(struct rm_resolve *resolve, struct rm_ring_file_steps const *from) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    if (from == NULL)
        return RM_OK;
    machine->disturbances.step_rad = 1e-6 * from->urad;
    machine->disturbances.step_every_s = from->every_s;
    enum rm_code const code = rm_resolve_machine_number(resolve, "disturbances.steps.urad", from->urad);
    return rm_code_first(code, rm_resolve_machine_number(resolve, "disturbances.steps.every_s", from->every_s));
}

static enum rm_code resolve_insertion(struct rm_resolve *resolve, struct rm_ring_file_insertion const *from) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    if (from == NULL)
        return RM_OK;
    machine->disturbances.insertion_at = strdup(from->at);
    machine->disturbances.insertion_rad = 1e-6 * from->urad;
    machine->disturbances.insertion_ramp_s = *from->ramp_s;
    machine->disturbances.insertion_every_s = *from->every_s;
    if (machine->disturbances.insertion_at == NULL)
        return rm_resolve_fail_plain(resolve, RM_E_NO_SPACE, "%s: no memory for the machine", resolve->path);
    enum rm_code const kick = rm_resolve_machine_number(resolve, "disturbances.insertion.urad", from->urad);
    enum rm_code const period =
        rm_resolve_machine_number(resolve, "disturbances.insertion.every_s", machine->disturbances.insertion_every_s);
    enum rm_code const code = rm_code_first(kick, period);
    if (period != RM_OK)
        return code;
    if (machine->disturbances.insertion_ramp_s >= 0 &&
        machine->disturbances.insertion_ramp_s <= machine->disturbances.insertion_every_s)
        return code;
    return rm_resolve_fail_at(resolve, "machine.disturbances.insertion.ramp_s", "found %g, expected 0 to %g",
                              machine->disturbances.insertion_ramp_s, machine->disturbances.insertion_every_s);
}

static enum rm_code resolve_topup(struct rm_resolve *resolve, struct rm_ring_file_topup const *from) {
    struct rm_ring_machine *machine = &resolve->config->machine;
    if (from == NULL)
        return RM_OK;
    machine->disturbances.topup_rad = 1e-6 * from->urad;
    machine->disturbances.topup_every_s = from->every_s;
    machine->disturbances.topup_turns = *from->turns;
    enum rm_code const code = rm_resolve_machine_number(resolve, "disturbances.topup.urad", from->urad);
    return rm_code_first(code, rm_resolve_machine_number(resolve, "disturbances.topup.every_s", from->every_s));
}

enum rm_code rm_resolve_disturbances(struct rm_resolve *resolve) {
    struct rm_ring_file_disturbances const *from = resolve->file->machine->disturbances;
    if (from == NULL)
        return RM_OK;
    enum rm_code code = resolve_mains(resolve, from);
    code = rm_code_first(code, resolve_ground(resolve, from->ground));
    code = rm_code_first(code, resolve_steps(resolve, from->steps));
    code = rm_code_first(code, resolve_insertion(resolve, from->insertion));
    return rm_code_first(code, resolve_topup(resolve, from->topup));
}
