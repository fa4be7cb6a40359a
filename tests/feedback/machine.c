// SPDX-License-Identifier: Apache-2.0
#include "machine.h"

#include <math.h>
#include <string.h>

static double const NOISE_NM = 50; /**< peak */

static double machine_draw(struct feedback_machine *machine) {
    machine->dice = machine->dice * 1664525u + 1013904223u;
    return (double)(machine->dice >> 8) / (double)(1u << 23) - 1.0;
}

char const lane_name[8][4] = {"x1", "y1", "s1", "q1", "x2", "y2", "s2", "q2"};
uint32_t const lane_row[4] = {0, 1, 4, 5};

uint32_t plane_of(uint32_t row) { return row % 2; }
uint32_t plane_of_corrector(uint32_t corrector) { return corrector >= CORRECTORS / 2 ? Y : X; }

void make_machine(struct feedback_machine *machine) {
    *machine = (struct feedback_machine){.dice = 12345, .wrongs = {.beam = 1.0}};
    for (uint32_t row = 0; row < ROWS; ++row)
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            machine->response[row][c] = plane_of(row) == plane_of_corrector(c) ? 20000.0 * machine_draw(machine) : 0.0;
}

void span_fast_by_slow(struct feedback_machine *machine) {
    for (uint32_t fast = 0; fast < CORRECTORS; fast += fast % 6 == 0 ? 1 : 5) {
        uint32_t const slow = fast / 6 * 6 + 2;
        double const mix[4] = {machine_draw(machine), machine_draw(machine), machine_draw(machine),
                               machine_draw(machine)};
        for (uint32_t row = 0; row < ROWS; ++row) {
            machine->response[row][fast] = 0.0;
            for (uint32_t i = 0; i < 4; ++i)
                machine->response[row][fast] += mix[i] * machine->response[row][slow + i];
        }
    }
}

bool is_fast(uint32_t corrector) { return corrector % 6 < 2; }

/** Lines of an amplitude that falls with their frequency. */
static double mains_at_cycle(uint64_t cycle) {
    static double const hz[] = {50, 100, 150, 200, 250, 300, 350, 400, 500, 600, 700, 800, 900};
    double sum = 0.0;
    for (size_t i = 0; i < sizeof hz / sizeof hz[0]; ++i)
        sum += 50.0 / hz[i] * sin(2.0 * M_PI * hz[i] * (double)cycle * PERIOD / TURN_RATE + (double)(i * i));
    return sum;
}

void move(struct feedback_machine *machine) {
    for (uint32_t c = 0; c < CORRECTORS; ++c) {
        machine->effective[c] += (1.0 - machine->pole[c]) * (machine->before[c] - machine->effective[c]);
        machine->before[c] = machine->sent[c];
    }
    double const phase = 2.0 * M_PI * machine->wrongs.sine_hz * (double)machine->cycle * PERIOD / TURN_RATE;
    double const along =
        machine->wrongs.sine_nm * sin(phase) + machine->wrongs.mains_nm * mains_at_cycle(machine->cycle);
    for (uint32_t row = 0; row < ROWS; ++row) {
        double orbit = machine->wrongs.disturbance[row] + along * machine->response[row][2] / 20000.0;
        for (uint32_t c = 0; c < CORRECTORS; ++c)
            orbit += machine->response[row][c] * machine->effective[c];
        machine->orbit[row] = orbit;
    }
    ++machine->cycle;
}

static struct rm_record read_extra(struct feedback_machine const *machine, uint32_t input, rm_turn turn) {
    struct rm_record record = {.turn = turn};
    if (input == TIMING) {
        record.lane[0].i = machine->flags;
        record.lane[1].f = machine->gap;
        return record;
    }
    for (uint32_t at = 2, c = input == OTHER ? 0 : 10; at < RM_LANES && c < CORRECTORS; ++at, ++c)
        record.lane[at].f = (float)machine->other[c];
    return record;
}

struct rm_record read_input(struct feedback_machine *machine, uint32_t input, rm_turn turn) {
    if (input >= INPUTS)
        return read_extra(machine, input, turn);
    struct machine_wrongs const *wrongs = &machine->wrongs;
    struct rm_record record = {.turn = turn, .tag = rm_tag_full_rate(0, wrongs->invalid[input] ? 1 : 0)};
    for (uint32_t k = 0; k < 4; ++k)
        record.lane[lane_row[k]].i =
            (int32_t)lrint(machine->orbit[4 * input + k] + NOISE_NM * machine_draw(machine) + wrongs->leap_nm[input]);
    record.lane[2].i = record.lane[6].i = (int32_t)(1e6 * wrongs->beam);
    if (wrongs->frozen[input])
        memcpy(record.lane, machine->last[input].lane, sizeof record.lane);
    machine->last[input] = record;
    return record;
}
