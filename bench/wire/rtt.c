// SPDX-License-Identifier: Apache-2.0
/** The near end of a round trip: sends a probe at a fixed rate, and notes when each comes back from the reflector.
 *
 *     ringmaster-rtt LINK --core C --rate HZ --seconds S [OPTION]…
 *
 * The schedule is open: probe i is due at begin + i / rate, whatever became of the others, and none is skipped. So a
 * stall delays the probes that were due in it and shows in each of them; a sender that waited for its answers would
 * leave them out (coordinated omission). Between two probes the link is polled. A link of wait=block sleeps in the
 * kernel instead, and wakes by an answer, or 40 µs before the next probe is due: sleeping ends late by 17 µs and more,
 * so the rest is polled. Where that rest is long against the period and the answers fall into it, they are found as by
 * a link of wait=spin: keep the period of wait=block above some 150 µs.
 *
 * Prints {"ready": true} when the reflector has answered, and a JSON object at its end; --samples has the times of each
 * probe.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fail.h"
#include "base/timebase.h"
#include "link.h"
#include "options.h"
#include "polling.h"
#include "probe.h"
#include "probes.h"
#include "stop.h"

static char const usage[] =
    "Usage: ringmaster-rtt LINK --core C --rate HZ --seconds S [OPTION]…\n"
    "\n"
    "Sends probes over LINK to a ringmaster-reflect at its other end, and says what came back.\n"
    "  --core C          run on this CPU\n"
    "  --rate HZ         probes per second\n"
    "  --seconds S       for so long, after the warm-up\n"
    "  --warm-up S       probes before, which do not count; 0.5 if not said\n"
    "  --size BYTES      of payload, from 18, which is the default, to what the link's MTU takes\n"
    "  --samples FILE    write three little-endian u64 TSC ticks per probe: due, sent, received (0: never came)\n"
    "  --timeout-ms T    wait so long for the last answers; 1000 if not said\n"
    "\n"
    "Links: memif:/tmp/a.sock,role=client  af_packet:veth0  af_xdp:veth0  pci:0000:03:00.0  raw:veth0[,wait=spin]\n"
    "       udp:10.99.0.1:4660,peer=10.99.0.2:4660[,wait=spin]\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

static double const POLL_BEFORE_S = 40e-6;
/** How long to look for the reflector, and how often to ask. */
static double const FIRST_ANSWER_S = 5.0, ASK_S = 10e-3;
/** A link that takes no probe for so long has ended. */
static double const FULL_S = 1.0;
/** Between the first answer and the first probe: what was asked in vain has come back by then. */
static double const SETTLE_S = 20e-3;

/** Sequence of a question whether somebody is there; answers to it are no answers to probes. */
static uint64_t const HELLO = UINT64_MAX;

struct options {
    uint64_t core, size;
    double rate_hz, seconds, warm_up_s, timeout_ms;
    char const *samples; /**< NULL: nowhere */
};

struct trip {
    struct rm_link *link;
    struct rm_stop stop;
    struct rm_polling polling;
    struct rm_probes probes;
    double tsc_hz;
    uint32_t payload_bytes;
    uint16_t flow; /**< another one in every run, so that answers to an earlier one are foreign */
    bool found;    /**< the reflector has answered */
    uint64_t foreign;
};

static uint64_t ticks(struct trip const *trip, double seconds) { return (uint64_t)(seconds * trip->tsc_hz); }

/** Sends one probe if the link takes it now. */
static bool send_one(struct trip *trip, uint64_t sequence, uint64_t due, uint64_t *sent) {
    struct rm_link_burst out;
    if (rm_link_reserve(trip->link, &out, 1) == 0)
        return false;
    struct rm_probe const probe = {.flow = trip->flow, .sequence = sequence, .stamp = due};
    rm_probe_write(out.payload[0], &probe);
    out.length[0] = trip->payload_bytes;
    *sent = rm_tsc();
    bool const taken = rm_link_send(trip->link, &out) == 1;
    rm_link_release(trip->link, &out);
    return taken;
}

static void take(struct trip *trip, struct rm_link_burst const *in, uint64_t now) {
    for (uint32_t i = 0; i < in->count; ++i) {
        struct rm_probe const probe = rm_probe_read(in->payload[i]);
        bool const ours = probe.flow == trip->flow;
        trip->found |= ours;
        if (!ours || (probe.sequence != HELLO && !rm_probes_answered(&trip->probes, probe.sequence, now)))
            ++trip->foreign;
    }
}

