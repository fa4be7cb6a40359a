# SPDX-License-Identifier: Apache-2.0
"""Made by tools/generate_declarations.py from include/ringmaster: change the headers there.

error.h, lattice.h, simd.h, twin.h.
"""

DECLARATIONS = """
enum rm_code {
    RM_OK = 0,
    RM_E_ABSENT,
    RM_E_HALF_MADE,
    RM_E_VERSION,
    RM_E_DEAD,
    RM_E_BUSY,
    RM_E_NOT_FOUND,
    RM_E_CONFIG,
    RM_E_ARGUMENT,
    RM_E_NO_SPACE,
    RM_E_SYSTEM,
};

enum { RM_ERROR_TEXT_BYTES = 512 };

struct rm_error {
    enum rm_code code;
    char text[RM_ERROR_TEXT_BYTES];
};

enum {
    RM_ELEMENT_NAME_BYTES = 64,
    RM_POLYNOM_ORDERS = 32,
    RM_COORDINATES = 6,
};

enum rm_element_kind {
    RM_ELEMENT_MARKER,
    RM_ELEMENT_MONITOR,
    RM_ELEMENT_DRIFT,
    RM_ELEMENT_DIPOLE,
    RM_ELEMENT_QUADRUPOLE,
    RM_ELEMENT_SEXTUPOLE,
    RM_ELEMENT_OCTUPOLE,
    RM_ELEMENT_MULTIPOLE,
    RM_ELEMENT_THIN_MULTIPOLE,
    RM_ELEMENT_CORRECTOR,
    RM_ELEMENT_CAVITY,
    RM_ELEMENT_MATRIX,
    RM_ELEMENT_APERTURE,
    RM_ELEMENT_SOLENOID,
    RM_ELEMENT_WIGGLER,
    RM_ELEMENT_KINDS
};

enum rm_pass {
    RM_PASS_IDENTITY,
    RM_PASS_DRIFT,
    RM_PASS_EXACT_DRIFT,
    RM_PASS_STR_MPOLE,
    RM_PASS_BND_MPOLE,
    RM_PASS_BND_MPOLE_E2,
    RM_PASS_BND_STR_MPOLE,
    RM_PASS_QUAD_LINEAR,
    RM_PASS_BEND_LINEAR,
    RM_PASS_CORRECTOR,
    RM_PASS_THIN_MPOLE,
    RM_PASS_RF_CAVITY,
    RM_PASS_MATRIX66,
    RM_PASS_APERTURE,
    RM_PASS_SOLENOID_LINEAR,
    RM_PASS_GWIG,
    RM_PASSES
};

enum rm_radiation {
    RM_RADIATION_NONE,
    RM_RADIATION_CLASSICAL,
    RM_RADIATION_QUANTUM,
};

struct rm_wiggler_harmonic {
    double number;
    double amplitude;
    double kx, ky, kz;
    double phase_rad;
};

struct rm_wiggler {
    double period_m;
    double peak_field_t;
    uint32_t steps_per_period;
    uint32_t method;
    uint32_t by_count, bx_count;
    struct rm_wiggler_harmonic const *by, *bx;
};

struct rm_element {
    char name[RM_ELEMENT_NAME_BYTES];
    enum rm_element_kind kind;
    enum rm_pass pass;
    enum rm_radiation radiation;
    uint32_t harmonic_number;
    double length_m;
    uint32_t steps;
    uint32_t max_order;
    double *polynom_a;
    double *polynom_b;
    double kick_angle_rad[2];
    double bending_angle_rad;
    double entrance_angle_rad, exit_angle_rad;
    double full_gap_m;
    double fringe_int[2];
    uint32_t fringe_bend[2];
    uint32_t fringe_quad[2];
    double *fringe_integrals;
    double curvature_1, curvature_2;
    double reference_x_m, reference_ct_m;
    double voltage_v, frequency_hz;
    double time_lag_m;
    double phase_lag_rad;
    double solenoid_strength;
    double *t1, *t2;
    double *r1, *r2;
    double *rectangle_aperture;
    double *elliptic_aperture;
    double *matrix;
    struct rm_wiggler *wiggler;
};

struct rm_lattice_facts {
    char name[RM_ELEMENT_NAME_BYTES];
    char particle[RM_ELEMENT_NAME_BYTES];
    double rest_energy_ev;
    double charge_e;
    double energy_ev;
    uint32_t periodicity;
    uint32_t harmonic_number;
};

struct rm_lattice;

struct rm_lattice_source {
    char const *variable;
    char const *sequence;
};

enum rm_code rm_lattice_read(char const *path, struct rm_lattice_source const *source, struct rm_lattice **lattice,
                             struct rm_error *error);

enum rm_code rm_lattice_parse(char const *path, char const *bytes, size_t count, struct rm_lattice_source const *source,
                              struct rm_lattice **lattice, struct rm_error *error);

enum rm_code rm_lattice_write_mat(struct rm_lattice const *lattice, char const *path, struct rm_error *error);

enum rm_code rm_lattice_make(struct rm_lattice_facts const *info, struct rm_element const *elements, uint32_t count,
                             struct rm_lattice **lattice, struct rm_error *error);

void rm_lattice_free(struct rm_lattice *lattice);

struct rm_lattice_facts const *rm_lattice_info(struct rm_lattice const *lattice);
uint32_t rm_lattice_count(struct rm_lattice const *lattice);

struct rm_element const *rm_lattice_element(struct rm_lattice const *lattice, uint32_t index);

double rm_lattice_length_m(struct rm_lattice const *lattice);
double rm_lattice_s_m(struct rm_lattice const *lattice, uint32_t index);

uint32_t rm_lattice_find(struct rm_lattice const *lattice, char const *pattern, enum rm_element_kind kind,
                         uint32_t *indices, uint32_t most);

char const *rm_pass_name(enum rm_pass pass, enum rm_radiation radiation);
bool rm_pass_by_name(char const *name, enum rm_pass *pass, enum rm_radiation *radiation);

char const *rm_element_kind_name(enum rm_element_kind kind);

enum rm_simd {
    RM_SIMD_BEST,
    RM_SIMD_SCALAR,
    RM_SIMD_AVX2,
    RM_SIMD_AVX512,
};

struct rm_twin;

enum rm_code rm_twin_make(struct rm_lattice const *lattice, struct rm_twin **twin, struct rm_error *error);

enum rm_code rm_twin_copy(struct rm_twin const *twin, struct rm_twin **copy, struct rm_error *error);

void rm_twin_free(struct rm_twin *twin);

struct rm_lattice const *rm_twin_lattice(struct rm_twin const *twin);

struct rm_element const *rm_twin_element(struct rm_twin const *twin, uint32_t index);

enum rm_component { RM_SKEW, RM_NORMAL };

enum rm_code rm_twin_set_polynom(struct rm_twin *twin, uint32_t element, enum rm_component component, uint32_t order,
                                 double value, struct rm_error *error);

enum rm_code rm_twin_set_kick(struct rm_twin *twin, uint32_t element, double horizontal_rad, double vertical_rad,
                              struct rm_error *error);

enum rm_code rm_twin_set_cavity(struct rm_twin *twin, uint32_t element, double voltage_v, double frequency_hz,
                                double time_lag_m, struct rm_error *error);

enum rm_code rm_twin_set_misalignment(struct rm_twin *twin, uint32_t element, double x_m, double y_m, double z_m,
                                      double roll_rad, struct rm_error *error);

enum rm_code rm_twin_enable_6d(struct rm_twin *twin, struct rm_error *error);
void rm_twin_disable_6d(struct rm_twin *twin);

bool rm_twin_is_6d(struct rm_twin const *twin);

enum rm_code rm_twin_set_radiation(struct rm_twin *twin, uint32_t element, enum rm_radiation radiation,
                                   struct rm_error *error);

void rm_twin_seed(struct rm_twin *twin, uint64_t seed);

struct rm_tracking {
    uint32_t turns;
    uint32_t const *refpts;
    uint32_t refpt_count;
    double *out;
    uint32_t *lost_turn;
    uint32_t *lost_element;
    double *lost_at;
    enum rm_simd simd;
};

enum rm_code rm_twin_track(struct rm_twin *twin, double (*particles)[RM_COORDINATES], uint32_t count,
                           struct rm_tracking const *tracking, struct rm_error *error);

uint64_t rm_twin_turn(struct rm_twin const *twin);
void rm_twin_set_turn(struct rm_twin *twin, uint64_t turn);

struct rm_orbit_options {
    double dp;
    double rf_offset_hz;
    double const *guess;
    uint32_t most_iterations;
    double tolerance;
};

enum rm_code rm_twin_find_orbit(struct rm_twin const *twin, struct rm_orbit_options const *options, double at_start[6],
                                uint32_t const *refpts, uint32_t refpt_count, double (*orbit)[RM_COORDINATES],
                                struct rm_error *error);

enum rm_code rm_twin_find_m66(struct rm_twin const *twin, struct rm_orbit_options const *options,
                              double const at_start[6], double m66[36], uint32_t const *refpts, uint32_t refpt_count,
                              double (*matrices)[36], struct rm_error *error);

struct rm_optics {
    double s_m;
    double closed_orbit[6];
    double m[36];
    double a[36];
    double r[3][36];
    double beta_m[2], alpha[2];
    double mu_rad[3];
    double dispersion[4];
    double w[2];
    double dalpha[2], dbeta[2];
    double dmu_rad[3];
    double ddispersion[4];
};

struct rm_optics_summary {
    uint32_t modes;
    double tune[3];
    double chromaticity[3];
    double damping_time_s[3];
    double damping_rate[3];
};

struct rm_optics_options {
    struct rm_orbit_options orbit;
    bool chromaticity;
    bool w;
    double (*dr)[3][36];
    double dp_step;
};

enum rm_code rm_twin_linopt6(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics *optics, struct rm_error *error);

struct rm_optics4 {
    double s_m;
    double closed_orbit[6];
    double m[16];
    double beta_m[2], alpha[2];
    double mu_rad[2];
    double gamma;
    double a[4], b[4], c[4];
    double dispersion[4];
    double w[2];
    double dalpha[2], dbeta[2];
    double dmu_rad[2];
    double ddispersion[4];
};

enum rm_code rm_twin_linopt4(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error);

enum rm_code rm_twin_linopt2(struct rm_twin const *twin, struct rm_optics_options const *options,
                             uint32_t const *refpts, uint32_t refpt_count, struct rm_optics_summary *ring,
                             struct rm_optics4 *optics, struct rm_error *error);

struct rm_ring_parameters {
    double i[5];
    double energy_loss_ev;
    double momentum_compaction;
    double slip_factor;
    double emittance_x_m;
    double energy_spread;
    double bunch_length_m;
    double damping_time_s[3];
    double damping_partition[3];
    double synchrotron_tune;
    double synchronous_phase_rad;
    double revolution_frequency_hz;
    double voltage_v;
    double tune[2], chromaticity[2];
};

enum rm_code rm_twin_ring_parameters(struct rm_twin const *twin, struct rm_ring_parameters *parameters,
                                     struct rm_error *error);

struct rm_envelope {
    double s_m;
    double r66[36];
    double r44[16];
    double m66[36];
    double closed_orbit[6];
    double emit_xy[2];
    double emit_xyz[3];
    double mode_emittance[3];
};

struct rm_envelope_summary {
    double tune[3];
    double damping_rate[3];
    double damping_time_s[3];
    double mode_emittance[3];
    double mode_matrix[3][36];
    double energy_spread;
    double bunch_length_m;
    double energy_loss_ev;
};

enum rm_code rm_twin_ohmi_envelope(struct rm_twin const *twin, struct rm_orbit_options const *options,
                                   uint32_t const *refpts, uint32_t refpt_count, struct rm_envelope_summary *ring,
                                   struct rm_envelope *envelope, struct rm_error *error);

enum rm_plane { RM_HORIZONTAL, RM_VERTICAL };

struct rm_steerer {
    uint32_t element;
    enum rm_plane plane;
};

struct rm_response_options {
    struct rm_orbit_options orbit;
    double kick_rad;
    double rf_step_hz;
};

enum rm_code rm_twin_response(struct rm_twin const *twin, struct rm_response_options const *options,
                              uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                              uint32_t steerer_count, double *matrix, struct rm_error *error);

enum rm_code rm_twin_response_tracked(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, double *matrix, struct rm_error *error);

enum rm_code rm_twin_response_derivative(struct rm_twin const *twin, struct rm_response_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count,
                                         struct rm_steerer const *steerers, uint32_t steerer_count, uint32_t magnet,
                                         enum rm_component component, double *matrix, struct rm_error *error);

size_t rm_twin_size_of(char const *name);
"""
