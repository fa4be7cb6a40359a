// SPDX-License-Identifier: Apache-2.0
/** The equilibrium beam: K. Ohmi, K. Hirata, K. Oide, Phys. Rev. E 49, 751 (1994). */
#include <math.h>
#include <string.h>

#include "../lattice_parts.h"
#include "base/fail.h"
#include "emittance.h"
#include "linopt6.h"
#include "sides.h"
#include "small.h"

static double const light_m_s = 2.99792458e8;
enum { MOST_DOUBLINGS = 60 };

/** What all points have in common. */
struct beam_at_start {
    double r[36];
    /** Of the modes there. */
    double a_inverse[36];
};

/** What is asked for. */
struct envelope_call {
    struct rm_twin const *twin;
    uint32_t const *refpts;
    uint32_t count;
};

static void diffusion_matrix(struct rm_diffusion const *diffusion, double d[36]) {
    for (int i = 0; i < 6; ++i)
        memcpy(d + 6 * i, &diffusion->d[i], 6 * sizeof *d);
}

/** The beam that a turn leaves as it is: R = M (R + D) Mᵀ, so the sum of M^k D M^kᵀ from k = 1 on. Each step doubles
 * the number of turns in the sum (R. Smith, SIAM J. Appl. Math. 16, 198). */
static void equilibrium_beam(double const m[36], double const d[36], double r[36]) {
    double power[36], more[36], squared[36];
    memcpy(power, m, sizeof power);
    rm_small_congruence(m, d, r);
    for (int i = 0; i < MOST_DOUBLINGS; ++i) {
        double change = 0;
        rm_small_congruence(power, r, more);
        for (int k = 0; k < 36; ++k)
            r[k] += more[k];
        for (int k = 0; k < 6; ++k)
            change = fmax(change, more[7 * k] / (r[7 * k] + 1e-300));
        if (change < 1e-17)
            return;
        rm_small_multiply(power, power, squared);
        memcpy(power, squared, sizeof power);
    }
}

/** AT's: areas of the 2 × 2 blocks of the beam matrix in the frame of the modes. */
static void mode_emittances(double const a_inverse[36], double const r[36], double emittance[3]) {
    double normal[36];
    rm_small_congruence(a_inverse, r, normal);
    for (int k = 0; k < 3; ++k) {
        double const *const block = normal + 14 * k;
        emittance[k] = sqrt(fmax(0, block[0] * block[7] - block[1] * block[6]));
    }
}

/** Gives each mode the eigen-emittance of the same rank. */
static void eigen_emittances(double const r66[36], double const by_mode[3], double emittance[3]) {
    double ascending[3] = {0};
    rm_emittance_eigen(r66, ascending);
    for (int k = 0; k < 3; ++k) {
        int rank = 0;
        for (int other = 0; other < 3; ++other)
            rank += by_mode[other] < by_mode[k] || (by_mode[other] == by_mode[k] && other < k);
        emittance[k] = ascending[rank];
    }
}

static void envelope_fill_point(struct beam_at_start const *beam, struct rm_closed const *closed, uint32_t i,
                                struct rm_envelope *e) {
    double d[36];
    memcpy(e->closed_orbit, closed->points[i].z, sizeof e->closed_orbit);
    rm_closed_matrix(&closed->points[i], e->m66);
    diffusion_matrix(&closed->scattered[i], d);
    for (int k = 0; k < 36; ++k)
        d[k] += beam->r[k];
    rm_small_congruence(e->m66, d, e->r66);
    rm_emittance_betatron(e->r66, e->r44, e->emit_xy);
    mode_emittances(beam->a_inverse, d, e->mode_emittance); /* the frame goes along with the beam */
    eigen_emittances(e->r66, e->mode_emittance, e->emit_xyz);
}

static void envelope_summarise(struct rm_twin const *twin, struct rm_closed const *closed, struct rm_modes const *modes,
                               struct beam_at_start const *beam, struct rm_envelope_summary *ring) {
    struct rm_lattice_facts const *const info = &twin->lattice->info;
    double by_mode[3];
    memcpy(ring->tune, modes->tune, sizeof ring->tune);
    memcpy(ring->damping_rate, modes->damping_rate, sizeof ring->damping_rate);
    for (int k = 0; k < 3; ++k)
        ring->damping_time_s[k] = twin->lattice->s_m[twin->count] / light_m_s / modes->damping_rate[k];
    rm_modes_matrices(modes->a, 3, ring->mode_matrix);
    mode_emittances(beam->a_inverse, beam->r, by_mode);
    eigen_emittances(beam->r, by_mode, ring->mode_emittance);
    ring->energy_spread = sqrt(beam->r[28]);
    ring->bunch_length_m = sqrt(beam->r[35]);
    ring->energy_loss_ev = closed->turn.gained * info->energy_ev * (info->periodicity != 0 ? info->periodicity : 1);
}

