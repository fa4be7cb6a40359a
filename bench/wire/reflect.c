// SPDX-License-Identifier: Apache-2.0
/** The far end of a round trip: sends every datagram back to its sender, until it is told to end.
 *
 *     ringmaster-reflect LINK --core C [--delay-us D] [--drop-every N]
 *
 * Prints {"ready": true} when it listens, and a JSON object at its end. A known delay and a known loss are there for
 * tests of the measuring program: a datagram is held for D µs from when it was received to when it is sent, each by
 * itself, and every N-th is not sent back.
 *
 * "busy_share" of a link that is polled is the share of its time in which a look found something; of one that sleeps,
 * the share of its core that the program took.
 */
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "base/fail.h"
#include "base/options.h"
#include "base/pin.h"
#include "base/timebase.h"
#include "hold.h"
#include "link_endpoint.h"
#include "polling.h"
#include "stop.h"

static char const usage[] =
    "Usage: ringmaster-reflect LINK --core C [--delay-us D] [--drop-every N]\n"
    "\n"
    "Sends what comes on LINK back until SIGINT, SIGTERM, or the end of its parent or of the pipe at its input.\n"
    "  --core C         run on this CPU\n"
    "  --delay-us D     hold each datagram for so many microseconds, up to 10000000: a known delay, for tests\n"
    "  --drop-every N   do not send every N-th back: a known loss, for tests\n"
    "\n"
    "Links: memif:/tmp/a.sock,role=server  af_packet:veth1  af_xdp:veth1  pci:0000:03:00.0  raw:veth1[,wait=spin]\n"
    "       udp:10.99.0.2:4660,peer=10.99.0.1:4660[,wait=spin][,batch=N]\n"
    "\n"
    "Exit status: 0 good, 1 something failed (one line on standard error says what), 2 wrong usage.\n";

/** A loop to which nothing came for so long looks whether its link still works. An interface that was just switched on
 * is called down for up to a second. */
static double const LOOK_S = 1.5;
/** A link that takes nothing for so long may have ended: what waits is given up. */
static double const FULL_S = 0.5;

struct reflector {
    struct rm_link *link;
    struct rm_stop stop;
    struct rm_poll_times polling;
    struct rm_hold hold; /**< used with a delay */
    double tsc_hz;
    uint64_t delay;                    /**< ticks */
    uint64_t drop_every;               /**< 0: none */
    uint64_t came, reflected, dropped; /**< `came` counts with drop_every alone; `reflected`: taken by the link */
    uint64_t given_up;                 /**< because the link took nothing, or it was still held at the end */
    double cpu_s;                      /**< that the loop had of its core */
    uint64_t look_at;                  /**< when to look at the link next */
};

/** Moves the datagrams that shall go back to the front of a received burst's list; returns how many. */
static uint32_t reflector_choose(struct reflector *self, struct rm_link_burst *in) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < in->count; ++i) {
        if (self->drop_every != 0 && ++self->came % self->drop_every == 0) {
            ++self->dropped;
            continue;
        }
        in->payload[kept] = in->payload[i];
        in->length[kept++] = in->length[i];
    }
    return kept;
}

/** Whether to ask a link again that was full at `since`: it may have ended. */
static bool keeps_trying(struct reflector const *self, uint64_t since) {
    return !rm_stop_requested(&self->stop) && rm_tsc() - since < (uint64_t)(FULL_S * self->tsc_hz);
}

/** Buffers for at least one datagram, or 0 when the link gives none. */
static uint32_t reflector_reserve(struct reflector *self, struct rm_link_burst *out, uint32_t count) {
    uint64_t const since = rm_tsc();
    while (rm_link_reserve(self->link, out, count) == 0 && keeps_trying(self, since))
        continue;
    return out->count;
}

/** Sends all of a burst, or gives up. */
static void reflector_send_all(struct reflector *self, struct rm_link_burst *out) {
    uint64_t const since = rm_tsc();
    do
        self->reflected += rm_link_send(self->link, out);
    while (out->count != 0 && keeps_trying(self, since));
    self->given_up += out->count;
    rm_link_release(self->link, out);
}

