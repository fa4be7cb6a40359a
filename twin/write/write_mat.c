// SPDX-License-Identifier: Apache-2.0
/** A lattice as the Accelerator Toolbox's cell array RING: first a RingParam, then its elements, with the fields that
 * their class and pass need and those that are not as they would be anyhow. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "mat_buffer.h"

enum { DEFAULT_STEPS = 10, DEFAULT_FRINGE_BEND = 1 };

static void number_unless(struct rm_mat_struct *to, char const *name, double number, double otherwise) {
    if (number != otherwise)
        rm_mat_field_number(to, name, number);
}

static void numbers_if_any(struct rm_mat_struct *to, char const *name, uint32_t rows, uint32_t columns,
                           double const *numbers) {
    if (numbers != NULL)
        rm_mat_field_numbers(to, name, rows, columns, numbers);
}

/** MATLAB's word for it; pyAT knows both words. */
static char const *class_of(enum rm_element_kind kind) {
    if (kind == RM_ELEMENT_DIPOLE)
        return "Bend";
    return kind == RM_ELEMENT_MATRIX ? "Matrix66" : rm_element_kind_name(kind);
}

static void put_field(struct rm_mat_struct *to, struct rm_element const *e) {
    bool const focuses = e->kind == RM_ELEMENT_DIPOLE || e->kind == RM_ELEMENT_QUADRUPOLE;
    numbers_if_any(to, "PolynomA", 1, e->max_order + 1, e->polynom_a);
    numbers_if_any(to, "PolynomB", 1, e->max_order + 1, e->polynom_b);
    if (e->polynom_a != NULL || e->polynom_b != NULL || e->max_order != 0)
        rm_mat_field_number(to, "MaxOrder", e->max_order);
    if (focuses && e->polynom_b != NULL && e->max_order >= 1)
        rm_mat_field_number(to, "K", e->polynom_b[1]);
    if ((e->polynom_b != NULL && e->length_m != 0) || e->steps != DEFAULT_STEPS)
        rm_mat_field_number(to, "NumIntSteps", e->steps);
    if (e->kind == RM_ELEMENT_CORRECTOR || e->kick_angle_rad[0] != 0 || e->kick_angle_rad[1] != 0)
        rm_mat_field_numbers(to, "KickAngle", 1, 2, e->kick_angle_rad);
}

static void put_bend(struct rm_mat_struct *to, struct rm_element const *e) {
    bool const bends = e->kind == RM_ELEMENT_DIPOLE;
    double const none = bends ? -1e300 : 0; /* a bend has its angles, whatever they are */
    number_unless(to, "BendingAngle", e->bending_angle_rad, none);
    number_unless(to, "EntranceAngle", e->entrance_angle_rad, none);
    number_unless(to, "ExitAngle", e->exit_angle_rad, none);
    number_unless(to, "FullGap", e->full_gap_m, 0);
    number_unless(to, "FringeInt1", e->fringe_int[0], 0);
    number_unless(to, "FringeInt2", e->fringe_int[1], 0);
    number_unless(to, "H1", e->curvature_1, 0);
    number_unless(to, "H2", e->curvature_2, 0);
    number_unless(to, "X0ref", e->reference_x_m, 0);
    number_unless(to, "RefDZ", e->reference_ct_m, 0);
    number_unless(to, "FringeBendEntrance", e->fringe_bend[0], DEFAULT_FRINGE_BEND);
    number_unless(to, "FringeBendExit", e->fringe_bend[1], DEFAULT_FRINGE_BEND);
    number_unless(to, "FringeQuadEntrance", e->fringe_quad[0], 0);
    number_unless(to, "FringeQuadExit", e->fringe_quad[1], 0);
    numbers_if_any(to, "fringeIntM0", 1, 5, e->fringe_integrals);
    numbers_if_any(to, "fringeIntP0", 1, 5, e->fringe_integrals != NULL ? e->fringe_integrals + 5 : NULL);
}

static void put_cavity(struct rm_mat_struct *to, struct rm_element const *e, double energy_ev) {
    bool const cavity = e->kind == RM_ELEMENT_CAVITY || e->pass == RM_PASS_RF_CAVITY;
    if (cavity || e->voltage_v != 0 || e->frequency_hz != 0) {
        rm_mat_field_number(to, "Voltage", e->voltage_v);
        rm_mat_field_number(to, "Frequency", e->frequency_hz);
        rm_mat_field_number(to, "HarmNumber", e->harmonic_number);
        rm_mat_field_number(to, "TimeLag", e->time_lag_m);
    }
    number_unless(to, "PhaseLag", e->phase_lag_rad, 0);
    if (cavity || e->radiation != RM_RADIATION_NONE)
        rm_mat_field_number(to, "Energy", energy_ev);
}

static void put_placing(struct rm_mat_struct *to, struct rm_element const *e) {
    bool const aperture = e->kind == RM_ELEMENT_APERTURE;
    numbers_if_any(to, "T1", 6, 1, e->t1);
    numbers_if_any(to, "T2", 6, 1, e->t2);
    numbers_if_any(to, "R1", 6, 6, e->r1);
    numbers_if_any(to, "R2", 6, 6, e->r2);
    numbers_if_any(to, aperture ? "Limits" : "RApertures", 1, 4, e->rectangle_aperture);
    numbers_if_any(to, "EApertures", 1, 2, e->elliptic_aperture);
    numbers_if_any(to, "M66", 6, 6, e->matrix);
    if (e->kind == RM_ELEMENT_SOLENOID || e->solenoid_strength != 0)
        rm_mat_field_number(to, "K", e->solenoid_strength);
}

