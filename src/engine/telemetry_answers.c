// SPDX-License-Identifier: Apache-2.0
#include "engine/telemetry_answers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/timebase.h"
#include "engine/version.h"
#include "fabric/counter_names.h"

enum { FOLDER_LENGTH = sizeof "counters/" - 1 };

/** Part of a list. */
struct page {
    uint32_t from;
    uint32_t end;
};

/** Reads where a page begins, nothing or a number below `total`, and tells of the page. False: it was refused. */
static bool page_of(char const *parameter, uint32_t total, uint32_t most, struct page *page,
                    struct rm_telemetry_reply *reply) {
    uint32_t from = 0;
    char const *digit = parameter;
    for (; *digit >= '0' && *digit <= '9' && from < total; ++digit)
        from = from * 10 + (uint32_t)(*digit - '0');
    if (*digit != '\0' || (from >= total && parameter[0] != '\0')) {
        rm_telemetry_refuse(reply, "found \"%.40s\", expected nothing, or a number below %u: `next` of the page before",
                            parameter, total);
        return false;
    }
    *page = (struct page){from, total - from > most ? from + most : total};
    rm_telemetry_number(reply, "total", total);
    rm_telemetry_number(reply, "next", page->end);
    return true;
}

/** A list for each counter: its values in all blocks. */
static void add_columns(struct rm_telemetry_reply *reply, enum rm_counter_set_id set, unsigned const *counter,
                        unsigned counters, rm_counter const *const *block, uint32_t blocks) {
    for (unsigned c = 0; c < counters; ++c) {
        struct rm_telemetry_list *const list = rm_telemetry_numbers(reply, rm_counter_name(set, counter[c]));
        for (uint32_t i = 0; i < blocks; ++i)
            rm_telemetry_add_number(list, rm_counter_get(block[i], counter[c]));
    }
}

static void add_clock(struct rm_telemetry_view const *view, struct rm_telemetry_reply *reply) {
    struct rm_clock_reading clock;
    if (!rm_clock_read(rm_store_memory(view->store, view->store->clock), &clock) || !clock.anchored)
        return;
    rm_telemetry_number(reply, "turn", rm_clock_turn(&clock, rm_tsc()));
    rm_telemetry_number(reply, "turn_rate_hz", (uint64_t)llround(clock.tsc_hz / clock.ticks_per_turn));
    rm_telemetry_number(reply, "turn_rate_is_supported", clock.supported);
}

static void answer_info(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    struct rm_telemetry_view const *const view = context;
    struct rm_config const *const config = view->config;
    (void)parameter;
    rm_telemetry_text(reply, "workspace", config->workspace);
    rm_telemetry_text(reply, "version", RM_VERSION);
    rm_telemetry_number(reply, "uptime_s", (uint64_t)((double)(rm_tsc() - view->started_tsc) / view->tsc_hz));
    rm_telemetry_number(reply, "cores", view->store->core_count);
    rm_telemetry_number(reply, "ports", config->port_count);
    rm_telemetry_number(reply, "instruments", config->instrument_count);
    rm_telemetry_number(reply, "chains", config->chain_count);
    rm_telemetry_number(reply, "supplies", config->supply_count);
    rm_telemetry_number(reply, "applications", config->application_count - 1); /* without the operator */
    rm_telemetry_text(reply, "simd", rm_simd_name(view->simd));
    rm_telemetry_number(reply, "huge_pages", view->huge_pages);
    add_clock(view, reply);
}

static void add_roles(struct rm_telemetry_view const *view, uint32_t core, struct rm_telemetry_list *list) {
    struct rm_config const *const config = view->config;
    char roles[RM_TELEMETRY_TEXT_BYTES] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < config->role_count; ++i)
        if (atomic_load_explicit(&view->place[i].cpu, memory_order_relaxed) == core && length < sizeof roles)
            length += (size_t)snprintf(roles + length, sizeof roles - length, "%s%s", length == 0 ? "" : " ",
                                       rm_config_role_name(config->role[i].kind));
    rm_telemetry_add_text(list, roles);
}

static uint64_t busy_ppm(uint64_t busy, uint64_t idle) {
    return busy + idle == 0 ? 0 : (uint64_t)llround(1e6 * (double)busy / (double)(busy + idle));
}

/** Shares from the look before to `*now`, which becomes the last one when that is a second old. */
static void add_busy(struct rm_telemetry_view *view, struct rm_telemetry_look const *now,
                     struct rm_telemetry_reply *reply) {
    if ((double)(now->tsc - view->last.tsc) >= view->tsc_hz) {
        view->before = view->last;
        view->last = *now;
    }
    struct rm_telemetry_list *const share = rm_telemetry_numbers(reply, "busy_ppm");
    for (uint32_t i = 0; i < view->store->core_count; ++i)
        rm_telemetry_add_number(share,
                                busy_ppm(now->busy[i] - view->before.busy[i], now->idle[i] - view->before.idle[i]));
    uint64_t const since = view->before.tsc == 0 ? view->started_tsc : view->before.tsc;
    rm_telemetry_number(reply, "over_ms", (uint64_t)(1e3 * (double)(now->tsc - since) / view->tsc_hz));
}

