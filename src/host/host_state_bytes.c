// SPDX-License-Identifier: Apache-2.0
#include "host/host_state_bytes.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "host/host_checksum.h"

static uint64_t const MAGIC = 0x6574617473206D72; /* "rm state", as it lies in memory */

enum {
    VERSION = 1,
    WORD = sizeof(uint64_t),
};

/** What must be alike on both sides: the order of `state_alike`. */
enum { ALIKE = 10 };
static char const *const ALIKE_WORDS[ALIKE] = {
    "bytes of state", "values of settings", "values of readings",      "streams", "values of rows",
    "inputs",         "supplies",           "turns from step to step", "runs",    "as the checksum of all names"};

struct state_head {
    /** Of all that is behind it. */
    uint64_t checksum;
    uint64_t magic, version;
    uint64_t bytes;
    uint64_t alike[ALIKE];
    uint64_t turn, steps, generation;
    struct rm_exchange exchange;
    /** Bytes of `pack`, which stand last. */
    uint64_t packed;
};

static size_t state_whole_words(size_t bytes) { return (bytes + WORD - 1) / WORD * WORD; }

/* ── what must be alike ── */

static void state_add_name(struct rm_checksum *sum, char const *name) {
    for (char const *at = name; at != NULL && *at != '\0'; ++at)
        sum->lane[0] = rm_checksum_mix(sum->lane[0], (uint8_t)*at);
    sum->lane[0] = rm_checksum_mix(sum->lane[0], 0);
}

static uint64_t state_names(struct rm_host_program const *program) {
    struct rm_application_code const *code = program->code.it;
    struct rm_checksum sum = rm_checksum_begin();
    state_add_name(&sum, program->setup.name);
    for (uint32_t i = 0; i < code->setting_count; ++i)
        state_add_name(&sum, code->settings[i].name);
    for (uint32_t i = 0; i < code->reading_count; ++i)
        state_add_name(&sum, code->readings[i].name);
    for (uint32_t i = 0; i < code->stream_count; ++i)
        state_add_name(&sum, code->streams[i].name);
    for (uint32_t i = 0; i < program->setup.input_count; ++i)
        state_add_name(&sum, program->setup.input[i]);
    for (uint32_t i = 0; i < program->setup.actuator_count; ++i)
        state_add_name(&sum, program->actuator[i]);
    return rm_checksum_end(&sum);
}

static uint64_t state_row_values(struct rm_host_program const *program) {
    uint64_t values = 0;
    for (uint32_t i = 0; i < program->rows.count; ++i)
        values += program->rows.shape[i].width;
    return values;
}

static void state_alike(struct rm_host_program const *program, uint64_t alike[ALIKE]) {
    struct rm_application_code const *code = program->code.it;
    uint64_t const mine[ALIKE] = {
        code->state_bytes,
        program->setting_values,
        program->reading_values,
        code->stream_count,
        state_row_values(program),
        program->setup.input_count,
        program->setup.actuator_count,
        program->setup.period_turns,
        code->takes_runs,
        state_names(program),
    };
    memcpy(alike, mine, sizeof mine);
}

/* ── the parts between head and `pack` ── */

/** Copies part by part, out or in: one order for both ways. */
struct state_copy {
    uint8_t *out;
    uint8_t const *in;
    size_t at;
};

static void state_copy_part(struct state_copy *copy, void *memory, size_t bytes) {
    if (copy->out != NULL)
        memcpy(copy->out + copy->at, memory, bytes);
    else if (copy->in != NULL)
        memcpy(memory, copy->in + copy->at, bytes);
    copy->at += state_whole_words(bytes);
}

