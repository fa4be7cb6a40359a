// SPDX-License-Identifier: Apache-2.0
#include "machine_checkpoint.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "machine_parts.h"
#include "noise.h"

enum { AREAS_MOST = 160 };

static uint64_t const MARK = 0x31656E696863614D; /**< "Machine1" */

/** A piece of memory that changes while the machine runs. */
struct checkpoint_area {
    void *at;
    size_t bytes;
};

struct checkpoint {
    struct checkpoint_area area[AREAS_MOST];
    uint32_t count;
};

static void add_area(struct checkpoint *checkpoint, void const *at, size_t bytes) {
    assert(checkpoint->count < AREAS_MOST);
    checkpoint->area[checkpoint->count++] = (struct checkpoint_area){(void *)(uintptr_t)at, bytes};
}

#define ADD_ONE(checkpoint, thing) add_area(checkpoint, (void const *)&(thing), sizeof(thing))
#define ADD_SOME(checkpoint, array, count) add_area(checkpoint, (void const *)(array), (count) * sizeof *(array))

static void add_matrix(struct checkpoint *checkpoint, struct rm_orbit_matrix const *matrix) {
    ADD_SOME(checkpoint, matrix->value, (size_t)matrix->padded * matrix->columns);
}

static void add_apertures(struct checkpoint *checkpoint, struct rm_machine const *machine,
                          struct rm_aperture_model const *model) {
    if (machine->apertures.count == 0)
        return;
    add_matrix(checkpoint, &model->matrix);
    ADD_SOME(checkpoint, model->base, model->matrix.padded);
    ADD_SOME(checkpoint, model->then, model->matrix.columns);
}

static void add_products(struct checkpoint *checkpoint, struct rm_machine const *machine,
                         struct rm_products_model const *model) {
    if (machine->products.count == 0)
        return;
    ADD_ONE(checkpoint, model->blocks);
    ADD_SOME(checkpoint, model->place, rm_products_model_places(machine));
    add_matrix(checkpoint, &model->orbit);
}

static void add_model(struct checkpoint *checkpoint, struct rm_machine const *machine,
                      struct rm_machine_model const *model) {
    add_matrix(checkpoint, &model->fast);
    add_matrix(checkpoint, &model->ground);
    add_apertures(checkpoint, machine, &model->aperture);
    add_products(checkpoint, machine, &model->products);
    ADD_SOME(checkpoint, model->base, model->fast.padded);
    ADD_SOME(checkpoint, model->then, machine->column_count);
    ADD_ONE(checkpoint, model->motion.optics);
    ADD_SOME(checkpoint, model->motion.weight, machine->bpm_count);
    ADD_SOME(checkpoint, model->motion.slope, machine->magnet_count);
    ADD_SOME(checkpoint, model->motion.change, machine->magnet_count);
}

static void add_background(struct checkpoint *checkpoint, struct rm_machine const *machine) {
    ADD_ONE(checkpoint, machine->has_start);
    ADD_ONE(checkpoint, machine->at_start);
    ADD_ONE(checkpoint, machine->lost);
    ADD_ONE(checkpoint, machine->tune);
    ADD_ONE(checkpoint, machine->knob_changes);
    ADD_SOME(checkpoint, machine->knob, machine->knob_count);
    ADD_SOME(checkpoint, machine->now_shared, machine->column_count);
    ADD_SOME(checkpoint, machine->strength_shared, machine->strength_count);
    ADD_ONE(checkpoint, machine->apertures.looks);
    add_apertures(checkpoint, machine, &machine->apertures.latest);
}

static void add_ground(struct checkpoint *checkpoint, struct rm_machine const *machine) {
    struct rm_machine_ground const *ground = &machine->ground;
    ADD_ONE(checkpoint, ground->knot);
    ADD_ONE(checkpoint, ground->known);
    for (int k = 0; k < 3; ++k) {
        ADD_SOME(checkpoint, ground->orbit[k], machine->model[0].ground.padded);
        ADD_SOME(checkpoint, ground->place[k], ground->column);
    }
    for (int s = 0; s < 2; ++s)
        ADD_SOME(checkpoint, ground->state[s], ground->column);
}

static void add_fast(struct checkpoint *checkpoint, struct rm_machine const *machine) {
    uint32_t const padded = machine->model[0].fast.padded;
    ADD_ONE(checkpoint, machine->stepped);
    ADD_ONE(checkpoint, machine->motion);
    ADD_SOME(checkpoint, machine->strength_now, machine->gradient_count);
    ADD_ONE(checkpoint, machine->time);
    ADD_ONE(checkpoint, machine->steps);
    ADD_ONE(checkpoint, machine->events);
    ADD_ONE(checkpoint, machine->rest_since);
    ADD_ONE(checkpoint, machine->history_time);
    ADD_SOME(checkpoint, machine->lever, machine->lever_count);
    ADD_SOME(checkpoint, machine->now, machine->column_count);
    float *const orbit[] = {machine->true_orbit, machine->rest, machine->late, machine->seen};
    for (size_t o = 0; o < sizeof orbit / sizeof orbit[0]; ++o)
        ADD_SOME(checkpoint, orbit[o], padded);
    for (int h = 0; h < RM_MACHINE_HISTORY; ++h)
        ADD_SOME(checkpoint, machine->history[h], padded);
    for (uint32_t k = 0; k < machine->kept_count; ++k)
        add_area(checkpoint, machine->kept[k].at, machine->kept[k].bytes);
}

static void mix_bytes(uint64_t *mixed, void const *at, size_t bytes) {
    for (size_t b = 0; b < bytes; b += sizeof(uint64_t)) {
        uint64_t word = 0;
        memcpy(&word, (char const *)at + b, bytes - b < sizeof word ? bytes - b : sizeof word);
        *mixed = rm_noise_u64(*mixed ^ word);
    }
}