static void send_back(struct reflector *self, struct rm_link_burst const *in, uint32_t count) {
    struct rm_link_burst out;
    uint32_t done = 0;
    while (done < count) {
        uint32_t const buffers = reflector_reserve(self, &out, count - done);
        if (buffers == 0)
            break;
        for (uint32_t i = 0; i < buffers; ++i, ++done) {
            memcpy(out.payload[i], in->payload[done], in->length[done]);
            out.length[i] = in->length[done];
        }
        reflector_send_all(self, &out);
    }
    self->given_up += count - done;
}

static void reflector_hold(struct reflector *self, struct rm_link_burst const *in, uint32_t count) {
    uint64_t const due = rm_tsc() + self->delay;
    for (uint32_t i = 0; i < count; ++i)
        rm_hold_put(&self->hold, in->payload[i], in->length[i], due);
}

/** Sends the oldest if it is due; returns whether it was. */
static bool reflector_let_go(struct reflector *self) {
    if (rm_hold_due(&self->hold) > rm_tsc())
        return false;
    struct rm_link_burst out;
    if (reflector_reserve(self, &out, 1) == 0)
        return false;
    out.length[0] = rm_hold_take(&self->hold, out.payload[0]);
    reflector_send_all(self, &out);
    return true;
}

/** How long the link may sleep: until something comes, or is due. */
static uint64_t timeout_ns(struct reflector const *self) {
    uint64_t const due = rm_hold_due(&self->hold);
    return due == UINT64_MAX ? RM_SLEEP : rm_poll_times_may_sleep_ns(due, rm_tsc(), self->tsc_hz);
}

static void look_later(struct reflector *self, uint64_t now) {
    self->look_at = now + (uint64_t)(LOOK_S * self->tsc_hz);
}

/** Now and then: an interface that is gone is an error, a peer that is not there is not. */
static enum rm_code reflector_check_link(struct reflector *self, uint64_t now, struct rm_error *error) {
    if (now < self->look_at)
        return RM_OK;
    look_later(self, now);
    enum rm_code const code = rm_link_check(self->link, error);
    return code == RM_E_ABSENT ? RM_OK : code;
}

/** Once round. */
static bool reflector_work(struct reflector *self, uint64_t wait_ns) {
    struct rm_link_burst in;
    bool const busy = rm_link_receive(self->link, &in, wait_ns) != 0;
    if (busy) {
        uint32_t const count = reflector_choose(self, &in);
        if (self->delay != 0)
            reflector_hold(self, &in, count);
        else
            send_back(self, &in, count);
        look_later(self, rm_tsc());
    }
    rm_link_release(self->link, &in);
    return busy;
}

static enum rm_code reflector_run(struct reflector *self, struct rm_error *error) {
    enum rm_code code = RM_OK;
    bool const spins = rm_link_spins(self->link);
    self->cpu_s = -rm_thread_seconds();
    rm_poll_times_begin(&self->polling, rm_tsc(), self->tsc_hz);
    look_later(self, self->polling.begin);
    while (!rm_stop_requested(&self->stop) && code == RM_OK) {
        uint64_t const wait_ns = spins ? 0 : timeout_ns(self);
        bool busy = false;
        if (rm_hold_count(&self->hold) + RM_BURST <= RM_HOLD_DATAGRAMS)
            busy = reflector_work(self, wait_ns);
        busy |= reflector_let_go(self);
        uint64_t const now = rm_tsc();
        if (wait_ns != 0)
            rm_poll_times_slept(&self->polling, now);
        else
            rm_poll_times_loop(&self->polling, now, busy);
        if (!busy)
            code = reflector_check_link(self, now, error);
    }
    self->cpu_s += rm_thread_seconds();
    self->given_up += rm_hold_count(&self->hold);
    return code;
}