static enum rm_code envelope_check_closed(struct rm_closed const *closed, struct rm_error *error) {
    if (!closed->is_6d || !closed->radiates)
        return rm_fail(error, RM_E_ARGUMENT, "an equilibrium beam needs a cavity that is on and radiation; %s",
                       closed->is_6d ? "no element radiates: rm_twin_enable_6d" : "no cavity is on: rm_twin_enable_6d");
    return RM_OK;
}

static enum rm_code converge_envelope(struct rm_closed const *closed, double const m[36], struct rm_modes const *modes,
                                      struct beam_at_start *beam, struct rm_error *error) {
    static char const *const plane[] = {"horizontal", "vertical", "longitudinal"};
    double d[36];
    diffusion_matrix(&closed->diffusion, d);
    for (int k = 0; k < 3; ++k)
        if (!(modes->damping_rate[k] > 0))
            return rm_fail(error, RM_E_CONFIG,
                           "no equilibrium beam: the %s mode is not damped, its rate is %.3g per turn; change the "
                           "gradients of dipoles",
                           plane[k], modes->damping_rate[k]);
    equilibrium_beam(m, d, beam->r);
    if (!(beam->r[28] > 0) || !isfinite(beam->r[28]))
        return rm_fail(error, RM_E_CONFIG, "no equilibrium beam: what radiates does not excite it");
    rm_small_invert(modes->a, 6, beam->a_inverse);
    return RM_OK;
}

static enum rm_code envelope_modes(struct rm_closed const *closed, double m[36], struct rm_modes *modes,
                                   struct rm_error *error) {
    enum rm_code const code = envelope_check_closed(closed, error);
    rm_closed_matrix(&closed->turn, m);
    return code == RM_OK ? rm_modes_find(m, 3, modes, error) : code;
}

static enum rm_code envelope_fill(struct envelope_call const *call, struct rm_closed const *closed, double const m[36],
                                  struct rm_modes const *modes, struct rm_envelope_summary *ring,
                                  struct rm_envelope *envelope, struct rm_error *error) {
    struct beam_at_start beam = {{0}, {0}};
    enum rm_code const code = converge_envelope(closed, m, modes, &beam, error);
    if (code != RM_OK)
        return code;
    if (ring != NULL)
        envelope_summarise(call->twin, closed, modes, &beam, ring);
    for (uint32_t i = 0; i < call->count; ++i) {
        envelope[i].s_m = call->twin->lattice->s_m[call->refpts[i]];
        envelope_fill_point(&beam, closed, i, &envelope[i]);
    }
    return RM_OK;
}

enum rm_code rm_twin_ohmi_envelope(struct rm_twin const *twin, struct rm_orbit_options const *options,
                                   uint32_t const *refpts, uint32_t refpt_count, struct rm_envelope_summary *ring,
                                   struct rm_envelope *envelope, struct rm_error *error) {
    struct envelope_call const call = {twin, refpts, envelope != NULL ? refpt_count : 0};
    struct rm_closed_request const request = {
        .orbit = options, .refpts = refpts, .refpt_count = call.count, .diffusion = true};
    struct rm_closed closed;
    struct rm_modes modes;
    double m[36];
    enum rm_code code = rm_closed_find(twin, &request, &closed, error);
    if (code == RM_OK)
        code = envelope_modes(&closed, m, &modes, error);
    if (code == RM_OK)
        code = envelope_fill(&call, &closed, m, &modes, ring, envelope, error);
    rm_closed_free(&closed);
    return code;
}

enum rm_code rm_twin_optics_and_envelope(struct rm_twin const *twin, struct rm_optics_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count, struct rm_ring_state *state,
                                         struct rm_optics *optics, struct rm_envelope *envelope,
                                         struct rm_error *error) {
    struct rm_linopt6_call const call = {twin, options != NULL ? options : &rm_optics_plain, refpts, refpt_count};
    struct rm_closed_request const request = {
        .orbit = &call.options->orbit, .refpts = refpts, .refpt_count = refpt_count, .diffusion = true};
    struct rm_closed closed;
    struct rm_modes modes;
    double m[36];
    enum rm_code code = rm_closed_find(twin, &request, &closed, error);
    if (code == RM_OK)
        code = envelope_modes(&closed, m, &modes, error);
    if (code == RM_OK)
        memcpy(state->orbit_at_start, closed.z, sizeof state->orbit_at_start);
    if (code == RM_OK)
        code = rm_linopt6_fill(&call, &closed, &modes, &state->optics, optics, error);
    if (code == RM_OK)
        code = envelope_fill(&(struct envelope_call){twin, refpts, refpt_count}, &closed, m, &modes, &state->envelope,
                             envelope, error);
    rm_closed_free(&closed);
    return code;
}
