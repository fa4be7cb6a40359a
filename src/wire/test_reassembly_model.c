// SPDX-License-Identifier: Apache-2.0
#include "wire/test_reassembly_model.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "wire/ipv4.h"
#include "wire/network_order.h"
#include "wire/reassembly.h"

enum { SLOTS = 3, LONGEST = 200, KEYS = 16, TIMEOUT = 100, FRAME_MOST = 14 + 4 + 24 + 256 + 8, UNKNOWN = -1 };

struct model_datagram {
    bool live;
    uint64_t since;
    uint64_t number;       /**< in the order in which they began */
    int16_t byte[LONGEST]; /**< or UNKNOWN */
    uint32_t reach, total;
};

struct play {
    uint8_t const *script;
    size_t left;
    struct rm_reassembly *reassembly;
    struct model_datagram model[KEYS];
    uint64_t now, begun, given_up;
    uint32_t key, end; /**< of the last fragment */
    struct model_seen *seen;
};

/** One fragment as the script has it. */
struct wanted {
    uint32_t key;
    uint32_t first, length;
    bool more, tagged, options;
    uint8_t content[256 + 8];
};

static uint8_t next(struct play *play) {
    if (play->left == 0)
        return 0;
    --play->left;
    return *play->script++;
}

/** The datagram of `key` carries these bytes, unless they are bent: its UDP header says a length that some of its
 * possible totals have, and its checksum is absent. */
static uint8_t content_of(uint32_t key, uint32_t at) {
    static uint8_t const header[8] = {0x12, 0x34, 0x12, 0x35, 0, 0, 0, 0};
    if (at == 5)
        return (uint8_t)(16 + key % 8 * 8);
    return at < 8 ? header[at] : (uint8_t)(at * 7 + key);
}

/** One of these: of any datagram; behind the last one; anywhere in the same datagram. */
static struct wanted next_wanted(struct play *play, unsigned command) {
    uint8_t const shape = next(play), place = next(play), length = next(play);
    bool const behind = command >= 1 && command <= 4 && play->end % 8 == 0 && play->end <= 256;
    play->key = command == 0 ? shape % KEYS : play->key;
    struct wanted wanted = {
        .key = play->key,
        .first = behind ? play->end : place % 32 * 8u,
        .length = length % 2 ? length : length / 2 % 8 * 8u,
        .more = place & 0x80,
        .tagged = play->key & 8,
        .options = shape & 0x10,
    };
    play->end = wanted.first + wanted.length;
    for (uint32_t i = 0; i < wanted.length; ++i)
        wanted.content[i] = content_of(wanted.key, wanted.first + i);
    if ((shape & 0xE0) == 0xE0 && wanted.length != 0)
        wanted.content[place * 13u % wanted.length] ^= 1;
    return wanted;
}

/** The frame that carries `content`: whole, or a fragment. Header checksums are not set: reassembly does not look. */
static uint32_t write_frame(uint8_t *frame, struct wanted const *wanted, uint8_t const *content, uint32_t length,
                            uint16_t fragment) {
    static uint8_t const mac[6] = {2};
    uint32_t const at = rm_ethernet_write(frame, mac, mac, wanted->tagged ? 7 : 0, ETHERTYPE_IPV4);
    uint32_t const header = wanted->options ? 24 : 20;
    uint8_t *const ipv4 = frame + at;
    memset(ipv4, 1, header);
    ipv4[0] = (uint8_t)(0x40 | header / 4);
    rm_store16(ipv4 + IPV4_TOTAL_LENGTH, (uint16_t)(header + length));
    rm_store16(ipv4 + IPV4_IDENTIFICATION, (uint16_t)(wanted->key % 2));
    rm_store16(ipv4 + IPV4_FRAGMENT, fragment);
    ipv4[IPV4_PROTOCOL] = PROTOCOL_UDP;
    rm_store32(ipv4 + IPV4_SOURCE, 0x0A000001 + wanted->key / 2 % 2);
    rm_store32(ipv4 + IPV4_DESTINATION, 0x0A00FF01 + wanted->key / 4 % 2);
    memcpy(ipv4 + header, content, length);
    return at + header + length;
}

static void model_give_up(struct play *play, struct model_datagram *datagram) {
    datagram->live = false;
    ++play->given_up;
}

static void model_begin(struct play *play, struct model_datagram *datagram) {
    struct model_datagram *oldest = NULL;
    unsigned live = 0;
    for (uint32_t i = 0; i < KEYS; ++i) {
        if (!play->model[i].live)
            continue;
        ++live;
        if (oldest == NULL || play->model[i].number < oldest->number)
            oldest = &play->model[i];
    }
    if (live == SLOTS)
        model_give_up(play, oldest);
    *datagram = (struct model_datagram){.live = true, .since = play->now, .number = ++play->begun};
    for (uint32_t i = 0; i < LONGEST; ++i)
        datagram->byte[i] = UNKNOWN;
}

static bool model_takes(struct model_datagram const *datagram, struct wanted const *wanted) {
    uint32_t const end = wanted->first + wanted->length;
    if (datagram->total != 0 && (wanted->more ? end >= datagram->total : end != datagram->total))
        return false;
    if (!wanted->more && end <= datagram->reach)
        return false;
    uint32_t known = 0, equal = 0;
    for (uint32_t i = 0; i < wanted->length; ++i) {
        int16_t const there = datagram->byte[wanted->first + i];
        known += there != UNKNOWN;
        equal += there == wanted->content[i];
    }
    return known == 0 || equal == wanted->length;
}

