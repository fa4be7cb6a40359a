// SPDX-License-Identifier: Apache-2.0
#include "stepping.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "engine/application_setup.h"
#include "figures.h"
#include "host/host_state_bytes.h"
#include "pair.h"

enum { GRANT_NUMBER = 1 };

/** A copy takes a while: it goes beside the records of the cycles. */
static uint64_t const COPY_NS = 1000000;

static struct rm_record *pair_decision_of(struct rm_pair_stepping const *stepping, uint64_t cycle) {
    return stepping->decision + (size_t)(cycle % RM_PAIR_SAID_CYCLES) * stepping->streams;
}

static void stepping_put(void *context, uint32_t stream, struct rm_record const *record, uint64_t tsc) {
    struct rm_pair_stepping *const stepping = context;
    (void)tsc;
    if (stepping->puts != 0)
        pair_decision_of(stepping, stepping->puts)[stream] = *record;
}

/* ── where a follower reads ── */

/** Streams of a decision record, by what they hold: host_decision.h has their order. */
static uint32_t decision_stream(struct rm_host_decisions const *decisions, enum rm_obey_stream stream,
                                uint32_t number) {
    switch (stream) {
    case RM_OBEY_DECISION:
        return RM_DECISION_STREAM;
    case RM_OBEY_ADOPTED:
        return RM_ADOPTED_STREAM;
    case RM_OBEY_MISSING:
        return RM_FIRST_MASK_STREAM + number;
    case RM_OBEY_SENT:
        return RM_FIRST_MASK_STREAM + decisions->masks + number;
    case RM_OBEY_UNFINISHED:
    case RM_OBEY_INPUT:
        break;
    }
    return RM_FIRST_MASK_STREAM + decisions->masks + decisions->groups + number;
}

static enum rm_obey_look stepping_input(struct rm_pair *pair, uint32_t server, uint32_t input, uint64_t cycle,
                                        struct rm_record const **record) {
    if (cycle > pair->cycle)
        return RM_OBEY_COMES;
    if (cycle + RM_PAIR_SAID_CYCLES <= pair->cycle || !rm_pair_hears(pair, server, cycle, input))
        return RM_OBEY_IS_NOWHERE;
    *record = &rm_pair_records(pair, cycle)[input];
    return RM_OBEY_IS_THERE;
}

/** The oldest cycle of the peer's that may still come. */
static uint64_t stepping_oldest(struct rm_pair_server const *server) {
    uint64_t const kept =
        server->peer_cycle < RM_PAIR_SAID_CYCLES / 2 ? 0 : server->peer_cycle - RM_PAIR_SAID_CYCLES / 2;
    return kept > server->peer_first ? kept : server->peer_first;
}

static enum rm_obey_look stepping_at(void *context, enum rm_obey_stream stream, uint32_t number, rm_turn turn,
                                     struct rm_record const **record) {
    struct rm_pair_server *const server = context;
    struct rm_pair *const pair = server->pair;
    uint64_t const cycle = turn / pair->config->setpoints.period_turns;
    if (stream == RM_OBEY_INPUT)
        return stepping_input(pair, server->index, number, cycle, record);
    struct rm_pair_said const *const said = rm_pair_server_word_of(pair, server, cycle);
    if (said == NULL)
        return cycle < stepping_oldest(server) ? RM_OBEY_IS_NOWHERE : RM_OBEY_COMES;
    if (said->role != RM_STANDBY_ACTIVE)
        return RM_OBEY_IS_NOWHERE;
    struct rm_pair_stepping const *const peer = &pair->server[1 - server->index].stepping;
    *record = &pair_decision_of(peer, cycle)[decision_stream(&peer->decisions, stream, number)];
    return (*record)->turn == turn ? RM_OBEY_IS_THERE : RM_OBEY_IS_NOWHERE;
}

