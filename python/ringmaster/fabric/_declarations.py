# SPDX-License-Identifier: Apache-2.0
"""Made by tools/generate_declarations.py from include/ringmaster: change the headers there.

error.h, abi.h, record.h, segment.h, clock.h, stream.h, parameter.h, group.h, setpoint.h, grant.h, owner.h, workspace.h,
request.h.
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

typedef uint64_t rm_turn;

union rm_lane {
    int32_t i;
    float f;
};

struct rm_record;

struct rm_slot;

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

struct rm_group;

void rm_group_begin(struct rm_group *group);
void rm_group_commit(struct rm_group *group, struct rm_stamp stamp);

bool rm_group_enter(struct rm_group const *group, uint64_t *seen);

bool rm_group_leave(struct rm_group const *group, uint64_t seen);

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

rm_owner_index rm_owner_histogram(struct rm_owner *owner, char const *name, char const *description, char const *unit);

rm_owner_index rm_owner_requests(struct rm_owner *owner);
rm_owner_index rm_owner_replies(struct rm_owner *owner);

enum rm_code rm_owner_open(struct rm_owner *owner, struct rm_error *error);

void *rm_owner_memory(struct rm_owner const *owner, rm_owner_index index);

bool rm_owner_stream_put(struct rm_owner *owner, rm_owner_index index, struct rm_record const *record, uint64_t tsc);

struct rm_parameter *rm_owner_find(struct rm_owner const *owner, char const *name);

struct rm_segment_header const *rm_owner_header(struct rm_owner const *owner);

bool rm_owner_adopted(struct rm_owner const *owner);

void rm_owner_close(struct rm_owner *owner);

struct rm_workspace;

enum rm_attach_flags {
    RM_ATTACH_DEAD = 1,
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

enum rm_code rm_workspace_stream(struct rm_workspace const *workspace, char const *name, struct rm_stream_view *view,
                                 struct rm_error *error);

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
"""