#define MIX_ONE(mixed, thing) mix_bytes(mixed, &(thing), sizeof(thing))

/** A number that two machines share only if they are alike in what does not change while they run: seed and rates, what
 * was drawn, and how strongly the beam is moved. */
static uint64_t machine_fingerprint(struct rm_machine const *machine) {
    struct rm_ring_machine const *config = machine->config;
    struct rm_oscillation const *oscillation = &machine->motion.oscillation;
    uint64_t mixed = MARK;
    MIX_ONE(&mixed, config->seed);
    MIX_ONE(&mixed, machine->turn_rate_hz);
    MIX_ONE(&mixed, config->step_turns);
    MIX_ONE(&mixed, config->errors);
    MIX_ONE(&mixed, config->bpm_delay_s);
    MIX_ONE(&mixed, config->bpm_bandwidth_hz);
    MIX_ONE(&mixed, config->chamber_m);
    MIX_ONE(&mixed, config->current_ma);
    MIX_ONE(&mixed, config->lifetime_s);
    mix_bytes(&mixed, config->disturbances.mains, sizeof config->disturbances.mains);
    MIX_ONE(&mixed, config->disturbances.ground_rms_m);
    MIX_ONE(&mixed, config->disturbances.step_rad);
    mix_bytes(&mixed, machine->bpm, machine->bpm_count * sizeof *machine->bpm);
    mix_bytes(&mixed, machine->base_kick, rm_lattice_count(machine->lattice) * sizeof *machine->base_kick);
    for (uint32_t m = 0; m < machine->magnet_count; ++m)
        MIX_ONE(&mixed, machine->magnet[m].gradient);
    for (uint32_t w = 0; w < machine->winding_count; ++w)
        MIX_ONE(&mixed, machine->winding[w].base);
    MIX_ONE(&mixed, oscillation->config);
    MIX_ONE(&mixed, oscillation->rf.aperture);
    MIX_ONE(&mixed, oscillation->rf.fill_turns);
    return mixed;
}

/** All of it. The model that waits to be taken is one too; where none waits, `waiting` is false and it is not used. */
static void add_all(struct checkpoint *checkpoint, struct rm_machine const *machine,
                    struct rm_machine_moment const *moment, uint64_t const *waiting,
                    struct rm_machine_model const *ready) {
    *checkpoint = (struct checkpoint){.count = 0};
    ADD_ONE(checkpoint, *moment);
    ADD_ONE(checkpoint, *waiting);
    add_model(checkpoint, machine, machine->active);
    add_model(checkpoint, machine, ready);
    add_background(checkpoint, machine);
    add_ground(checkpoint, machine);
    add_fast(checkpoint, machine);
}

enum rm_code rm_machine_save(struct rm_machine const *machine, struct rm_machine_moment const *moment, char const *path,
                             struct rm_error *error) {
    struct rm_machine_model const *ready = atomic_load_explicit(&machine->ready, memory_order_acquire);
    uint64_t const waiting = ready != NULL, mark = machine_fingerprint(machine);
    struct checkpoint checkpoint;
    add_all(&checkpoint, machine, moment, &waiting, waiting ? ready : machine->active);
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return rm_fail(error, RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    bool good = fwrite(&mark, sizeof mark, 1, file) == 1;
    for (uint32_t a = 0; a < checkpoint.count; ++a) {
        uint64_t const bytes = checkpoint.area[a].bytes;
        good = good && fwrite(&bytes, sizeof bytes, 1, file) == 1 &&
               fwrite(checkpoint.area[a].at, 1, bytes, file) == bytes;
    }
    if (fclose(file) == 0 && good)
        return RM_OK;
    return rm_fail(error, RM_E_SYSTEM, "%s: the machine could not be written: %s", path, strerror(errno));
}

static bool read_areas(struct checkpoint const *checkpoint, uint64_t fingerprint, FILE *file) {
    uint64_t mark = 0, bytes = 0;
    bool good = fread(&mark, sizeof mark, 1, file) == 1 && mark == fingerprint;
    for (uint32_t a = 0; good && a < checkpoint->count; ++a)
        good = fread(&bytes, sizeof bytes, 1, file) == 1 && bytes == checkpoint->area[a].bytes &&
               fread(checkpoint->area[a].at, 1, bytes, file) == bytes;
    return good && fgetc(file) == EOF;
}

/** The model that the background may build next: one that waits to be taken, or a spare one. */
static struct rm_machine_model *take_other_model(struct rm_machine *machine) {
    struct rm_machine_model *ready = atomic_exchange_explicit(&machine->ready, NULL, memory_order_acq_rel);
    return ready != NULL ? ready : atomic_exchange_explicit(&machine->spare, NULL, memory_order_acq_rel);
}

enum rm_code rm_machine_load(struct rm_machine *machine, char const *path, struct rm_machine_moment *moment,
                             struct rm_error *error) {
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return rm_fail(error, errno == ENOENT ? RM_E_NOT_FOUND : RM_E_SYSTEM, "%s: %s", path, strerror(errno));
    struct rm_machine_model *other = take_other_model(machine);
    uint64_t waiting = 0;
    struct checkpoint checkpoint;
    add_all(&checkpoint, machine, moment, &waiting, other);
    bool const good = read_areas(&checkpoint, machine_fingerprint(machine), file);
    fclose(file);
    _Atomic(struct rm_machine_model *) *place = good && waiting ? &machine->ready : &machine->spare;
    atomic_store_explicit(place, other, memory_order_release); /* the background begins later */
    if (good)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "%s: found a checkpoint of another machine or build, expected one that a run of this very "
                   "configuration wrote",
                   path);
}
