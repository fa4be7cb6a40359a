// SPDX-License-Identifier: Apache-2.0
#include "test_machine_rig.h"

static char *lattice_path;

bool rig_take_lattice(int argc, char **argv) {
    lattice_path = argc == 2 ? argv[1] : NULL;
    return lattice_path != NULL;
}

char const *rig_lattice(void) { return lattice_path; }

static void set_group(struct machine_rig *rig, uint32_t group, char const *elements, char plane, uint32_t first,
                      uint32_t count, double per_unit) {
    rig->config.group[group] = (struct rm_machine_group){.elements = (char *)(uintptr_t)elements,
                                                         .plane = plane,
                                                         .supply = &rig->supply[first],
                                                         .supply_count = count,
                                                         .per_unit = per_unit};
    rig->config.group_count = group + 1;
}

void rig_init(struct machine_rig *rig) {
    static char bpms[] = "BPM_*", fast[] = "CF_*", quadrupole[] = "QF1_S01_01";
    *rig = (struct machine_rig){.config = {.present = true,
                                           .lattice = lattice_path,
                                           .seed = 7,
                                           .bpms = bpms,
                                           .bpm_count = BPMS,
                                           .supply_count = SUPPLIES,
                                           .step_turns = 120,
                                           .rf_supply = RF,
                                           .rf_hz_per_unit = 10}};
    for (uint32_t s = 0; s < SUPPLIES; ++s)
        rig->supply[s] = s;
    set_group(rig, 0, fast, 'x', 0, FAST, UNIT_RAD);
    set_group(rig, 1, fast, 'y', FAST, FAST, UNIT_RAD);
    set_group(rig, 2, quadrupole, 'q', STRENGTH, 1, 1e-3);
}

void rig_make(struct machine_rig *rig) {
    if (rm_machine_make(&rig->config, 1.2e6, &rig->machine, &rig->error) != RM_OK)
        fail_msg("%s", rig->error.text);
}

void rig_free(struct machine_rig *rig) { rm_machine_free(rig->machine); }

void step(struct machine_rig *rig) { rm_machine_step(rig->machine, (double)rig->steps++ / RATE_HZ, rig->current); }

void refresh(struct machine_rig *rig) {
    if (rm_machine_refresh(rig->machine, &rig->error) != RM_OK)
        fail_msg("%s", rig->error.text);
}

uint32_t knob(struct machine_rig const *rig, char const *name) {
    for (uint32_t k = 0; k < rm_machine_knobs(rig->machine); ++k)
        if (strcmp(rm_machine_knob_name(rig->machine, k), name) == 0)
            return k;
    fail_msg("no knob %s", name);
    return 0;
}

double largest(struct machine_rig const *rig, int plane) {
    double most = 0;
    for (uint32_t b = 0; b < BPMS; ++b) {
        double orbit[2];
        rm_machine_true_orbit(rig->machine, b, &orbit[0], &orbit[1]);
        most = fmax(most, fabs(orbit[plane]));
    }
    return most;
}
