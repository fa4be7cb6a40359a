// SPDX-License-Identifier: Apache-2.0
/** libFuzzer target: bytes are a script of datagrams, whole, bent or raw, and of time that goes by, for a receive role
 * with three instruments on two queues. After every burst all counters must add up (rig_broken); at the end every
 * record that a reader can see is one that was sent.
 *
 * One command is one byte, its low three bits the verb, the others its argument. A script is played over and over to
 * the same role, until so many datagrams have come: to make a role takes as long as hundreds of them. At its end the
 * fuzzer says how many came in all.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timebase.h"
#include "engine/test_receive_rig.h"
#include "wire/frame.h"
#include "wire/native.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size);

/** Datagrams of all executions. At file scope because libFuzzer hands no state from one to the next. */
static uint64_t datagrams;

enum verb {
    SEND,      /**< the next turn of the instruments whose bit is set, 1 to 4 times over */
    SEND_NEAR, /**< a turn near the next one: the next byte is a signed distance */
    SEND_FAR,  /**< any turn: the next eight bytes */
    BEND,      /**< a whole frame with bytes replaced: pairs of offset and value follow */
    RAW,       /**< the next bytes as they are, as a frame or as a payload */
    WAIT,      /**< time goes by: 2 to the power of the argument, in ticks */
    JUMP,      /**< the machine's counter is set to the next eight bytes, cut to so many bits */
    POLL,
};

enum { INSTRUMENTS = 3, CAPACITY = 1024, CHAIN_CAPACITY = 128, STEPS_MAX = 2000, DATAGRAMS = 500 };

struct script {
    uint8_t const *data;
    size_t left;
    struct receive_rig *rig;
    rm_turn turn;
    bool values_known; /**< nothing was bent: every record is what its turn says */
};

static void require(char const *broken) {
    if (broken == NULL)
        return;
    fprintf(stderr, "broken: %s\n", broken);
    abort();
}

static uint8_t next(struct script *script) {
    if (script->left == 0)
        return 0;
    --script->left;
    return *script->data++;
}

static uint64_t next_word(struct script *script) {
    uint64_t word = 0;
    for (int i = 0; i < 8; ++i)
        word = word << 8 | next(script);
    return word;
}

static void send_next(struct script *script, unsigned argument) {
    for (unsigned times = 0; times <= argument >> 3; ++times) {
        for (uint32_t i = 0; i < INSTRUMENTS; ++i)
            if (argument >> i & 1)
                rig_send(script->rig, i, script->turn);
        ++script->turn;
        rig_set_tsc(rm_tsc() + RIG_TICKS_PER_TURN);
    }
}

static void send_bent(struct script *script, unsigned argument) {
    uint8_t frame[256] = {0};
    uint32_t const length = rig_frame(script->rig, argument % INSTRUMENTS, script->turn, frame);
    for (unsigned changes = 1 + argument / 8; changes > 0; --changes) {
        uint8_t const offset = next(script);
        frame[offset % length] = next(script);
    }
    script->rig->port[0]->checksum_good = argument >> 2 & 1;
    script->values_known = false;
    rig_push(script->rig, 0, argument & 1, frame, length);
}

static void send_raw(struct script *script, unsigned argument) {
    uint32_t const wanted = next(script);
    uint32_t const length = wanted < script->left ? wanted : (uint32_t)script->left;
    script->rig->port[1]->source_ipv4 = rig_source(0) + (argument >> 1);
    script->values_known = false;
    rig_push(script->rig, argument & 1, 0, script->data, length);
    script->data += length;
    script->left -= length;
}

static void step(struct script *script) {
    struct receive_rig *rig = script->rig;
    uint8_t const command = next(script);
    unsigned const argument = command >> 3;
    switch ((enum verb)(command & 7)) {
    case SEND:
        send_next(script, argument);
        break;
    case SEND_NEAR:
        rig_send(rig, argument % INSTRUMENTS, script->turn + (uint64_t)(int8_t)next(script) * (1 + argument / 4));
        break;
    case SEND_FAR:
        rig_send(rig, argument % INSTRUMENTS, next_word(script));
        break;
    case BEND:
        send_bent(script, argument);
        break;
    case RAW:
        send_raw(script, argument);
        break;
    case WAIT:
        rig_set_tsc(rm_tsc() + (1ull << argument));
        require(rig_idle(rig));
        break;
    case JUMP:
        script->turn = next_word(script) >> (argument * 2);
        break;
    case POLL:
        require(rig_poll(rig));
        break;
    }
}

/** Every turn-rate record that a reader can get is what its instrument sends for that turn. */
static void check_ring(struct receive_rig const *rig, uint32_t index) {
    struct rm_stream_view const view = rig_view(&rig->instrument[index]->writer);
    rm_turn const head = rm_stream_head(&view);
    if (head == RM_TURN_NONE)
        return;
    for (rm_turn turn = head < CAPACITY ? 0 : head - CAPACITY; turn <= head; ++turn) {
        struct rm_record record;
        if (rm_stream_read(&view, turn, &record) == RM_READ_OK && !rig_shows(rig, index, turn))
            abort();
    }
}

static void check_rates(struct rm_instrument const *instrument) {
    for (int i = 0; i < RIG_RATES; ++i) {
        struct rm_stream_writer const *writer = &instrument->rates.writer[i];
        if (writer->head == RM_TURN_NONE)
            continue;
        rm_turn const newest = rm_instrument_head(instrument);
        if (writer->head % writer->period != 0 || newest == RM_TURN_NONE || writer->head > newest)
            abort();
    }
}

static void print_datagrams(void) { fprintf(stderr, "stat::datagrams: %" PRIu64 "\n", datagrams); }

// NOLINTNEXTLINE(readability-non-const-parameter): libFuzzer's signature
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    return atexit(print_datagrams);
}

/** Plays the script once. Returns how many datagrams it brought. */
static uint64_t play(struct script *script, uint8_t const *data, size_t size) {
    uint64_t const before = rig_port_count(script->rig, RM_PORT_RECEIVED);
    script->data = data;
    script->left = size;
    for (int steps = 0; script->left > 0 && steps < STEPS_MAX; ++steps)
        step(script);
    require(rig_poll(script->rig));
    return rig_port_count(script->rig, RM_PORT_RECEIVED) - before;
}

int LLVMFuzzerTestOneInput(uint8_t const *data, size_t size) {
    struct receive_rig_config const config = {
        .instruments = INSTRUMENTS,
        .capacity = CAPACITY,
        .chain_capacity = CHAIN_CAPACITY,
        .late_turns = 256,
        .ahead_turns = 256,
        .silence_turns = 1024,
        .queues = 2,
    };
    struct script script = {.rig = rig_make(&config), .turn = 1000, .values_known = true};
    struct receive_rig *rig = script.rig;
    rig->instrument[1]->counting.offset_turns = 3;
    rig->instrument[2]->counting.offset_turns = -3;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i)
        rig_open(rig, i);
    rig_know(rig, 1, rig_source(0), rig->id[0], 0, NULL);
    uint64_t sum = 0;
    for (uint64_t came = 1; came > 0 && sum < DATAGRAMS; sum += came)
        came = play(&script, data, size);
    datagrams += sum;
    for (uint32_t i = 0; i < INSTRUMENTS; ++i) {
        if (script.values_known)
            check_ring(rig, i);
        check_rates(rig->instrument[i]);
    }
    rig_free(rig);
    return 0;
}
