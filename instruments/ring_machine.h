// SPDX-License-Identifier: Apache-2.0
/** The machine of a ring, as its file's key `machine` describes it.
 *
 *     machine:
 *       lattice: elettra2_like        # a short name, or a path from the file's folder
 *       seed: 7                       # of all errors and disturbances; absent: the ring's
 *       bpms: "BPM_*"                 # elements in their order: the BPMs of the instruments of kind bpm, in theirs:
 *                                     # of each first x1 y1, then x2 y2, where its format has them. Several
 *                                     # patterns, with blanks between, one after the other: some BPMs are read twice
 *       step_turns: 12                # from one step of the orbit to the next
 *       refresh_ms: 200               # from one look of the background to the next, at least
 *       blend_ms: 20                  # in which what a look changes comes
 *       filter: {delay_us: 50, bandwidth_hz: 4000}    # of the BPMs
 *       chamber: {x_mm: 13.5, y_mm: 13.5, apertures: [{elements: "ID_*", y_mm: 3}]}     # half widths
 *       current_ma: 400               # stored at the start
 *       lifetime_h: 10
 *       motion: {momentum_aperture: 0.04, rf_fill_us: 15, saturation_um: 1000,        # of the beam about its orbit
 *                excitation_um: 5}
 *       errors: {beta_beat: 0.1, bpm_gain: 0.05, bpm_offset_um: 50, bpm_roll_mrad: 5, bpm_crosstalk: 0.01,
 *                corrector_gain: 0.05, corrector_roll_mrad: 5,          # RMS, cut at two sigma; absent: none
 *                magnet_offset_um: 30, magnet_roll_mrad: 0.2, sextupole: 0.005, skew_per_m: 0.0005,
 *                bpm_pincushion_per_mm2: 0.002,
 *                bpm_inverted: 0.01, bpm_swapped: 0.005, bpm_turn_shift: 0.1}    # shares
 *       correctors:
 *         - {elements: "CF_*", plane: x, supplies: "fx*", urad_per_unit: 10, eddy_hz: 8000, eddy2_hz: 20000}
 *       strengths:                    # supplies that change fields of magnets; a magnet is all elements of one name
 *                                     # that follow each other: gradients and sextupoles by so much of themselves per
 *                                     # unit, a skew gradient times length in 1/m
 *         - {elements: "QF1_*", change: gradient, supplies: "q*", per_unit: 0.001}
 *         - {elements: "SF1_*", change: skew, supplies: "skew*", per_unit: 0.001}
 *       rf: {supply: rf/1, hz_per_unit: 1}      # a supply that is the RF frequency's offset
 *       disturbances:
 *         mains:                      # peak, at the BPM that sees it most, of each plane; phase: by itself, RMS
 *           - {hz: 50, orbit_um: 100}
 *           - {hz: 100, orbit_um: 30, phase_rad: 0.1}
 *         mains_wander: 0.001         # of the frequency, all lines together, slowly
 *         ground: {rms_nm: 50, corner_hz: 10}   # of each quadrupole, gradient dipole and reverse bend, in each
 *                                               # plane, independent; above the corner its amplitude falls with 1/f²
 *         steps: {urad: 1, every_s: 5}          # a random dipole's kick changes
 *         insertion: {at: "LS_S03_01", urad: 5, ramp_s: 2, every_s: 20}   # closes and opens in turn
 *         topup: {urad: 50, every_s: 60, turns: 2000}                     # the injection kickers' bump leaks
 *
 * `supplies` are patterns of chains' names: all their supplies, in their order, one per element. "c0?/3" is the third
 * supply of each chain that matches, "c0?/3-8" six of each.
 */
#ifndef RM_INSTRUMENTS_RING_MACHINE_H
#define RM_INSTRUMENTS_RING_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RM_MACHINE_APERTURES_MAX = 256,
    RM_MACHINE_MAINS_MAX = 16,
    RM_MACHINE_GROUPS_MAX = 32,
};

/** What a supply of `strengths` changes: a gradient relative to itself (of a bend its angle with it, as one current makes
 * both), a skew gradient times length by 1/m, a sextupole relative to itself. */
enum rm_machine_change { RM_CHANGE_GRADIENT, RM_CHANGE_SKEW, RM_CHANGE_SEXTUPOLE, RM_MACHINE_CHANGES };