/** Receives until the TSC is at `until` or something has come; returns whether it has. */
static bool receive(struct trip *trip, uint64_t until) {
    uint64_t wait_ns = 0, now = rm_tsc();
    if (!rm_link_spins(trip->link) && until > now) {
        double const left_s = (double)(until - now) / trip->tsc_hz - POLL_BEFORE_S;
        wait_ns = left_s > 0 ? (uint64_t)(left_s * 1e9) : 0;
    }
    struct rm_link_burst in;
    bool const came = rm_link_receive(trip->link, &in, wait_ns) != 0;
    now = rm_tsc();
    take(trip, &in, now);
    rm_link_release(trip->link, &in);
    if (wait_ns != 0)
        rm_polling_slept(&trip->polling, now);
    else
        rm_polling_loop(&trip->polling, now, came);
    return came;
}

/** Asks until the reflector answers. */
static enum rm_code find_reflector(struct trip *trip, struct rm_error *error) {
    uint64_t const begin = rm_tsc(), give_up = begin + ticks(trip, FIRST_ANSWER_S);
    uint64_t ask = begin, now = begin, sent;
    rm_polling_begin(&trip->polling, now, trip->tsc_hz);
    for (; !trip->found && now < give_up && !rm_stop_asked(&trip->stop); now = rm_tsc()) {
        if (now >= ask) {
            (void)send_one(trip, HELLO, now, &sent);
            ask = now + ticks(trip, ASK_S);
        }
        (void)receive(trip, ask);
    }
    if (trip->found)
        return RM_OK;
    if (rm_stop_asked(&trip->stop))
        return rm_fail(error, RM_E_SYSTEM, "interrupted before the first answer came");
    struct rm_error why = {.text = "nothing came back"};
    (void)rm_link_check(trip->link, &why);
    return rm_fail(error, RM_E_ABSENT, "no answer from %s within %.0f s: is the reflector running? (%s)",
                   rm_link_text(trip->link), FIRST_ANSWER_S, why.text);
}

/** Sends the next probe if it is due. An error when the link has taken none for a while. */
static enum rm_code keep_schedule(struct trip *trip, uint64_t now, struct rm_error *error) {
    struct rm_probes *const probes = &trip->probes;
    uint64_t const due = rm_probes_due(probes, probes->next);
    uint64_t sent;
    if (now < due)
        return RM_OK;
    if (send_one(trip, probes->next, due, &sent)) {
        rm_probes_sent(probes, sent);
        return RM_OK;
    }
    if (now - due < ticks(trip, FULL_S))
        return RM_OK;
    struct rm_error why = {.text = "it is full, and its other end takes nothing"};
    (void)rm_link_check(trip->link, &why);
    return rm_fail(error, RM_E_SYSTEM, "link %s has taken no probe for %.0f s, after %llu of %llu: %s",
                   rm_link_text(trip->link), FULL_S, (unsigned long long)probes->next,
                   (unsigned long long)probes->count, why.text);
}

static enum rm_code fly(struct trip *trip, struct rm_error *error) {
    struct rm_probes *const probes = &trip->probes;
    enum rm_code code = RM_OK;
    probes->begin = rm_tsc() + ticks(trip, SETTLE_S);
    rm_polling_begin(&trip->polling, rm_tsc(), trip->tsc_hz);
    while (probes->next < probes->count && code == RM_OK && !rm_stop_asked(&trip->stop)) {
        code = keep_schedule(trip, rm_tsc(), error);
        if (probes->next < probes->count)
            (void)receive(trip, rm_probes_due(probes, probes->next));
    }
    return code;
}

static void wait_for_stragglers(struct trip *trip, double timeout_s) {
    uint64_t const end = rm_tsc() + ticks(trip, timeout_s);
    while (trip->probes.answered < trip->probes.next && rm_tsc() < end)
        (void)receive(trip, end);
}

static void print(struct trip *trip, bool interrupted) {
    struct rm_probes const *const probes = &trip->probes;
    struct rm_probes_sum const sum = rm_probes_sum(probes);
    struct rm_link_totals totals;
    rm_link_totals(trip->link, &totals);
    double const seconds = sum.ticks / trip->tsc_hz;
    printf("{\"tsc_hz\": %.0f, \"probes\": %llu, \"received\": %llu, \"lost\": %llu, \"duplicate\": %llu, \"foreign\": "
           "%llu, \"seconds\": %.6f, \"rate_hz\": %.3f, \"sent_late\": %llu, \"longest_gap_us\": %.1f, "
           "\"gaps_over_10us\": %llu, \"size\": %u, \"missed\": %llu, \"unsent\": %llu, \"interrupted\": %s, "
           "\"hardware_stamps\": \"%s\"}\n",
           trip->tsc_hz, (unsigned long long)sum.probes, (unsigned long long)sum.received, (unsigned long long)sum.lost,
           (unsigned long long)probes->duplicate, (unsigned long long)(totals.foreign + trip->foreign), seconds,
           sum.probes == 0 ? 0 : (double)sum.probes / seconds, (unsigned long long)probes->late,
           (double)trip->polling.longest_gap / trip->tsc_hz * 1e6, (unsigned long long)trip->polling.gaps_over_10us,
           trip->payload_bytes, (unsigned long long)totals.missed, (unsigned long long)totals.unsent,
           interrupted ? "true" : "false", rm_link_hardware_stamps(trip->link));
}