static void reflector_print(struct reflector *self) {
    struct rm_link_statistics totals;
    rm_link_totals(self->link, &totals);
    struct rm_poll_times const *const polling = &self->polling;
    uint64_t const refused = totals.unsent < self->reflected ? totals.unsent : self->reflected;
    double const seconds = (double)(polling->last - polling->begin) / self->tsc_hz;
    double const busy_share = rm_link_spins(self->link) ? rm_poll_times_busy_share(polling)
                              : seconds > 0             ? self->cpu_s / seconds
                                                        : 0;
    printf("{\"reflected\": %llu, \"dropped\": %llu, \"unsent\": %llu, \"foreign\": %llu, \"seconds\": %.6f, "
           "\"loops\": %llu, \"busy_share\": %.4f, \"longest_gap_us\": %.1f, \"tsc_hz\": %.0f}\n",
           (unsigned long long)(self->reflected - refused), (unsigned long long)self->dropped,
           (unsigned long long)totals.unsent + self->given_up, (unsigned long long)totals.foreign, seconds,
           (unsigned long long)polling->loops, busy_share, (double)polling->longest_gap / self->tsc_hz * 1e6,
           self->tsc_hz);
}

static enum rm_code reflector_reflect(struct reflector *self, struct rm_link_config const *config, uint32_t core,
                                      struct rm_error *error) {
    if (!rm_hold_make(&self->hold, self->delay == 0 ? 1 : rm_link_largest_payload(config)))
        return rm_fail(error, RM_E_NO_SPACE, "no memory to hold datagrams in; free some memory");
    enum rm_code code = rm_links_open(config, 1, &self->link, error);
    if (code == RM_OK) {
        code = rm_pin(core, error);
        if (code == RM_OK) {
            puts("{\"ready\": true}");
            fflush(stdout);
            code = reflector_run(self, error);
            reflector_print(self);
        }
        rm_links_close(&self->link, 1);
    }
    rm_hold_free(&self->hold);
    return code;
}

static enum rm_code take_link(void *value, char const *text, struct rm_error *error) {
    return rm_link_parse(text, value, error);
}

static enum rm_code read_reflector_options(int argc, char **argv, struct rm_link_config *config, struct reflector *self,
                                           uint64_t *core, struct rm_error *error) {
    double delay_us = 0;
    struct rm_option options[] = {
        {"LINK", config, .kind = RM_OPTION_TAKE, .take = take_link, .place = RM_WORD},
        {"core", core, 0, RM_CORE_MOST, .kind = RM_OPTION_WHOLE, .place = RM_REQUIRED},
        {"delay-us", &delay_us, 0, 1e7, .kind = RM_OPTION_NUMBER},
        {"drop-every", &self->drop_every, 1, 1e9, .kind = RM_OPTION_WHOLE},
    };
    enum rm_code const code = rm_options_read(argc, argv, options, sizeof options / sizeof options[0], error);
    config->answer = true;
    self->delay = (uint64_t)(delay_us * 1e-6 * self->tsc_hz);
    return code;
}

int main(int argc, char **argv) {
    static struct reflector self;
    static struct rm_link_config config;
    uint64_t core = 0;
    struct rm_error error;
    if (rm_options_help(argc, argv)) {
        fputs(usage, stdout);
        return 0;
    }
    prctl(PR_SET_TIMERSLACK, 1);
    self.tsc_hz = rm_tsc_hz_measure();
    enum rm_code code = read_reflector_options(argc, argv, &config, &self, &core, &error);
    if (code != RM_OK)
        return rm_options_refuse(&error);
    code = rm_stop_start(&self.stop, &error);
    if (code == RM_OK) {
        code = reflector_reflect(&self, &config, (uint32_t)core, &error);
        rm_stop_finish(&self.stop);
    }
    if (code != RM_OK)
        fprintf(stderr, "ringmaster-reflect: %s\n", error.text);
    return code == RM_OK ? 0 : 1;
}
