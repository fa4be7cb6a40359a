// SPDX-License-Identifier: Apache-2.0
/** The control side of arp_ping.h. */
#include "base/fail.h"
#include "traffic/arp_ping.h"
#include "wire/address.h"

static uint64_t const SECOND_NS = 1000000000;

static enum rm_code request_check(struct rm_arp_ping_request const *request, struct rm_error *error) {
    if (request->from.ipv4 == 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "this port has no IPv4 address to ask from, expected one: its source address");
    if (request->what == RM_ARP_PING_ANNOUNCE)
        return RM_OK;
    if (request->target_ipv4 == 0 || request->target_ipv4 == request->from.ipv4)
        return rm_fail(error, RM_E_ARGUMENT, "found no address to ask for, expected that of another machine");
    if (request->what == RM_ARP_PING_ARP)
        return RM_OK;
    if (request->count == 0 || request->interval_ns < SECOND_NS / RM_PING_WINDOW ||
        request->content_bytes > RM_PING_CONTENT_MAX)
        return rm_fail(
            error, RM_E_ARGUMENT,
            "found %u pings of %u bytes %g ms apart, expected at least one of up to %d bytes, %g ms apart or "
            "more",
            request->count, request->content_bytes, (double)request->interval_ns * 1e-6, RM_PING_CONTENT_MAX,
            1e3 / RM_PING_WINDOW);
    return RM_OK;
}

static bool state_is_busy(uint32_t state) { return state == RM_ARP_PING_RESOLVING || state == RM_ARP_PING_PINGING; }

enum rm_code rm_arp_ping_ask(struct rm_arp_ping *ping, struct rm_arp_ping_request const *request,
                             struct rm_error *error) {
    enum rm_code const code = request_check(request, error);
    if (code != RM_OK)
        return code;
    uint32_t const state = atomic_load_explicit(&ping->shared.state, memory_order_relaxed);
    if (!rm_mailbox_is_free(&ping->mailbox) || state_is_busy(state)) {
        char target[16];
        rm_ipv4_format(ping->asked.target_ipv4, target);
        return rm_fail(error, RM_E_BUSY, "what was asked of %s is not done yet: ask again in a second", target);
    }
    ping->asked = *request;
    rm_mailbox_post(&ping->mailbox);
    return RM_OK;
}

void rm_arp_ping_result(struct rm_arp_ping const *ping, struct rm_arp_ping_result *result) {
    struct rm_arp_ping_shared const *const shared = &ping->shared;
    double const us_per_tick = 1e6 / ping->tsc_hz;
    *result = (struct rm_arp_ping_result){
        .what = (enum rm_arp_ping_what)shared->what,
        .state = (enum rm_arp_ping_state)shared->state,
        .target_ipv4 = shared->target_ipv4,
        .sent = shared->sent,
        .answered = shared->answered,
        .repeated = shared->repeated,
    };
    uint64_t const mac = shared->target_mac;
    for (int i = 0; i < 6; ++i)
        result->target_mac[i] = (uint8_t)(mac >> 8 * (5 - i));
    if (result->answered == 0)
        return;
    result->last_us = (double)shared->last_ticks * us_per_tick;
    result->least_us = (double)shared->least_ticks * us_per_tick;
    result->mean_us = (double)shared->sum_ticks * us_per_tick / result->answered;
    result->most_us = (double)shared->most_ticks * us_per_tick;
}

void rm_arp_ping_print(struct rm_arp_ping_result const *result, FILE *out) {
    if (result->state == RM_ARP_PING_IDLE) {
        fputs("nothing was asked yet\n", out);
        return;
    }
    if (result->state == RM_ARP_PING_UNSENT) {
        fprintf(out, "given up: the link takes no frame, %u pings were sent and %u answered\n", result->sent,
                result->answered);
        return;
    }
    if (result->what == RM_ARP_PING_ANNOUNCE) {
        fputs(result->state == RM_ARP_PING_DONE ? "announced\n" : "not announced yet\n", out);
        return;
    }
    char target[16];
    rm_ipv4_format(result->target_ipv4, target);
    if (result->state == RM_ARP_PING_RESOLVING || result->state == RM_ARP_PING_UNRESOLVED) {
        fprintf(out, "%s: %s its MAC address\n", target,
                result->state == RM_ARP_PING_RESOLVING ? "asking for" : "nobody has told");
        return;
    }
    uint8_t const *const mac = result->target_mac;
    fprintf(out, "%s is at %02x:%02x:%02x:%02x:%02x:%02x", target, mac[0], mac[1], mac[2], mac[3], mac[4], mac[5]);
    if (result->what == RM_ARP_PING_PING)
        fprintf(out, ": %u of %u pings answered", result->answered, result->sent);
    if (result->repeated > 0)
        fprintf(out, ", %u of them again", result->repeated);
    if (result->answered > 0)
        fprintf(out, " in %.1f/%.1f/%.1f us (least/mean/most), the last in %.1f us", result->least_us, result->mean_us,
                result->most_us, result->last_us);
    fputc('\n', out);
}