/** A group of supplies and the elements that they drive, one each. */
struct rm_machine_group {
    char *elements;
    /** 'x', 'y'; for strengths 'q'. */
    char plane;
    /** Indices among all supplies. */
    uint32_t *supply;

    uint32_t supply_count;
    /** Of strengths. */
    enum rm_machine_change change;
    /** In rad, or of the change. */
    double per_unit;
    /** The two poles of eddy currents in the chamber, of which each is 0 where there is none. A pipe of radius b, and
     * thickness d ≪ b, lets through 1 / (cosh q + (b / 2d) q sinh q), q² = i ω μ₀ σ d²; by its zeros that is a product
     * of poles, of which the first two are 1 / (π μ₀ σ b d) and π / (2 μ₀ σ d²). */
    double eddy_hz, eddy2_hz;
};

/** Elements whose chamber is narrower. */
struct rm_ring_aperture {
    char *elements;
    /** [plane] half width; 0: that of the chamber. */
    double half_m[2];
};

struct rm_ring_machine {
    bool present;
    /** Path of the lattice file, resolved. */
    char *lattice;

    uint64_t seed;
    char *bpms;
    /** Number of BPMs: an instrument of kind bpm has two if its format names x2, else one. */
    uint32_t bpm_count;
    /** [BPM] the instrument that reads it … */
    uint32_t *bpm_instrument;
    /** … as this lane (x) and the next (y). */
    uint32_t *bpm_lane;
    /** Number of the ring's supplies. */
    uint32_t supply_count;

    uint32_t step_turns;
    double refresh_s, blend_s;
    struct {
        double beta_beat, bpm_gain, bpm_offset_m, bpm_roll_rad, bpm_crosstalk, corrector_gain, corrector_roll_rad;
        /** Of quadrupoles, sextupoles and dipoles, all pieces of one together. */
        double magnet_offset_m, magnet_roll_rad;
        /** Relative, of sextupoles. */
        double sextupole;
        /** Skew gradient times length, of each quadrupole and sextupole. */
        double skew_per_m;
        /** Coefficient of the cubic that a BPM's buttons make of a position, RMS, in m⁻². */
        double bpm_pincushion_per_m2;
        /** Shares of all: of planes of BPMs with the wrong sign, of BPMs whose planes are swapped, and of electronics
         * at turn rate that are a turn early or late. */
        double bpm_inverted, bpm_swapped, bpm_turn_shift;
    } errors;
    /** Delay of the BPMs' filter. */
    double bpm_delay_s;
    /** Bandwidth of the filter's first order; 0: none. */
    double bpm_bandwidth_hz;
    /** |δ| beyond which the beam is lost; 0: none is. */
    double momentum_aperture;
    /** In which the cavities' field follows what drives it. */
    double rf_fill_s;
    /** Amplitude at mean β at which coherent growth stops. */
    double saturation_m;
    /** Amplitude at mean β at which a kicker in phase with the beam keeps both modes; 0: none. */
    double excitation_m;

    /** [plane] half width of the vacuum chamber; 0: none, and no beam is lost at it. */
    double chamber_m[2];
    struct rm_ring_aperture *aperture;
    uint32_t aperture_count;
    /** Stored beam at the start, and what injections fill up to. */
    double current_ma;
    /** In which it falls to 1/e; 0: it does not. */
    double lifetime_s;

    struct rm_machine_group group[RM_MACHINE_GROUPS_MAX];
    uint32_t group_count;
    /** Index of the supply that is the RF's offset, or −1. */
    int32_t rf_supply;

    double rf_hz_per_unit;
    struct {
        struct {
            double hz, orbit_m;
            /** RMS of what the line's phase wanders by itself. */
            double phase_rad;
        } mains[RM_MACHINE_MAINS_MAX];
        uint32_t mains_count;
        double mains_wander;
        double ground_rms_m, ground_corner_hz;
        double step_rad, step_every_s;
        char *insertion_at;
        double insertion_rad, insertion_ramp_s, insertion_every_s;
        double topup_rad, topup_every_s;
        uint32_t topup_turns;
    } disturbances;
};

void rm_ring_machine_free(struct rm_ring_machine *machine);

#endif