/** `setting` and `setpoint` are where these are, or go to. */
static void state_copy_parts(struct state_copy *copy, struct rm_host_program const *program, double *setting,
                             double *setpoint, struct rm_record *record) {
    struct rm_application_code const *code = program->code.it;
    uint32_t const actuators = program->setup.actuator_count;
    state_copy_part(copy, setpoint, actuators * sizeof *setpoint);
    state_copy_part(copy, setting, program->setting_values * sizeof *setting);
    state_copy_part(copy, program->sent, actuators * sizeof *program->sent);
    state_copy_part(copy, program->reading, program->reading_values * sizeof *program->reading);
    state_copy_part(copy, program->stream, code->stream_count * sizeof *program->stream);
    for (uint32_t i = 0; i < program->rows.count; ++i) {
        state_copy_part(copy, &program->rows.row[i].quality, sizeof program->rows.row[i].quality);
        state_copy_part(copy, program->rows.value[i], program->rows.shape[i].width * sizeof **program->rows.value);
    }
    state_copy_part(copy, record, program->setup.input_count * sizeof *record);
    state_copy_part(copy, program->state, code->state_bytes);
}

static size_t state_parts_bytes(struct rm_host_program const *program) {
    struct state_copy copy = {.at = sizeof(struct state_head)};
    state_copy_parts(&copy, program, NULL, NULL, NULL);
    return copy.at;
}

enum rm_code rm_host_state_can_be_saved(struct rm_host_program const *program, struct rm_error *error) {
    struct rm_application_code const *code = program->code.it;
    if (code->open == NULL || (code->pack != NULL && code->unpack != NULL))
        return RM_OK;
    return rm_fail(
        error, RM_E_CONFIG,
        "the application \"%s\" cannot be followed on a standby server: its code has `open`, and no `pack` and "
        "`unpack` that copy what it keeps",
        program->setup.name);
}

static size_t state_pack(struct rm_host_program const *program, void *bytes, size_t room) {
    return program->code.it->pack != NULL ? program->code.it->pack(&program->passed, program->state, bytes, room) : 0;
}

size_t rm_host_state_room(struct rm_host_program const *program) {
    return state_parts_bytes(program) + state_whole_words(state_pack(program, NULL, 0));
}

/* ── saving ── */

static uint64_t state_checksum(uint8_t const *bytes, size_t count) {
    struct rm_checksum sum = rm_checksum_begin();
    rm_checksum_add(&sum, bytes + WORD, count / WORD - 1);
    return rm_checksum_end(&sum);
}

/** A command that comes with what was sent: the last one was no number. */
static void state_mark_unset(struct rm_host_program const *program, uint8_t *setpoint) {
    double const none = NAN;
    for (uint32_t i = 0; program->is_expected && i < program->setup.actuator_count; ++i)
        if (program->unset[i])
            memcpy(setpoint + i * sizeof none, &none, sizeof none);
}

size_t rm_host_state_save(struct rm_host_program const *program, struct rm_host_decisions const *decisions,
                          struct rm_record const *record, void *bytes, size_t room) {
    size_t const before = state_parts_bytes(program);
    uint8_t *const out = bytes;
    if (!program->has_stepped || room < before)
        return 0;
    struct state_copy copy = {.out = out, .at = sizeof(struct state_head)};
    /* Copied out: nothing is written there. */
    state_copy_parts(&copy, program, decisions->journal.stepped, program->command.setpoint, (struct rm_record *)record);
    state_mark_unset(program, out + sizeof(struct state_head));
    struct state_head head = {
        .magic = MAGIC,
        .version = VERSION,
        .turn = program->given.turn,
        .steps = program->steps,
        .generation = decisions->journal.stepped_generation,
        .exchange = program->command.exchange,
        .packed = state_pack(program, out + before, room - before),
    };
    if (head.packed > room - before)
        return 0; /* the application has written beyond what it said, or not at all */
    head.bytes = before + state_whole_words(head.packed);
    memset(out + before + head.packed, 0, head.bytes - before - head.packed);
    state_alike(program, head.alike);
    memcpy(out, &head, sizeof head);
    head.checksum = state_checksum(out, head.bytes);
    memcpy(out, &head.checksum, sizeof head.checksum);
    return head.bytes;
}

/* ── restoring ── */