static void answer_cores(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    static unsigned const counter[] = {RM_CORE_BUSY_TICKS, RM_CORE_IDLE_TICKS, RM_CORE_LONGEST_GAP_TICKS,
                                       RM_CORE_PACKETS};
    struct rm_telemetry_view *const view = context;
    struct rm_store const *const store = view->store;
    struct rm_telemetry_look now = {.tsc = rm_tsc()};
    rm_counter const *block[RM_CONFIG_CORES_MAX] = {NULL};
    (void)parameter;
    struct rm_telemetry_list *const core = rm_telemetry_numbers(reply, "core");
    struct rm_telemetry_list *const roles = rm_telemetry_texts(reply, "roles");
    for (uint32_t i = 0; i < store->core_count; ++i) {
        block[i] = rm_store_memory(store, store->core_counters[i]);
        now.busy[i] = rm_counter_get(block[i], RM_CORE_BUSY_TICKS);
        now.idle[i] = rm_counter_get(block[i], RM_CORE_IDLE_TICKS);
        rm_telemetry_add_number(core, store->core[i]);
        add_roles(view, store->core[i], roles);
    }
    add_busy(view, &now, reply);
    add_columns(reply, RM_COUNTER_SET_CORE, counter, sizeof counter / sizeof counter[0], block, store->core_count);
    rm_telemetry_number(reply, "ticks_per_s", (uint64_t)llround(view->tsc_hz));
}

static void answer_ports(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    static unsigned const counter[] = {RM_PORT_RECEIVED, RM_PORT_DECODED, RM_PORT_RECORDS, RM_PORT_KERNEL_MISSED,
                                       RM_PORT_PUNTED};
    struct rm_telemetry_view const *const view = context;
    struct rm_config const *const config = view->config;
    rm_counter const *block[RM_CONFIG_PORTS_MAX] = {NULL};
    (void)parameter;
    struct rm_telemetry_list *const name = rm_telemetry_texts(reply, "name");
    struct rm_telemetry_list *const kind = rm_telemetry_texts(reply, "kind");
    uint32_t ports = 0;
    for (uint32_t i = 0; i < config->port_count; ++i) {
        if (config->port[i].cameras)
            continue; /* their receiver counts */
        block[ports++] = rm_store_memory(view->store, view->store->port_counters[i]);
        rm_telemetry_add_text(name, config->port[i].port.name);
        rm_telemetry_add_text(kind, rm_config_port_kind_name(config->port[i].port.kind));
    }
    add_columns(reply, RM_COUNTER_SET_PORT, counter, sizeof counter / sizeof counter[0], block, ports);
}

static void answer_instruments(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    static unsigned const counter[] = {RM_STREAM_ACCEPTED,  RM_STREAM_SKIPPED,      RM_STREAM_OUT_OF_ORDER,
                                       RM_STREAM_DUPLICATE, RM_STREAM_PHASE_BEHIND, RM_STREAM_PHASE_AHEAD};
    struct rm_telemetry_view const *const view = context;
    rm_counter const *block[RM_TELEMETRY_PAGE] = {NULL};
    struct page page;
    if (!page_of(parameter, view->config->instrument_count, RM_TELEMETRY_PAGE, &page, reply))
        return;
    struct rm_telemetry_list *const name = rm_telemetry_texts(reply, "name");
    for (uint32_t i = page.from; i < page.end; ++i) {
        block[i - page.from] = rm_store_memory(view->store, view->store->instrument[i].counters);
        rm_telemetry_add_text(name, view->config->instrument[i].name);
    }
    add_columns(reply, RM_COUNTER_SET_STREAM, counter, sizeof counter / sizeof counter[0], block, page.end - page.from);
}

static struct rm_object const *object_of(struct rm_telemetry_view const *view, size_t index) {
    return &view->store->plan.planned[index].object;
}

static uint32_t objects_of_kind(struct rm_telemetry_view const *view, enum rm_object_kind kind) {
    uint32_t count = 0;
    for (size_t i = 0; i < view->store->plan.count; ++i)
        count += object_of(view, i)->kind == kind;
    return count;
}

/** The indices of those of a kind that are on a page. */
static void objects_of_page(struct rm_telemetry_view const *view, enum rm_object_kind kind, struct page page,
                            size_t *index) {
    uint32_t number = 0;
    for (size_t i = 0; i < view->store->plan.count && number < page.end; ++i) {
        if (object_of(view, i)->kind != kind)
            continue;
        if (number >= page.from)
            index[number - page.from] = i;
        ++number;
    }
}