static enum rm_obey_look stepping_next(void *context, enum rm_obey_stream stream, rm_turn *turn,
                                       struct rm_record const **record) {
    struct rm_pair_server *const server = context;
    struct rm_pair *const pair = server->pair;
    rm_turn const period = pair->config->setpoints.period_turns;
    uint64_t cycle = (*turn + period - 1) / period;
    if (cycle < stepping_oldest(server))
        cycle = stepping_oldest(server);
    for (; cycle <= server->peer_cycle; ++cycle) {
        enum rm_obey_look const look = stepping_at(context, stream, 0, cycle * period, record);
        if (look == RM_OBEY_IS_NOWHERE)
            continue;
        *turn = cycle * period;
        return look;
    }
    *turn = cycle * period;
    return RM_OBEY_COMES;
}

/* ── life ── */

static enum rm_code stepping_load(struct rm_pair *pair, struct rm_pair_stepping *stepping, struct rm_error *error) {
    struct rm_host_setup setup;
    enum rm_code code = rm_application_setup_make(pair->config, pair->application, &setup, error);
    if (code != RM_OK)
        return code;
    setup.workspace = NULL;
    code = rm_host_program_open(&setup, &stepping->program, error);
    rm_application_setup_free(&setup);
    for (uint32_t i = 0; code == RM_OK && i < pair->feed.count; ++i) {
        stepping->program->input[i] = &pair->feed.input[i].stream;
        code = rm_host_program_takes(stepping->program, i, pair->feed.input[i].stream.period, error);
    }
    if (code == RM_OK && stepping->program->code.it->takes_runs != 0)
        code = rm_fail(error, RM_E_CONFIG, "application \"%s\" takes runs, which a pair in simulated time has not",
                       pair->setup->application);
    return code == RM_OK ? rm_host_state_can_be_saved(stepping->program, error) : code;
}

/** What lasts over all lives is made with the first one. */
static bool stepping_make_room(struct rm_pair const *pair, struct rm_pair_stepping *stepping) {
    size_t const inputs = pair->feed.count + 1ul;
    if (stepping->decision != NULL)
        return true;
    stepping->streams = stepping->decisions.stream_count;
    stepping->decision = rm_zeroed((size_t)RM_PAIR_SAID_CYCLES * stepping->streams, sizeof *stepping->decision);
    stepping->record = rm_zeroed(inputs, sizeof *stepping->record);
    stepping->missing = calloc(inputs, sizeof *stepping->missing);
    stepping->copy.room = rm_host_state_room(stepping->program);
    stepping->copy.bytes = malloc(stepping->copy.room);
    return stepping->decision && stepping->record && stepping->missing && stepping->copy.bytes;
}

enum rm_code rm_pair_stepping_begin(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    rm_pair_stepping_end(stepping);
    if (pair->setup->application == NULL)
        return RM_OK;
    enum rm_code code = stepping_load(pair, stepping, error);
    if (code != RM_OK)
        return code;
    stepping->decisions = (struct rm_host_decisions){.put = stepping_put, .context = stepping};
    bool good = rm_host_decisions_open(&stepping->decisions, stepping->program) && stepping_make_room(pair, stepping);
    for (uint32_t i = 0; good && i < pair->feed.count; ++i)
        stepping->record[i] = (struct rm_record){.turn = RM_TURN_NONE};
    stepping->follow =
        (struct rm_host_follow){.obey = {.source = {.at = stepping_at, .next = stepping_next, .context = server},
                                         .program = stepping->program,
                                         .decisions = &stepping->decisions,
                                         .record = stepping->record,
                                         .missing = stepping->missing}};
    stepping->needs_copy = false; /* it may begin with the first step of both */
    if (good && rm_host_follow_open(&stepping->follow))
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE, "no memory for application \"%s\"", pair->setup->application);
}

void rm_pair_stepping_end(struct rm_pair_stepping *stepping) {
    if (stepping->program == NULL)
        return;
    rm_host_follow_close(&stepping->follow);
    rm_host_decisions_close(&stepping->decisions);
    rm_host_program_close(stepping->program);
    stepping->program = NULL;
    stepping->has_begun = stepping->has_changed = false;
    stepping->copy.since = 0;
}

