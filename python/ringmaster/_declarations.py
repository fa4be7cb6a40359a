# SPDX-License-Identifier: Apache-2.0
"""What cffi has to know of our public headers, by their names.

Made by tools/generate_declarations.py from include/ringmaster: change the headers there.
"""

HEADERS = {
    "abi.h": """
enum {
    RM_CACHE_LINE = 64,
    RM_PAGE_BYTES = 4096,
    RM_LANES = 12,
    RM_NAME_BYTES = 96,
    RM_OWNER_BYTES = 32,
    RM_UNIT_BYTES = 16,
    RM_DESCRIPTION_BYTES = 104,
    RM_LANE_NAME_BYTES = 16,
    RM_REASON_BYTES = 120,
};
""",
    "archive.h": """
enum {
    RM_LOG_HEADER_BYTES = 4096,
    RM_BLOCK_ALIGNMENT = 64,
    RM_LOG_NAME_BYTES = 32,
    RM_BLOCK_PAYLOAD_MAX = 64 << 20,
};

struct rm_log_header {
    uint64_t magic;
    uint32_t version;
    uint32_t crc;
    uint8_t archive_uuid[16];
    char log[RM_LOG_NAME_BYTES];
    uint64_t number;
    uint64_t file_id;
    uint64_t begun_tai_ns;
    int32_t tai_minus_utc_s;
    uint32_t abi_version;
    double turn_rate_hz;
};

enum rm_block_kind {
    RM_BLOCK_DESCRIPTION = 1,
    RM_BLOCK_RECORDS = 2,
    RM_BLOCK_REDUCED = 3,
    RM_BLOCK_EVENTS = 4,
    RM_BLOCK_MARK = 5,
    RM_BLOCK_INDEX = 6,
    RM_BLOCK_END = 7,
    RM_BLOCK_PADDING = 8,
    RM_BLOCK_IMAGE = 9,
};

enum rm_block_codec {
    RM_CODEC_PLAIN = 0,
    RM_CODEC_DELTA_BLOSC = 1,
    RM_CODEC_BLOSC = 2,
};

struct rm_block {
    uint32_t magic;
    uint32_t header_crc;
    uint32_t payload_crc;
    uint8_t kind;
    uint8_t codec;
    uint16_t turn_epoch;
    uint32_t object;
    uint32_t sequence;
    uint32_t file_id;
    uint32_t count;
    uint32_t stored_bytes, plain_bytes;
    uint64_t first_turn;
    uint64_t first_tai_ns, last_tai_ns;
};

struct rm_block_place {
    struct rm_block block;
    uint64_t offset;
    uint64_t number;
};

struct rm_archived_object {
    char name[RM_NAME_BYTES];
    uint32_t kind;
    uint32_t record_bytes;
    uint64_t period_turns;
    uint32_t lane_count;
    uint32_t instrument_kind;
    uint32_t instrument_id;
    uint32_t calibrated;
    double group_delay_turns, closing_delay_turns, gain;
    char filter[RM_LANE_NAME_BYTES];
    struct rm_lane_info lane[RM_LANES];
};

struct rm_reduced {
    rm_turn turn;
    uint32_t present, missing;
};

struct rm_archived_image {
    uint64_t sequence;
    uint64_t number, device_time;
    uint64_t turn;
    uint64_t exposure_start_ns, exposure_end_ns;
    uint64_t tai_ns, last_tai_ns, closed_tai_ns, published_tai_ns;
    uint64_t length;
    uint64_t passed_over;
    uint32_t map_bytes;
    uint32_t pixel_format, width, height, offset_x, offset_y, padding_x, padding_y;
    uint32_t status, flags;
    uint32_t fragment_bytes, fragments, placed, resent;
    uint32_t reserved32[2];
    uint64_t reserved[4];
};

enum rm_mark_reason {
    RM_MARK_BEGAN = 1,
    RM_MARK_LAPPED = 2,
    RM_MARK_DISK_FULL = 3,
    RM_MARK_DISK_SLOW = 4,
    RM_MARK_DISK_FAILED = 5,
    RM_MARK_RESTARTED = 6,
    RM_MARK_OWNER_GONE = 7,
    RM_MARK_REOPENED = 8,
    RM_MARK_CLOCK_STEPPED = 9,
};

struct rm_mark {
    uint32_t reason;
    int32_t error;
    uint64_t first_turn, last_turn;
    uint64_t records;
};
""",
    "archive_read.h": """
struct rm_archive;

enum {
    RM_ARCHIVE_PATH_BYTES = 1024,
    RM_ARCHIVE_TEXT_BYTES = 192,
};

struct rm_archive_file {
    char path[RM_ARCHIVE_PATH_BYTES];
    struct rm_log_header header;
    uint64_t bytes, read_bytes;
    uint32_t sealed;
    uint32_t reserved;
};

struct rm_archive_block {
    struct rm_block block;
    uint64_t offset;
    uint32_t file;
    uint32_t run;
    uint64_t number;
};

struct rm_archive_run {
    uint64_t first_turn, last_turn;
    uint64_t first_tai_ns, last_tai_ns;
    uint32_t turn_epoch;
    int32_t tai_minus_utc_s;
};

struct rm_archive_object {
    struct rm_archived_object is;
    char log[RM_LOG_NAME_BYTES];
    struct rm_archive_block const *block;
    struct rm_archive_run const *run;
    uint32_t block_count, run_count;
    uint64_t records;
    uint64_t stored_bytes, plain_bytes;
};

struct rm_archive_mark {
    struct rm_mark mark;
    char log[RM_LOG_NAME_BYTES];
    uint32_t object;
    uint32_t turn_epoch;
    uint64_t tai_ns;
    int32_t tai_minus_utc_s;
    uint32_t reserved;
};

struct rm_archive_damage {
    char path[RM_ARCHIVE_PATH_BYTES];
    uint64_t offset, bytes;
    char what[RM_ARCHIVE_TEXT_BYTES];
};

struct rm_archive_foreign {
    char path[RM_ARCHIVE_PATH_BYTES];
    char what[RM_ARCHIVE_TEXT_BYTES];
};

enum rm_archive_result {
    RM_ARCHIVE_OK = 0,
    RM_ARCHIVE_MISSING = 2,
    RM_ARCHIVE_NOT_RECORDED = 5,
    RM_ARCHIVE_DAMAGED = 6,
};

struct rm_archive_request {
    uint32_t object;
    uint32_t run;
    uint64_t first_turn;
    uint64_t count;
};

struct rm_archive_answer {
    void *records;
    uint8_t *results;
    uint64_t *tai_ns;
    uint64_t *utc_ns;
};

struct rm_archive_range {
    uint32_t run;
    uint32_t reserved;
    uint64_t first_turn;
    uint64_t count;
};

enum rm_time_scale {
    RM_TIME_TAI = 0,
    RM_TIME_UTC = 1,
};

enum rm_code rm_archive_open(char const *path, struct rm_archive **archive, struct rm_error *error);

enum rm_code rm_archive_refresh(struct rm_archive *archive, struct rm_error *error);

void rm_archive_close(struct rm_archive *archive);

uint32_t rm_archive_object_count(struct rm_archive const *archive);
struct rm_archive_object const *rm_archive_object_at(struct rm_archive const *archive, uint32_t object);

enum rm_code rm_archive_find(struct rm_archive const *archive, char const *name, uint32_t kind, uint64_t period_turns,
                             uint32_t *object, struct rm_error *error);

struct rm_archive_file const *rm_archive_files(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_mark const *rm_archive_marks(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_damage const *rm_archive_damages(struct rm_archive const *archive, uint32_t *count);
struct rm_archive_foreign const *rm_archive_foreigns(struct rm_archive const *archive, uint32_t *count);

enum rm_code rm_archive_read(struct rm_archive *archive, struct rm_archive_request const *request,
                             struct rm_archive_answer const *answer, struct rm_error *error);

uint32_t rm_archive_between(struct rm_archive const *archive, uint32_t object, enum rm_time_scale scale,
                            uint64_t from_ns, uint64_t until_ns, struct rm_archive_range *ranges, uint32_t most);

enum rm_code rm_archive_payload(struct rm_archive *archive, uint32_t object, uint32_t block, void *bytes,
                                struct rm_error *error);

enum rm_image_order {
    RM_IMAGE_BY_TAI = 0,
    RM_IMAGE_BY_UTC = 1,
    RM_IMAGE_BY_TURN = 2,
    RM_IMAGE_BY_NUMBER = 3,
};

struct rm_archive_image {
    struct rm_archived_image is;
    uint64_t const *map;
    uint8_t const *bytes;
};

uint32_t rm_archive_images_between(struct rm_archive const *archive, uint32_t object, enum rm_image_order order,
                                   uint64_t from, uint64_t until, uint32_t *blocks, uint32_t most);

enum rm_code rm_archive_image(struct rm_archive *archive, uint32_t object, uint32_t block, void *payload,
                              struct rm_archive_image *image, struct rm_error *error);

uint32_t rm_crc32c(void const *data, size_t bytes);

size_t rm_archive_size_of(char const *name);
""",
    "clock.h": """
struct rm_clock;

struct rm_clock_reading {
    bool anchored;
    uint64_t turn_epoch;
    rm_turn turn;
    uint64_t turn_tsc;
    double ticks_per_turn;
    double residual_ticks;
    double tsc_hz;
    uint64_t tai_tsc;
    uint64_t tai_ns;
    double measured_ticks_per_turn;
    bool supported;
};

bool rm_clock_read(struct rm_clock const *clock, struct rm_clock_reading *reading);

bool rm_clock_look(struct rm_clock const *clock, struct rm_clock_reading *reading);

rm_turn rm_clock_turn(struct rm_clock_reading const *reading, uint64_t tsc);

uint64_t rm_clock_tsc(struct rm_clock_reading const *reading, rm_turn turn);

uint64_t rm_clock_tai_ns(struct rm_clock_reading const *reading, uint64_t tsc);
""",
    "error.h": """
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
""",
    "grant.h": """
enum rm_application_state {
    RM_APPLICATION_ABSENT = 0,
    RM_APPLICATION_JOINED = 1,
    RM_APPLICATION_RUNNING = 2,
    RM_APPLICATION_STALLED = 3,
    RM_APPLICATION_DEAD = 4,
};

enum rm_refusal {
    RM_REFUSED_NOTHING = 0,
    RM_REFUSED_GRANT = 1,
    RM_REFUSED_STALE = 2,
    RM_REFUSED_FUTURE = 3,
    RM_REFUSED_NUMBER = 4,
    RM_REFUSED_LOW = 5,
    RM_REFUSED_HIGH = 6,
    RM_REFUSED_SLEW = 7,
    RM_REFUSED_OWNERSHIP = 8,
    RM_REFUSED_FAULT = 9,
};

enum rm_stop_action {
    RM_STOP_HOLD = 0,
    RM_STOP_RAMP = 1,
};

struct rm_offence;

struct rm_grant;

struct rm_grant_reading {
    uint64_t grant_number;
    uint64_t instance;
    uint64_t pid;
    enum rm_application_state state;
    uint64_t since_tai_ns;
    uint64_t stalls;
    uint64_t restarts;
};

struct rm_offence_reading {
    enum rm_refusal refusal;
    uint64_t actuator;
    double value, limit;
    rm_turn turn;
    uint64_t vector;
    uint64_t tai_ns;
};

bool rm_grant_read(struct rm_grant const *grant, struct rm_grant_reading *reading);
bool rm_offence_read(struct rm_offence const *offence, struct rm_offence_reading *reading);
""",
    "group.h": """
struct rm_group;

void rm_group_begin(struct rm_group *group);
void rm_group_commit(struct rm_group *group, struct rm_stamp stamp);

bool rm_group_enter(struct rm_group const *group, uint64_t *seen);

bool rm_group_leave(struct rm_group const *group, uint64_t seen);
""",
    "images.h": """
enum {
    RM_IMAGE_SLOTS_MAX = 64,
    RM_IMAGE_SLOTS_OWN = 5,
};

enum rm_image_status {
    RM_IMAGE_WHOLE = 0,
    RM_IMAGE_INCOMPLETE = 1,
    RM_IMAGE_FILLED = 2,
};

enum rm_image_marks {
    RM_IMAGE_HAS_GEOMETRY = 1,
    RM_IMAGE_HAS_TURN = 2,
    RM_IMAGE_TURN_SENT = 4,
    RM_IMAGE_GEOMETRY_CHANGED = 8,
    RM_IMAGE_HAS_EXPOSURE = 16,
};

struct rm_image_slot;

struct rm_images;

struct rm_images_view {
    struct rm_images const *header;
    struct rm_image_slot const *slot;
    uint64_t const *maps;
    uint8_t const *bytes;
    uint64_t map_bytes, frame_bytes, lease_base;
    uint32_t slot_count, lease_count;
    struct rm_segment_header const *segment;
    uint64_t device, inode;
    char lease_path[256];
};

struct rm_frame {
    uint64_t sequence;
    struct rm_image_slot const *slot;
    uint8_t const *bytes;
    uint64_t const *map;
    uint64_t passed_over;
    uint32_t ticket;
};

enum rm_frame_read {
    RM_FRAME_OK = 0,
    RM_FRAME_NOT_YET,
    RM_FRAME_NO_LEASE,
    RM_FRAME_ENDED,
};

struct rm_images_reader;

enum rm_code rm_images_reader_new(struct rm_images_view const *view, struct rm_images_reader **reader,
                                  struct rm_error *error);

void rm_images_begin_after(struct rm_images_reader *reader, uint64_t sequence);

void rm_images_reader_free(struct rm_images_reader *reader);

enum rm_frame_read rm_images_next(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame);

enum rm_frame_read rm_images_newest(struct rm_images_reader *reader, uint64_t timeout_ns, struct rm_frame *frame);

void rm_images_release(struct rm_images_reader *reader, struct rm_frame *frame);

uint32_t rm_images_wait(struct rm_images_reader *const *readers, uint32_t count, uint64_t timeout_ns);
""",
    "lattice.h": """
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
""",
    "owner.h": """
struct rm_owner;

typedef size_t rm_owner_index;

struct rm_parameter_plan {
    char const *name;
    char const *unit;
    char const *description;
    enum rm_element_type type;
    size_t rows, columns;
    struct rm_limits const *limits;
    struct rm_conversion const *conversion;
    unsigned flags;
    char const *group;
};

struct rm_rows_plan {
    char const *name;
    char const *unit;
    char const *description;
    uint64_t width;
    uint64_t depth;
    uint64_t period;
    double axis_first, axis_step;
    char const *axis_name, *axis_unit;
    double group_delay_turns;
};

struct rm_images_plan {
    char const *name;
    char const *description;
    uint32_t slots, leases;
    uint64_t frame_bytes;
    uint32_t fragments_max;
};

enum rm_code rm_owner_new(char const *workspace, char const *name, struct rm_owner **owner, struct rm_error *error);

enum rm_code rm_owner_new_requester(char const *workspace, char const *name, struct rm_owner **owner,
                                    struct rm_error *error);

rm_owner_index rm_owner_parameter(struct rm_owner *owner, struct rm_parameter_plan const *plan);

rm_owner_index rm_owner_group(struct rm_owner *owner, char const *name, char const *description);

rm_owner_index rm_owner_setpoints(struct rm_owner *owner, char const *name, char const *description,
                                  size_t actuator_count);

rm_owner_index rm_owner_counters(struct rm_owner *owner, char const *name, char const *description, unsigned set,
                                 size_t count);

rm_owner_index rm_owner_stream(struct rm_owner *owner, char const *name, char const *description,
                               struct rm_stream const *stream);

rm_owner_index rm_owner_rows(struct rm_owner *owner, struct rm_rows_plan const *plan);

rm_owner_index rm_owner_images(struct rm_owner *owner, struct rm_images_plan const *plan);

rm_owner_index rm_owner_histogram(struct rm_owner *owner, char const *name, char const *description, char const *unit);

rm_owner_index rm_owner_standby_orders(struct rm_owner *owner, char const *name, char const *description);

rm_owner_index rm_owner_state(struct rm_owner *owner, char const *name, char const *description, uint64_t capacity);

rm_owner_index rm_owner_requests(struct rm_owner *owner);
rm_owner_index rm_owner_replies(struct rm_owner *owner);

enum rm_code rm_owner_open(struct rm_owner *owner, struct rm_error *error);

void *rm_owner_memory(struct rm_owner const *owner, rm_owner_index index);

bool rm_owner_stream_put(struct rm_owner *owner, rm_owner_index index, struct rm_record const *record, uint64_t tsc);

bool rm_owner_rows_put(struct rm_owner *owner, rm_owner_index index, rm_turn turn, uint32_t quality,
                       float const *values, uint64_t tsc);

struct rm_parameter *rm_owner_find(struct rm_owner const *owner, char const *name);

struct rm_segment_header const *rm_owner_header(struct rm_owner const *owner);

bool rm_owner_adopted(struct rm_owner const *owner);

void rm_owner_close(struct rm_owner *owner);
""",
    "parameter.h": """
enum rm_severity {
    RM_SEVERITY_NONE = 0,
    RM_SEVERITY_MINOR = 1,
    RM_SEVERITY_MAJOR = 2,
    RM_SEVERITY_INVALID = 3,
};

struct rm_limits {
    double display_low, display_high;
    double control_low, control_high;
    double minor_low, minor_high;
    double major_low, major_high;
    double hysteresis;
};

struct rm_conversion {
    char unit[RM_UNIT_BYTES];
    double c[4];
};

enum rm_parameter_flags {
    RM_PARAMETER_WRITABLE = 1,
    RM_PARAMETER_SETTING = 2,
    RM_PARAMETER_ALARMS = 4,
};

enum { RM_PARAMETER_INLINE_BYTES = 32 };

struct rm_parameter;

struct rm_stamp {
    uint64_t tai_ns;
    rm_turn turn;
};

struct rm_parameter_reading {
    uint64_t sequence;
    uint64_t timestamp_tai_ns;
    rm_turn turn;
    enum rm_severity severity;
};

size_t rm_parameter_read(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

size_t rm_parameter_copy(struct rm_parameter const *parameter, void const *values, size_t bytes, void *copy,
                         struct rm_parameter_reading *reading);

size_t rm_parameter_look(struct rm_parameter const *parameter, void *values, size_t bytes,
                         struct rm_parameter_reading *reading);

double rm_parameter_read_f64(struct rm_parameter const *parameter);

void rm_parameter_write(struct rm_parameter *parameter, void const *values, size_t bytes, struct rm_stamp stamp);

void rm_parameter_write_f64(struct rm_parameter *parameter, double value, struct rm_stamp stamp);

void rm_parameter_invalidate(struct rm_parameter *parameter, struct rm_stamp stamp);

struct rm_stamp rm_stamp_now(void);

enum rm_severity rm_severity_of(struct rm_limits const *limits, double value, enum rm_severity before);

double rm_convert(struct rm_conversion const *conversion, double value);
double rm_convert_back(struct rm_conversion const *conversion, struct rm_limits const *limits, double other);

bool rm_conversion_is_good(struct rm_conversion const *conversion, struct rm_limits const *limits);
""",
    "pixels.h": """
struct rm_pixels {
    char const *name;
    uint32_t bits;
    uint32_t bytes;
};

bool rm_pixels_find(uint32_t pixel_format, struct rm_pixels *pixels);

uint64_t rm_pixels_line_bytes(uint32_t pixel_format, uint32_t width);

bool rm_pixels_unpack(uint32_t pixel_format, uint32_t width, uint32_t height, uint32_t padding_x, uint8_t const *bytes,
                      uint64_t length, uint16_t *values);
""",
    "record.h": """
typedef uint64_t rm_turn;

union rm_lane {
    int32_t i;
    float f;
};

struct rm_record;

struct rm_slot;
""",
    "request.h": """
enum {
    RM_REQUEST_SLOTS = 16,
    RM_REPLY_SLOTS = 64,
    RM_REQUEST_VALUE_BYTES = 4096,
};

enum rm_requesters { RM_REQUESTERS_PER_USER = 256, RM_REQUESTERS_MAX = 1024 };

enum rm_verdict {
    RM_VERDICT_DONE = 1,
    RM_VERDICT_REFUSED = 2,
};

struct rm_request_slot;

struct rm_requests;

struct rm_reply_slot;

struct rm_replies;

struct rm_reply {
    enum rm_verdict verdict;
    uint64_t timestamp_tai_ns;
    char reason[RM_REASON_BYTES];
};

enum rm_code rm_requests_post(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t first, void const *values, size_t bytes, uint64_t *number,
                              struct rm_error *error);

bool rm_requests_reply(struct rm_owner const *owner, struct rm_workspace *workspace, char const *to, uint64_t number,
                       struct rm_reply *reply);

enum rm_code rm_requests_wait(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                              uint64_t number, uint64_t timeout_ns, struct rm_reply *reply, struct rm_error *error);

enum rm_code rm_requests_put(struct rm_owner *owner, struct rm_workspace *workspace, char const *parameter,
                             uint64_t first, void const *values, size_t bytes, uint64_t timeout_ns,
                             struct rm_reply *reply, struct rm_error *error);

struct rm_inbox;

struct rm_request {
    char requester[RM_OWNER_BYTES];
    uint64_t requester_generation;
    uint32_t requester_uid;
    uint64_t number;
    char parameter[RM_NAME_BYTES];
    uint64_t first;
    uint64_t bytes;
    uint64_t timestamp_tai_ns;
    uint8_t value[RM_REQUEST_VALUE_BYTES];
};

enum rm_code rm_inbox_new(struct rm_owner *owner, struct rm_inbox **inbox, struct rm_error *error);
void rm_inbox_free(struct rm_inbox *inbox);

void rm_inbox_look(struct rm_inbox *inbox);

bool rm_inbox_take(struct rm_inbox *inbox, struct rm_request *request);

void rm_inbox_answer(struct rm_inbox *inbox, struct rm_request const *request, enum rm_verdict verdict,
                     char const *reason);

bool rm_inbox_judge(struct rm_inbox *inbox, struct rm_request const *request, struct rm_parameter **parameter,
                    char reason[RM_REASON_BYTES]);

void rm_inbox_apply(struct rm_inbox *inbox, struct rm_request const *request, struct rm_stamp stamp);

void rm_inbox_wait(struct rm_inbox *inbox, uint64_t timeout_ns);
""",
    "rows.h": """
enum rm_rows_lane {
    RM_ROWS_QUALITY = 0,
};

struct rm_rows;

struct rm_rows_view {
    struct rm_rows const *header;
    struct rm_stream_view stream;
    void const *values;
    uint64_t width, row_bytes;
    char const *unit;
};

enum rm_read rm_rows_read(struct rm_rows_view const *view, rm_turn turn, struct rm_record *record, float *values);

size_t rm_rows_read_results(struct rm_rows_view const *view, rm_turn first, size_t count, struct rm_record *records,
                            uint8_t *results, float *values, struct rm_stream_look *look);
""",
    "segment.h": """
enum rm_segment_state {
    RM_SEGMENT_BUILDING = 0,
    RM_SEGMENT_LIVE = 1,
    RM_SEGMENT_CLOSED = 2,
    RM_SEGMENT_REPLACED = 3,
};

struct rm_segment_header;

enum rm_object_kind {
    RM_OBJECT_STREAM = 1,
    RM_OBJECT_SETPOINTS = 3,
    RM_OBJECT_PARAMETER = 4,
    RM_OBJECT_COUNTERS = 5,
    RM_OBJECT_CLOCK = 6,
    RM_OBJECT_HISTOGRAM = 7,
    RM_OBJECT_TEXT = 8,
    RM_OBJECT_GROUP = 9,
    RM_OBJECT_REQUESTS = 10,
    RM_OBJECT_REPLIES = 11,
    RM_OBJECT_GRANT = 12,
    RM_OBJECT_INTENDED = 13,
    RM_OBJECT_ROWS = 14,
    RM_OBJECT_IMAGES = 15,
    RM_OBJECT_STANDBY_STATE = 16,
    RM_OBJECT_STANDBY_ORDERS = 17,
    RM_OBJECT_STATE = 18,
};

enum rm_element_type {
    RM_ELEMENT_RECORD = 1,
    RM_ELEMENT_F64 = 2,
    RM_ELEMENT_F32 = 3,
    RM_ELEMENT_I64 = 4,
    RM_ELEMENT_I32 = 5,
    RM_ELEMENT_U64 = 6,
    RM_ELEMENT_U32 = 7,
    RM_ELEMENT_U8 = 8,
};

struct rm_object {
    char name[RM_NAME_BYTES];
    char unit[RM_UNIT_BYTES];
    char description[RM_DESCRIPTION_BYTES];
    uint32_t kind;
    uint32_t element_type;
    uint64_t shape[2];
    uint64_t offset;
    uint64_t bytes;
    uint32_t variety;
    uint32_t reserved32;
    uint64_t reserved[7];
};
""",
    "setpoint.h": """
enum { RM_SETPOINT_BUFFERS = 3, RM_SETPOINT_INLINE = 4 };

struct rm_setpoint_vector;

struct rm_setpoints {
    uint64_t vectors_offset;
    uint64_t vector_bytes;
    uint64_t actuator_count;
    uint64_t reserved[5];
};

struct rm_setpoint_vector *rm_setpoints_begin(struct rm_setpoints *setpoints);

void rm_setpoints_commit(struct rm_setpoint_vector *vector, uint64_t grant_number, rm_turn input_turn, uint64_t tsc);

struct rm_setpoints_place {
    uint64_t next;
};

struct rm_setpoint_reading {
    uint64_t number;
    uint64_t grant_number;
    rm_turn input_turn;
    uint64_t tsc;
};

bool rm_setpoints_copy(struct rm_setpoints const *setpoints, size_t vector_bytes, struct rm_setpoints_place *place,
                       struct rm_setpoint_reading *reading, double *values, size_t count);
""",
    "simd.h": """
enum rm_simd {
    RM_SIMD_BEST,
    RM_SIMD_SCALAR,
    RM_SIMD_AVX2,
    RM_SIMD_AVX512,
};
""",
    "standby.h": """
enum {
    RM_TERM_MAX = 65535,
    RM_TERM_WARNS = 60000,
};

enum rm_standby_role {
    RM_STANDBY_MAINTENANCE = 0,
    RM_STANDBY_JOINING = 1,
    RM_STANDBY_READY = 2,
    RM_STANDBY_ACTIVE = 3,
    RM_STANDBY_FAULT = 4,
};

enum rm_standby_reason {
    RM_STANDBY_STARTED = 0,
    RM_STANDBY_BEGAN = 1,
    RM_STANDBY_TOOK_OVER = 2,
    RM_STANDBY_SWITCHED = 3,
    RM_STANDBY_DEPOSED = 4,
    RM_STANDBY_UNANSWERED = 5,
    RM_STANDBY_LINK_LOST = 6,
    RM_STANDBY_COPIED = 7,
    RM_STANDBY_DIFFERS = 8,
    RM_STANDBY_HELD = 9,
    RM_STANDBY_REFUSED = 10,
    RM_STANDBY_NO_TERM = 11,
    RM_STANDBY_DEAF = 12,
};

struct rm_standby_state;

struct rm_standby_orders;

struct rm_standby_state_reading {
    enum rm_standby_role role;
    enum rm_standby_reason reason;
    uint64_t term, highest_term;
    rm_turn turn, since_turn;
    uint64_t instance, with_us;
    bool unacknowledged;
    uint64_t swap_cycles;
    rm_turn switch_turn;
    uint64_t since_tai_ns;
};

struct rm_standby_orders_reading {
    bool synchronised, hold, refused, peer_unacknowledged;
    rm_turn synchronised_turn;
    uint64_t acknowledged;
    rm_turn switch_turn;
    uint64_t peer_role;
    uint64_t peer_term;
    rm_turn peer_turn;
    uint64_t beat;
    bool planned_only;
};

bool rm_standby_state_look(struct rm_standby_state const *state, struct rm_standby_state_reading *reading);
bool rm_standby_orders_look(struct rm_standby_orders const *orders, struct rm_standby_orders_reading *reading);
""",
    "state.h": """
struct rm_state;

struct rm_state_reading {
    rm_turn turn;
    uint64_t steps;
    uint64_t bytes, checksum;
};

void *rm_state_begin(struct rm_state *state);
void rm_state_commit(struct rm_state *state, struct rm_state_reading const *reading);

bool rm_state_copy(struct rm_state const *state, void *bytes, uint64_t capacity, struct rm_state_reading *reading);
""",
    "stream.h": """
enum rm_instrument_kind {
    RM_KIND_BPM = 1,
    RM_KIND_BLM = 2,
    RM_KIND_LLRF = 3,
    RM_KIND_PHOTON_BPM = 4,
    RM_KIND_INTERLOCK = 5,
    RM_KIND_POWER_SUPPLY = 6,
    RM_KIND_APPLICATION = 7,
};

enum rm_lane_type {
    RM_LANE_UNUSED = 0,
    RM_LANE_I32 = 1,
    RM_LANE_F32 = 2,
};

enum rm_reduction {
    RM_REDUCE_FIR = 0,
    RM_REDUCE_LAST = 1,
    RM_REDUCE_OR = 2,
    RM_REDUCE_AND = 3,
    RM_REDUCE_MIN = 4,
    RM_REDUCE_MAX = 5,
};

enum rm_calibrated {
    RM_CALIBRATED_NOT = 0,
    RM_CALIBRATED_IN_READING = 1,
    RM_CALIBRATED_IN_STREAM = 2,
};

struct rm_lane_info {
    char name[RM_LANE_NAME_BYTES];
    char unit[RM_UNIT_BYTES];
    uint32_t type;
    uint32_t reduction;
    uint32_t reserved[6];
};

struct rm_stream;

struct rm_stream_view {
    struct rm_stream const *header;
    struct rm_slot const *slot;
    uint64_t mask;
    uint64_t period;
};

enum rm_read {
    RM_READ_OK = 0,
    RM_READ_NOT_YET,
    RM_READ_MISSING,
    RM_READ_LAPPED,
    RM_READ_BEFORE,
};

int rm_stream_lane(struct rm_stream const *stream, char const *name);

rm_turn rm_stream_oldest(struct rm_stream_view const *view, rm_turn head, uint64_t slack);

enum rm_read rm_stream_read(struct rm_stream_view const *view, rm_turn turn, struct rm_record *record);

size_t rm_stream_read_window(struct rm_stream_view const *view, rm_turn first, size_t count, struct rm_record *records);

struct rm_stream_look {
    uint64_t turn_epoch;
    rm_turn head, first;
    uint64_t published_tsc;
};

void rm_stream_look(struct rm_stream_view const *view, struct rm_stream_look *look);

bool rm_stream_still_valid(struct rm_stream_view const *view, rm_turn first, struct rm_stream_look const *look);

size_t rm_stream_read_results(struct rm_stream_view const *view, rm_turn first, size_t count, struct rm_record *records,
                              uint8_t *results, struct rm_stream_look *look);

bool rm_stream_wait(struct rm_stream_view const *view, rm_turn turn, uint64_t timeout_ns);

char const *rm_read_text(enum rm_read result);
""",
    "twin.h": """
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

enum rm_strength_kind {
    RM_STRENGTH_NORMAL,
    RM_STRENGTH_SKEW,
    RM_STRENGTH_KICK_HORIZONTAL,
    RM_STRENGTH_KICK_VERTICAL,
    RM_STRENGTH_FREQUENCY,
};

struct rm_strength {
    uint32_t element;
    enum rm_strength_kind kind;
    uint32_t order;
    uint32_t reserved;
};

enum rm_code rm_twin_set_strengths(struct rm_twin *twin, struct rm_strength const *strengths, double const *values,
                                   uint32_t count, struct rm_error *error);

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

struct rm_ring_state {
    struct rm_optics_summary optics;
    struct rm_envelope_summary envelope;
    double orbit_at_start[6];
};

enum rm_code rm_twin_optics_and_envelope(struct rm_twin const *twin, struct rm_optics_options const *options,
                                         uint32_t const *refpts, uint32_t refpt_count, struct rm_ring_state *state,
                                         struct rm_optics *optics, struct rm_envelope *envelope,
                                         struct rm_error *error);

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

enum rm_code rm_twin_response_factors(struct rm_twin const *twin, struct rm_response_options const *options,
                                      uint32_t const *refpts, uint32_t refpt_count, struct rm_steerer const *steerers,
                                      uint32_t steerer_count, uint32_t const *magnets, uint32_t magnet_count,
                                      enum rm_component component, double *left, double *right, struct rm_error *error);

size_t rm_twin_size_of(char const *name);
""",
    "workspace.h": """
struct rm_workspace;

enum rm_attach_flags {
    RM_ATTACH_DEAD = 1,
    RM_ATTACH_SERVERLESS = 2,
};

enum rm_code rm_workspace_attach(char const *name, unsigned flags, struct rm_workspace **workspace,
                                 struct rm_error *error);

void rm_workspace_detach(struct rm_workspace *workspace);

bool rm_workspace_alive(struct rm_workspace const *workspace);

char const *rm_workspace_cut(struct rm_workspace const *workspace);

uint64_t rm_workspace_generation(struct rm_workspace const *workspace);

size_t rm_workspace_object_count(struct rm_workspace const *workspace);
struct rm_object const *rm_workspace_object(struct rm_workspace const *workspace, size_t index, void const **memory);

enum rm_code rm_workspace_find(struct rm_workspace const *workspace, enum rm_object_kind kind, char const *name,
                               struct rm_object const **object, void const **memory, struct rm_error *error);

bool rm_workspace_owner_alive(struct rm_workspace const *workspace, void const *memory);

enum rm_code rm_workspace_stream(struct rm_workspace const *workspace, char const *name, struct rm_stream_view *view,
                                 struct rm_error *error);

enum rm_code rm_workspace_rows(struct rm_workspace const *workspace, char const *name, struct rm_rows_view *view,
                               struct rm_error *error);

enum rm_code rm_workspace_images(struct rm_workspace const *workspace, char const *name, struct rm_images_view *view,
                                 struct rm_error *error);
""",
}