static void list_counters(struct rm_telemetry_view const *view, char const *parameter,
                          struct rm_telemetry_reply *reply) {
    size_t index[RM_TELEMETRY_PAGE_OF_NAMES] = {0};
    struct page page;
    if (!page_of(parameter, objects_of_kind(view, RM_OBJECT_COUNTERS), RM_TELEMETRY_PAGE_OF_NAMES, &page, reply))
        return;
    struct rm_telemetry_list *const name = rm_telemetry_texts(reply, "name");
    objects_of_page(view, RM_OBJECT_COUNTERS, page, index);
    for (uint32_t i = 0; i < page.end - page.from; ++i)
        rm_telemetry_add_text(name, object_of(view, index[i])->name + FOLDER_LENGTH);
}

static void answer_counters(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    struct rm_telemetry_view const *const view = context;
    if (strspn(parameter, "0123456789") == strlen(parameter)) {
        list_counters(view, parameter, reply);
        return;
    }
    for (size_t i = 0; i < view->store->plan.count; ++i) {
        struct rm_object const *const object = object_of(view, i);
        if (object->kind != RM_OBJECT_COUNTERS || strcmp(object->name + FOLDER_LENGTH, parameter) != 0)
            continue;
        rm_counter const *const block = rm_store_memory(view->store, i);
        for (unsigned c = 0; c < rm_counter_set_size(object->variety); ++c)
            rm_telemetry_number(reply, rm_counter_name(object->variety, c), rm_counter_get(block, c));
        return;
    }
    rm_telemetry_refuse(reply, "no counters \"%.40s\"; /ringmaster/counters lists them", parameter);
}

/** Value that `share` of those counted do not exceed, as its bucket's end; 0 where nothing was counted. */
static uint64_t percentile(struct rm_histogram const *histogram, double share) {
    uint64_t const total = atomic_load_explicit(&histogram->total, memory_order_relaxed);
    uint64_t const largest = atomic_load_explicit(&histogram->largest, memory_order_relaxed);
    uint64_t const rank = (uint64_t)ceil(share * (double)total);
    uint64_t counted = 0;
    unsigned index = 0;
    for (; index < RM_HISTOGRAM_BUCKETS; ++index) {
        counted += atomic_load_explicit(&histogram->bucket[index], memory_order_relaxed);
        if (counted >= rank)
            break;
    }
    uint64_t const end = index + 1 < RM_HISTOGRAM_BUCKETS ? rm_histogram_floor(index + 1) - 1 : largest;
    return end < largest ? end : largest;
}

static void answer_histograms(void *context, char const *parameter, struct rm_telemetry_reply *reply) {
    struct rm_telemetry_view const *const view = context;
    size_t index[RM_TELEMETRY_PAGE] = {0};
    struct page page;
    if (!page_of(parameter, objects_of_kind(view, RM_OBJECT_HISTOGRAM), RM_TELEMETRY_PAGE, &page, reply))
        return;
    struct rm_telemetry_list *const name = rm_telemetry_texts(reply, "name");
    struct rm_telemetry_list *const count = rm_telemetry_numbers(reply, "count");
    struct rm_telemetry_list *const median_ns = rm_telemetry_numbers(reply, "p50_ns");
    struct rm_telemetry_list *const p99_ns = rm_telemetry_numbers(reply, "p99_ns");
    struct rm_telemetry_list *const max_ns = rm_telemetry_numbers(reply, "max_ns");
    objects_of_page(view, RM_OBJECT_HISTOGRAM, page, index);
    for (uint32_t i = 0; i < page.end - page.from; ++i) {
        struct rm_histogram const *const histogram = rm_store_memory(view->store, index[i]);
        double const unit_ns = strcmp(object_of(view, index[i])->unit, "ticks") == 0 ? 1e9 / view->tsc_hz : 1;
        rm_telemetry_add_text(name, object_of(view, index[i])->name);
        rm_telemetry_add_number(count, atomic_load_explicit(&histogram->total, memory_order_relaxed));
        rm_telemetry_add_number(median_ns, (uint64_t)((double)percentile(histogram, 0.5) * unit_ns));
        rm_telemetry_add_number(p99_ns, (uint64_t)((double)percentile(histogram, 0.99) * unit_ns));
        rm_telemetry_add_number(max_ns, (uint64_t)((double)percentile(histogram, 1) * unit_ns));
    }
}

struct rm_telemetry_command const rm_telemetry_commands[RM_TELEMETRY_COMMANDS] = {
    {"/ringmaster/info", "The server: workspace, version, sizes, turn clock. No parameters.", answer_info},
    {"/ringmaster/cores", "Cores: roles, busy share in millionths over over_ms, counters. No parameters.",
     answer_cores},
    {"/ringmaster/ports", "Ports: kind and first counters. No parameters.", answer_ports},
    {"/ringmaster/instruments", "First counters of each instrument, 64 a page. Parameters: [FROM]", answer_instruments},
    {"/ringmaster/counters", "Names of counters, 200 a page; or all counters of one. Parameters: [FROM | NAME]",
     answer_counters},
    {"/ringmaster/histograms", "Durations: count, median, 99 %, longest; 64 a page. Parameters: [FROM]",
     answer_histograms},
};