static enum rm_code state_check_alike(struct rm_host_program const *program, struct state_head const *head,
                                      struct rm_error *error) {
    uint64_t mine[ALIKE];
    state_alike(program, mine);
    for (unsigned i = 0; i < ALIKE; ++i)
        if (head->alike[i] != mine[i])
            return rm_fail(
                error, RM_E_CONFIG,
                "the copied state of \"%s\" has %llu %s, and the application here has %llu: expected the same "
                "application and configuration on both servers",
                program->setup.name, (unsigned long long)head->alike[i], ALIKE_WORDS[i], (unsigned long long)mine[i]);
    return RM_OK;
}

enum rm_code rm_host_state_check(struct rm_host_program const *program, void const *bytes, size_t count,
                                 struct rm_host_state_place *place, struct rm_error *error) {
    struct state_head head;
    char const *const name = program->setup.name;
    if (count < sizeof head)
        return rm_fail(error, RM_E_ARGUMENT, "the copied state of \"%s\" has %zu bytes, expected %zu at least", name,
                       count, sizeof head);
    memcpy(&head, bytes, sizeof head);
    if (head.magic != MAGIC)
        return rm_fail(error, RM_E_ARGUMENT, "the copied state of \"%s\" does not begin as one", name);
    if (head.version != VERSION)
        return rm_fail(
            error, RM_E_VERSION,
            "the copied state of \"%s\" is of version %llu, expected %d: run the same version of Ringmaster on "
            "both servers",
            name, (unsigned long long)head.version, VERSION);
    if (head.bytes != count || count % WORD != 0 || state_checksum(bytes, count) != head.checksum)
        return rm_fail(error, RM_E_ARGUMENT, "the copied state of \"%s\" is damaged: copy it again", name);
    enum rm_code const code = state_check_alike(program, &head, error);
    if (code != RM_OK)
        return code;
    size_t const before = state_parts_bytes(program);
    if (before > count || head.packed > count - before)
        return rm_fail(error, RM_E_ARGUMENT,
                       "the copied state of \"%s\" has %zu bytes, expected %zu and %llu of its own", name, count,
                       before, (unsigned long long)head.packed);
    *place = (struct rm_host_state_place){head.turn, head.steps, (uint32_t)head.generation};
    return RM_OK;
}

static enum rm_code state_unpack(struct rm_host_program const *program, void const *bytes, size_t count,
                                 struct rm_error *error) {
    struct rm_error reason = {.code = RM_E_CONFIG, .text = "unpack failed and does not say why"};
    if (program->code.it->unpack == NULL ||
        program->code.it->unpack(&program->passed, program->state, bytes, count, &reason) == RM_OK)
        return RM_OK;
    return rm_fail(error, RM_E_CONFIG, "the application does not take the copied state of \"%s\": %s",
                   program->setup.name, reason.text);
}

enum rm_code rm_host_state_restore(struct rm_host_program *program, struct rm_host_decisions *decisions,
                                   struct rm_record *record, void const *bytes, size_t count,
                                   struct rm_host_state_place *place, struct rm_error *error) {
    struct state_head head;
    enum rm_code code = rm_host_state_check(program, bytes, count, place, error);
    if (code != RM_OK)
        return code;
    memcpy(&head, bytes, sizeof head);
    /* Settings first, because `init` sees them; and all of it again behind `init`, which begins anew. */
    struct state_copy copy = {.in = bytes, .at = sizeof head};
    state_copy_parts(&copy, program, program->setting, program->wanted, record);
    code = rm_host_program_init(program, error);
    if (code != RM_OK)
        return code;
    copy.at = sizeof head;
    state_copy_parts(&copy, program, program->setting, program->wanted, record);
    program->command.setpoint = program->wanted;
    program->command.exchange = head.exchange;
    program->given.turn = head.turn;
    program->steps = head.steps;
    program->has_stepped = true;
    program->is_expected = false;
    rm_host_decisions_begin(decisions, decisions->grant_number);
    decisions->has_stepped = true;
    return state_unpack(program, (uint8_t const *)bytes + copy.at, head.packed, error);
}