/** A column for each harmonic. */
static void put_harmonics(struct rm_mat_struct *to, char const *name, struct rm_wiggler_harmonic const *list,
                          uint32_t count) {
    double *const numbers = malloc((size_t)count * 6 * sizeof *numbers + 1);
    if (numbers == NULL) {
        to->values.failed = true;
        return;
    }
    for (uint32_t i = 0; i < count; ++i) {
        double const column[] = {list[i].number, list[i].amplitude, list[i].kx,
                                 list[i].ky,     list[i].kz,        list[i].phase_rad};
        for (uint32_t row = 0; row < 6; ++row)
            numbers[row * count + i] = column[row];
    }
    rm_mat_field_numbers(to, name, count != 0 ? 6 : 0, count, numbers);
    free(numbers);
}

static void put_wiggler(struct rm_mat_struct *to, struct rm_wiggler const *wiggler) {
    if (wiggler == NULL)
        return;
    rm_mat_field_number(to, "Lw", wiggler->period_m);
    rm_mat_field_number(to, "Bmax", wiggler->peak_field_t);
    rm_mat_field_number(to, "Nstep", wiggler->steps_per_period);
    rm_mat_field_number(to, "Nmeth", wiggler->method);
    put_harmonics(to, "By", wiggler->by, wiggler->by_count);
    put_harmonics(to, "Bx", wiggler->bx, wiggler->bx_count);
    rm_mat_field_number(to, "NHharm", wiggler->by_count);
    rm_mat_field_number(to, "NVharm", wiggler->bx_count);
}

static void put_element(struct rm_mat_buffer *to, struct rm_element const *e, double energy_ev) {
    struct rm_mat_struct fields = {0};
    rm_mat_field_text(&fields, "FamName", e->name);
    rm_mat_field_text(&fields, "PassMethod", rm_pass_name(e->pass, e->radiation));
    rm_mat_field_text(&fields, "Class", class_of(e->kind));
    rm_mat_field_number(&fields, "Length", e->length_m);
    put_field(&fields, e);
    put_bend(&fields, e);
    put_cavity(&fields, e, energy_ev);
    put_placing(&fields, e);
    put_wiggler(&fields, e->wiggler);
    rm_mat_put_struct(to, &fields);
}

static void put_ring(struct rm_mat_buffer *to, struct rm_lattice_facts const *info) {
    struct rm_mat_struct fields = {0};
    struct rm_mat_struct particle = {0};
    rm_mat_field_text(&particle, "name", info->particle);
    rm_mat_field_number(&particle, "rest_energy", info->rest_energy_ev);
    rm_mat_field_number(&particle, "charge", info->charge_e);
    rm_mat_field_text(&fields, "FamName", info->name);
    rm_mat_field_text(&fields, "PassMethod", "IdentityPass");
    rm_mat_field_text(&fields, "Class", "RingParam");
    rm_mat_field_number(&fields, "Length", 0);
    rm_mat_field_number(&fields, "Energy", info->energy_ev);
    rm_mat_field_number(&fields, "Periodicity", info->periodicity);
    if (info->harmonic_number != 0)
        rm_mat_field_number(&fields, "cell_harmnumber", (double)info->harmonic_number / info->periodicity);
    rm_mat_field_struct(&fields, "Particle", &particle);
    rm_mat_put_struct(to, &fields);
}

static enum rm_code write_mat_refuse(char const *path, struct rm_error *error) {
    return rm_fail(error, errno == ENOSPC ? RM_E_NO_SPACE : RM_E_SYSTEM,
                   "%s: cannot write the lattice there: %s; choose a folder that can be written", path,
                   strerror(errno));
}

/** Beside its place first, so that there never is half a file at `path`. */
static enum rm_code save_mat_file(struct rm_mat_buffer const *buffer, char const *path, struct rm_error *error) {
    char beside[4096];
    if (snprintf(beside, sizeof beside, "%s.part", path) >= (int)sizeof beside)
        return rm_fail(error, RM_E_ARGUMENT, "the path of the lattice has more than 4090 bytes");
    FILE *const file = fopen(beside, "wbe");
    if (file == NULL)
        return write_mat_refuse(path, error);
    bool const written = fwrite(buffer->bytes, 1, buffer->count, file) == buffer->count;
    bool const closed = fclose(file) == 0;
    if (written && closed && rename(beside, path) == 0)
        return RM_OK;
    enum rm_code const code = write_mat_refuse(path, error);
    (void)remove(beside);
    return code;
}

enum rm_code rm_lattice_write_mat(struct rm_lattice const *lattice, char const *path, struct rm_error *error) {
    struct rm_mat_buffer buffer = {0};
    rm_mat_put_header(&buffer);
    size_t const cells = rm_mat_begin_cells(&buffer, "RING", lattice->count + 1);
    put_ring(&buffer, &lattice->info);
    for (uint32_t i = 0; i < lattice->count; ++i)
        put_element(&buffer, &lattice->elements[i], lattice->info.energy_ev);
    rm_mat_end(&buffer, cells);
    enum rm_code const code =
        buffer.failed ? rm_fail(error, RM_E_NO_SPACE, "%s: no memory for the lattice; free some memory", path)
        : buffer.count > UINT32_MAX
            ? rm_fail(error, RM_E_NO_SPACE, "%s: the lattice is longer than a MATLAB file of version 5 can hold", path)
            : save_mat_file(&buffer, path, error);
    rm_mat_buffer_free(&buffer);
    return code;
}