/** Over an open link. */
static enum rm_code measure(struct trip *trip, struct options const *options, struct rm_error *error) {
    enum rm_code code = rm_pin((uint32_t)options->core, error);
    if (code == RM_OK)
        code = find_reflector(trip, error);
    if (code == RM_OK) {
        puts("{\"ready\": true}");
        fflush(stdout);
        code = fly(trip, error);
    }
    if (code != RM_OK)
        return code;
    bool const interrupted = rm_stop_asked(&trip->stop);
    wait_for_stragglers(trip, options->timeout_ms * 1e-3);
    if (options->samples != NULL)
        code = rm_probes_write(&trip->probes, options->samples, error);
    if (code == RM_OK)
        print(trip, interrupted);
    return code;
}

static enum rm_code run(struct trip *trip, struct options const *options, struct rm_link_config const *config,
                        struct rm_error *error) {
    uint64_t const warm_up = (uint64_t)(options->warm_up_s * options->rate_hz);
    double const counted = options->seconds * options->rate_hz;
    uint64_t const count = warm_up + (counted < 1 ? 1 : (uint64_t)(counted + 0.5));
    enum rm_code code = rm_probes_make(&trip->probes, count, warm_up, trip->tsc_hz / options->rate_hz, error);
    if (code == RM_OK)
        code = rm_links_open(config, 1, &trip->link, error);
    if (code == RM_OK) {
        code = measure(trip, options, error);
        rm_links_close(&trip->link, 1);
    }
    rm_probes_free(&trip->probes);
    return code;
}

static enum rm_code read_options(int argc, char **argv, struct rm_link_config *config, struct options *options,
                                 struct rm_error *error) {
    *options = (struct options){.size = RM_PROBE_BYTES, .warm_up_s = 0.5, .timeout_ms = 1000};
    struct rm_option known[] = {
        {.name = "core", .kind = RM_OPTION_WHOLE, .value = &options->core, .most = RM_CORE_MOST, .required = true},
        {.name = "rate",
         .kind = RM_OPTION_NUMBER,
         .value = &options->rate_hz,
         .least = 0.1,
         .most = 1e7,
         .required = true},
        {.name = "seconds",
         .kind = RM_OPTION_NUMBER,
         .value = &options->seconds,
         .least = 1e-3,
         .most = 1e6,
         .required = true},
        {.name = "warm-up", .kind = RM_OPTION_NUMBER, .value = &options->warm_up_s, .most = 1e3},
        {.name = "size", .kind = RM_OPTION_WHOLE, .value = &options->size, .least = RM_PROBE_BYTES, .most = UINT16_MAX},
        {.name = "samples", .kind = RM_OPTION_TEXT, .value = &options->samples},
        {.name = "timeout-ms", .kind = RM_OPTION_NUMBER, .value = &options->timeout_ms, .least = 1, .most = 1e5},
    };
    char const *word;
    enum rm_code code = rm_options_read(argc, argv, known, sizeof known / sizeof known[0], &word, error);
    if (code == RM_OK)
        code = rm_link_parse(word, config, error);
    if (code == RM_OK && options->size > rm_link_largest_payload(config))
        return rm_fail(error, RM_E_ARGUMENT, "--size: %llu bytes do not fit an MTU of %u; expected at most %u",
                       (unsigned long long)options->size, config->mtu, rm_link_largest_payload(config));
    return code;
}

int main(int argc, char **argv) {
    static struct trip trip;
    static struct rm_link_config config;
    struct options options;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(usage, stdout);
        return 0;
    }
    enum rm_code code = read_options(argc, argv, &config, &options, &error);
    if (code != RM_OK) {
        fprintf(stderr, "ringmaster-rtt: %s\n", error.text);
        return 2;
    }
    prctl(PR_SET_TIMERSLACK, 1);
    trip.tsc_hz = rm_tsc_hz_measure();
    trip.flow = (uint16_t)rm_tai_ns();
    trip.payload_bytes = (uint32_t)options.size;
    code = rm_stop_start(&trip.stop, &error);
    if (code == RM_OK) {
        code = run(&trip, &options, &config, &error);
        rm_stop_finish(&trip.stop);
    }
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-rtt: %s\n", error.text);
    return code == RM_OK ? 0 : 1;
}