void rm_pair_stepping_free(struct rm_pair_stepping *stepping) {
    rm_pair_stepping_end(stepping);
    free(stepping->decision);
    free(stepping->record);
    free(stepping->missing);
    free(stepping->copy.bytes);
    *stepping = (struct rm_pair_stepping){0};
}

/* ── leading ── */

static uint32_t stepping_gather(struct rm_pair *pair, struct rm_pair_server *server) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    uint32_t missing = 0;
    for (uint32_t i = 0; i < pair->feed.count; ++i) {
        stepping->missing[i] = !rm_pair_hears(pair, server->index, server->cycle, i);
        missing += stepping->missing[i];
        if (stepping->missing[i])
            continue;
        stepping->record[i] = rm_pair_records(pair, server->cycle)[i];
        rm_host_program_arrive(stepping->program, i, &stepping->record[i]);
    }
    return missing;
}

/** What the guard sent last. */
static void stepping_look_at_sent(struct rm_pair const *pair, struct rm_pair_server const *server) {
    struct rm_config_application const *const own = &pair->config->application[pair->application];
    for (uint32_t i = 0; i < own->supply_count; ++i)
        server->stepping.program->sent[i] = (double)server->sent[own->supply[i]];
}

static void stepping_vector(struct rm_pair *pair, struct rm_pair_server *server, rm_turn turn, double const *values) {
    struct rm_setpoint_reading const vector = {
        .number = server->stepping.vectors++, .grant_number = GRANT_NUMBER, .input_turn = turn};
    (void)rm_guard_vector(server->guard, pair->application, &vector, values, turn);
}

/** Settings that were changed are the step's. More than can be told wait. */
static void stepping_adopt(struct rm_pair_stepping *stepping) {
    if (stepping->has_changed && rm_host_journal_has_room(&stepping->decisions.journal)) {
        rm_host_decisions_adopt(&stepping->decisions);
        stepping->has_changed = false;
    }
}

static void stepping_record(struct rm_pair_server *server, bool sends, uint32_t setpoints) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    struct rm_record *const put = pair_decision_of(stepping, server->cycle);
    for (uint32_t i = 0; i < stepping->streams; ++i)
        put[i].turn = RM_TURN_NONE;
    stepping->puts = server->cycle;
    rm_host_decisions_record(&stepping->decisions,
                             &(struct rm_host_outcome){.committed = sends, .setpoints = setpoints});
    stepping->puts = 0;
}

enum rm_code rm_pair_stepping_renew(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    if (stepping->program == NULL)
        return RM_OK;
    stepping_look_at_sent(pair, server);
    stepping->has_begun = true;
    stepping->needs_copy = false;
    enum rm_code const code = rm_host_program_init(stepping->program, error);
    if (code == RM_OK)
        rm_host_decisions_begin(&stepping->decisions, GRANT_NUMBER);
    return code;
}

enum rm_code rm_pair_stepping_lead(struct rm_pair *pair, struct rm_pair_server *server, struct rm_error *error) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    struct rm_host_program *const program = stepping->program;
    enum rm_code code = RM_OK;
    if (program == NULL)
        return RM_OK;
    if (!stepping->has_begun)
        code = rm_pair_stepping_renew(pair, server, error);
    if (code != RM_OK)
        return code;
    rm_turn const turn = rm_pair_turn(pair, server->cycle);
    stepping_adopt(stepping);
    stepping_look_at_sent(pair, server);
    rm_host_program_expect(program, NULL);
    uint32_t const missing = stepping_gather(pair, server);
    bool const sends =
        rm_host_program_step(program, turn, stepping->record, stepping->missing, missing) == RM_STEP_SEND;
    if (sends)
        stepping_vector(pair, server, turn, program->command.setpoint);
    uint32_t const setpoints = rm_host_decisions_setpoints(&stepping->decisions, sends);
    rm_host_program_prepare(program);
    stepping_record(server, sends, setpoints);
    rm_host_program_work(program);
    stepping->turn = turn;
    ++stepping->steps;
    return RM_OK;
}

