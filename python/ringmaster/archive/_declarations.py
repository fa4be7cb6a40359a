# SPDX-License-Identifier: Apache-2.0
"""Made by tools/generate_declarations.py from include/ringmaster: change the headers there.

error.h, abi.h, record.h, stream.h, archive.h, archive_read.h.
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

enum {
    RM_LOG_HEADER_BYTES = 4096,
    RM_BLOCK_ALIGNMENT = 64,
    RM_LOG_NAME_BYTES = 32,
    RM_BLOCK_PAYLOAD_MAX = 16 << 20,
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
};

enum rm_block_codec {
    RM_CODEC_PLAIN = 0,
    RM_CODEC_DELTA_BLOSC = 1,
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
    uint64_t reserved;
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
    double group_delay_turns, gain;
    char filter[RM_LANE_NAME_BYTES];
    struct rm_lane_info lane[RM_LANES];
};

struct rm_reduced {
    rm_turn turn;
    uint32_t present, missing;
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

uint32_t rm_crc32c(void const *data, size_t bytes);

size_t rm_archive_size_of(char const *name);
"""