/** The verdict: RM_PORT_DECODED stands for whole. */
static enum rm_port_counter model_put(struct play *play, struct model_datagram *datagram, struct wanted const *wanted) {
    uint32_t const end = wanted->first + wanted->length;
    if (datagram->live && play->now - datagram->since >= TIMEOUT)
        model_give_up(play, datagram);
    bool const possible = wanted->length != 0 && end <= LONGEST && !(wanted->more && end % 8);
    if (possible && !datagram->live)
        model_begin(play, datagram);
    if (!possible || !model_takes(datagram, wanted)) {
        datagram->live = false;
        return RM_PORT_BAD_FRAGMENT;
    }
    for (uint32_t i = 0; i < wanted->length; ++i)
        datagram->byte[wanted->first + i] = wanted->content[i];
    if (!wanted->more)
        datagram->total = end;
    else if (end > datagram->reach)
        datagram->reach = end;
    for (uint32_t i = 0; i < datagram->total; ++i)
        if (datagram->byte[i] == UNKNOWN)
            return RM_PORT_FRAGMENT;
    if (datagram->total == 0)
        return RM_PORT_FRAGMENT;
    datagram->live = false;
    return RM_PORT_DECODED;
}

static bool same(struct rm_datagram const *a, struct rm_datagram const *b) {
    return a->length == b->length && a->source_ipv4 == b->source_ipv4 && a->destination_ipv4 == b->destination_ipv4 &&
           a->source_port == b->source_port && a->destination_port == b->destination_port && a->vlan == b->vlan &&
           memcmp(a->payload, b->payload, a->length) == 0;
}

/** What came out whole, against the same bytes in one frame. */
static char const *check_whole(struct model_datagram const *model, struct wanted const *wanted,
                               enum rm_port_counter verdict, struct rm_datagram const *datagram) {
    uint8_t frame[FRAME_MOST], content[LONGEST];
    for (uint32_t i = 0; i < model->total; ++i)
        content[i] = (uint8_t)model->byte[i];
    uint32_t const length = write_frame(frame, wanted, content, model->total, 0);
    struct rm_datagram expected;
    if (rm_frame_parse(frame, length, true, &expected) != verdict) {
        /* With `true` checksums are not looked at: then that of UDP must be what was wrong. */
        return verdict == RM_PORT_BAD_UDP_CHECKSUM && rm_load_memory16(content + 6) != 0
                   ? NULL
                   : "a whole datagram has another verdict than unfragmented";
    }
    return verdict != RM_PORT_DECODED || same(datagram, &expected) ? NULL : "a whole datagram is another one";
}

static char const *play_fragment(struct play *play, unsigned command) {
    struct wanted const wanted = next_wanted(play, command);
    uint8_t frame[FRAME_MOST];
    uint16_t const fragment = (uint16_t)(wanted.first / 8 | (wanted.more ? MORE_FRAGMENTS : 0));
    uint32_t const length = write_frame(frame, &wanted, wanted.content, wanted.length, fragment);
    uint8_t *const exact = malloc(length);
    if (exact == NULL)
        return "no memory";
    memcpy(exact, frame, length);
    struct rm_datagram datagram;
    enum rm_port_counter const verdict = rm_reassembly_put(play->reassembly, exact, length, play->now, &datagram);
    free(exact);
    struct model_datagram *const model = &play->model[wanted.key];
    enum rm_port_counter const expected = model_put(play, model, &wanted);
    play->seen->put_by += verdict == RM_PORT_FRAGMENT;
    play->seen->refused += verdict == RM_PORT_BAD_FRAGMENT;
    play->seen->whole += verdict == RM_PORT_DECODED;
    play->seen->wrong += verdict == RM_PORT_TRUNCATED || verdict == RM_PORT_BAD_UDP_CHECKSUM;
    if (expected == RM_PORT_DECODED)
        return check_whole(model, &wanted, verdict, &datagram);
    return verdict == expected ? NULL : "another verdict than the model's";
}

static char const *play_time(struct play *play, uint8_t by) {
    play->now += by;
    if (by % 2)
        return NULL;
    for (uint32_t i = 0; i < KEYS; ++i)
        if (play->model[i].live && play->now - play->model[i].since >= TIMEOUT)
            model_give_up(play, &play->model[i]);
    uint64_t const expected = play->given_up;
    play->given_up = 0;
    play->seen->given_up += (uint32_t)expected;
    return rm_reassembly_expire(play->reassembly, play->now) == expected ? NULL : "not as many given up";
}

char const *model_play(uint8_t const *script, size_t length, struct model_seen *seen) {
    struct play play = {.script = script, .left = length, .seen = seen, .now = 1000};
    play.reassembly = rm_reassembly_new(SLOTS, LONGEST, TIMEOUT);
    if (play.reassembly == NULL)
        return "no memory";
    char const *broken = NULL;
    while (broken == NULL && play.left > 0) {
        uint8_t const command = next(&play);
        broken = command % 8 == 7 ? play_time(&play, command / 8) : play_fragment(&play, command % 8);
    }
    rm_reassembly_free(play.reassembly);
    return broken;
}