void rm_pair_stepping_set(struct rm_pair *pair, struct rm_pair_server *server, char const *setting, double value) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    struct rm_error error;
    if (stepping->program == NULL || stepping->has_changed)
        return;
    enum rm_code const code = rm_host_program_set(stepping->program, setting, 0, &value, 1, &error);
    if (code == RM_OK)
        stepping->has_changed = true;
    else if (pair->code == RM_OK)
        pair->code = rm_fail(pair->error, code, "%s", error.text);
}

/* ── following ── */

uint64_t rm_pair_stepping_follow(struct rm_pair *pair, struct rm_pair_server *server, uint64_t end) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    uint64_t const period = pair->config->setpoints.period_turns;
    if (stepping->needs_copy)
        return 0;
    while (stepping->follow.obey.next < end * period) {
        uint64_t const differences = stepping->follow.differences;
        enum rm_host_followed const followed = rm_host_follow_step(&stepping->follow, &stepping->told);
        if (followed == RM_FOLLOW_WAITING)
            break;
        if (followed == RM_FOLLOW_NEEDS_COPY || stepping->follow.differences != differences) {
            bool const named = followed == RM_FOLLOW_NEEDS_COPY;
            stepping->needs_copy = true;
            stepping->differences += !named;
            stepping->named += named;
            if (!named)
                rm_pair_say_difference(pair, server);
            return 0;
        }
        rm_host_program_work(stepping->program);
        if (stepping->told.committed)
            stepping_vector(pair, server, stepping->told.turn, stepping->told.setpoint);
        stepping->turn = stepping->told.turn;
        stepping->has_begun = true;
        ++stepping->followed;
    }
    return stepping->follow.obey.next / period;
}

void rm_pair_stepping_copy(struct rm_pair *pair, struct rm_pair_server *server) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    struct rm_pair_copy *const copy = &stepping->copy;
    uint64_t at;
    if (stepping->program == NULL || !stepping->has_begun ||
        (copy->since != 0 && server->cycle < copy->since + (uint64_t)(3.0 * (double)COPY_NS / pair->period_ns)))
        return;
    copy->count =
        rm_host_state_save(stepping->program, &stepping->decisions, stepping->record, copy->bytes, copy->room);
    copy->life = server->life;
    copy->since = server->cycle;
    if (copy->count != 0 && rm_pair_network_pass(&pair->network, server->index, RM_PAIR_TO_PEER, RM_PAIR_ALL_CHAINS,
                                                 pair->now_ns + COPY_NS, &at))
        rm_pair_post(pair, (struct rm_pair_event){.time_ns = at,
                                                  .kind = RM_PAIR_COPY,
                                                  .whom = 1 - server->index,
                                                  .what = (uint32_t)server->life,
                                                  .cycle = server->cycle});
}

uint64_t rm_pair_stepping_restore(struct rm_pair *pair, struct rm_pair_server *server, struct rm_pair_copy *copy) {
    struct rm_pair_stepping *const stepping = &server->stepping;
    struct rm_host_state_place place;
    struct rm_error error;
    if (stepping->program == NULL || !stepping->needs_copy)
        return 0;
    enum rm_code const code = rm_host_state_restore(stepping->program, &stepping->decisions, stepping->record,
                                                    copy->bytes, copy->count, &place, &error);
    if (code != RM_OK) {
        pair->code = pair->code == RM_OK ? rm_fail(pair->error, code, "%s", error.text) : pair->code;
        return 0;
    }
    rm_host_follow_begin(&stepping->follow, place.turn, place.generation);
    rm_host_program_work(stepping->program); /* what was asked of it before */
    stepping->has_begun = true;
    stepping->needs_copy = false;
    stepping->turn = place.turn;
    ++stepping->copies;
    return place.turn / pair->config->setpoints.period_turns + 1;
}
