// SPDX-License-Identifier: Apache-2.0
/* What the instruments say, and which server hears it. */
#include <math.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/zeroed.h"
#include "pair.h"

enum rm_code rm_pair_instruments_open(struct rm_pair *pair, struct rm_error *error) {
    struct rm_config const *const config = pair->config;
    if (pair->setup->application == NULL)
        return RM_OK;
    enum rm_code code = rm_application_find(config, pair->setup->application, &pair->application, error);
    if (code == RM_OK && config->application[pair->application].period_turns != config->setpoints.period_turns)
        code = rm_fail(error, RM_E_CONFIG,
                       "application \"%s\" steps every %u turns, and setpoints go every %u: a pair "
                       "in simulated time needs both alike",
                       pair->setup->application, (unsigned)config->application[pair->application].period_turns,
                       config->setpoints.period_turns);
    if (code == RM_OK)
        code = rm_feed_open(config, pair->application, &pair->plant, &pair->feed, error);
    if (code != RM_OK)
        return code;
    if (pair->feed.closing_turns != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "application \"%s\" has decimated inputs, which a pair in simulated time has "
                       "not: give it raw ones",
                       pair->setup->application);
    pair->heard_words = pair->feed.count / 64 + 1;
    pair->records = rm_zeroed((size_t)RM_PAIR_SAID_CYCLES * (pair->feed.count + 1), sizeof *pair->records);
    pair->dropped = calloc(pair->feed.count + 1ul, sizeof *pair->dropped);
    bool good = pair->records != NULL && pair->dropped != NULL;
    for (uint32_t s = 0; good && s < RM_PAIR_SERVERS; ++s) {
        pair->heard[s] = calloc((size_t)RM_PAIR_SAID_CYCLES * pair->heard_words, sizeof *pair->heard[s]);
        good = pair->heard[s] != NULL;
    }
    return good ? RM_OK : rm_fail(error, RM_E_NO_SPACE, "no memory for %u inputs", pair->feed.count);
}

void rm_pair_instruments_close(struct rm_pair *pair) {
    rm_feed_close(&pair->feed);
    free(pair->records);
    free(pair->dropped);
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        free(pair->heard[s]);
}

static uint64_t *pair_heard_of(struct rm_pair const *pair, uint32_t server, uint64_t cycle) {
    return pair->heard[server] + (size_t)(cycle % RM_PAIR_SAID_CYCLES) * pair->heard_words;
}

bool rm_pair_hears(struct rm_pair const *pair, uint32_t server, uint64_t cycle, uint32_t input) {
    return (pair_heard_of(pair, server, cycle)[input / 64] >> input % 64 & 1) != 0;
}

/** Which of the inputs come in time to this server. */
static void pair_hear(struct rm_pair *pair, uint32_t s, uint64_t cycle) {
    struct rm_pair_server *const server = &pair->server[s];
    struct rm_pair_way const *const way = &pair->network.way[s][RM_PAIR_FROM_INSTRUMENTS];
    bool const deaf = !server->alive || server->stopped || way->cut || way->held_ns != 0;
    uint64_t *const heard = pair->application != 0 ? pair_heard_of(pair, s, cycle) : NULL;
    if (!deaf)
        server->heard_instruments = cycle;
    for (uint32_t w = 0; heard != NULL && w < pair->heard_words; ++w)
        heard[w] = deaf ? 0 : UINT64_MAX;
    for (uint32_t i = 0; heard != NULL && !deaf && way->loss > 0 && i < pair->feed.count; ++i)
        if (rm_pair_draw(&pair->network.key) < way->loss + way->late)
            heard[i / 64] &= ~(1ull << i % 64);
}

/** RMS of the readings, as the beam's instruments have them in lane 0, in nm. */
static double pair_orbit_nm(struct rm_pair const *pair, struct rm_record const *record) {
    double sum = 0;
    for (uint32_t i = 0; i < pair->feed.count; ++i)
        sum += (double)record[i].lane[0].i * (double)record[i].lane[0].i;
    return sqrt(sum / (double)pair->feed.count);
}

enum rm_code rm_pair_instruments_read(struct rm_pair *pair, uint64_t cycle, struct rm_error *error) {
    enum rm_code code = RM_OK;
    if (pair->application != 0 && pair->feed.count != 0) {
        struct rm_record *const record = rm_pair_records(pair, cycle);
        code = rm_feed_gather(&pair->feed, &pair->plant, rm_pair_turn(pair, cycle), record, pair->dropped, error);
        rm_pair_tally_orbit(&pair->tally, pair->now_ns, pair_orbit_nm(pair, record));
    }
    for (uint32_t s = 0; s < RM_PAIR_SERVERS; ++s)
        pair_hear(pair, s, cycle);
    return code;
}
