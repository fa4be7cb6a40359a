// SPDX-License-Identifier: Apache-2.0
/* start, stop, reset, capture, …: words that do something now. */
#include <errno.h>
#include <string.h>
#include <time.h>

#include <ringmaster/record.h>

#include "base/options.h"
#include "traffic/words_parts.h"

enum { PINGS_MAX = 1000000, DELAY_MAX_MS = 10000, MS_PER_S = 1000, NS_PER_MS = 1000000 };

static double const SPEED_MAX = 1e6;

static struct rm_arguments const ALL_PORTS = {.count = 1, .word = {"all"}};

typedef enum rm_code port_action(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                                 struct rm_error *error);

/* Does it for each port of the list, and stops at the first that fails. */
static enum rm_code each_port(void *context, struct rm_arguments const *arguments, port_action *action,
                              struct rm_error *error) {
    struct rm_traffic_words *const words = context;
    uint32_t ports = 0;
    enum rm_code code = rm_traffic_read_ports(words, arguments->word[0], &ports, error);
    for (uint32_t i = 0; i < words->port_count && code == RM_OK; i++)
        if ((ports >> i & 1) != 0)
            code = action(words, i, arguments, error);
    return code;
}

static enum rm_code no_action(char const *what, struct rm_error *error) {
    return rm_fail(error, RM_E_ARGUMENT, "%s: this server's generator has no such function", what);
}

static enum rm_code port_start(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                               struct rm_error *error) {
    (void)arguments;
    return words->actions->start(words->generator, port, error);
}

static enum rm_code port_stop(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                              struct rm_error *error) {
    (void)arguments;
    return words->actions->stop(words->generator, port, error);
}

static enum rm_code port_clear(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                               struct rm_error *error) {
    (void)arguments;
    return words->actions->clear == NULL ? no_action("clear", error)
                                         : words->actions->clear(words->generator, port, error);
}

static enum rm_code port_reset(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                               struct rm_error *error) {
    (void)arguments;
    struct rm_traffic_settings settings;
    struct rm_traffic traffic;
    rm_traffic_words_default(words, port, &settings);
    enum rm_code code = rm_traffic_settings_resolve(&settings, &traffic, error);
    if (code == RM_OK)
        code = words->actions->stop(words->generator, port, error);
    if (code == RM_OK && words->actions->replay != NULL)
        code = words->actions->replay(words->generator, port, NULL, 1, 0, error);
    if (code == RM_OK)
        code = words->actions->describe(words->generator, port, &traffic, error);
    if (code == RM_OK)
        words->port[port].settings = settings;
    return code;
}

static enum rm_code port_ask(struct rm_traffic_words *words, uint32_t port, enum rm_traffic_question what,
                             uint32_t count, struct rm_error *error) {
    if (words->actions->ask == NULL)
        return no_action("ARP and ping", error);
    return words->actions->ask(words->generator, port, what, count, error);
}

static enum rm_code port_arp(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                             struct rm_error *error) {
    static char const *const KINDS[] = {"request", "gratuitous", NULL};
    uint32_t kind;
    enum rm_code const code = rm_traffic_read_word("arp", KINDS, arguments->word[1], &kind, error);
    return code != RM_OK
               ? code
               : port_ask(words, port, kind == 0 ? RM_TRAFFIC_ARP_REQUEST : RM_TRAFFIC_ARP_GRATUITOUS, 1, error);
}

static enum rm_code port_ping(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                              struct rm_error *error) {
    uint64_t count = 1;
    enum rm_code code = RM_OK;
    if (arguments->count > 1)
        code = rm_traffic_read_whole("ping4: count", 1, PINGS_MAX, arguments->word[1], &count, error);
    return code == RM_OK ? port_ask(words, port, RM_TRAFFIC_PING, (uint32_t)count, error) : code;
}

static enum rm_code port_instruments(struct rm_traffic_words *words, uint32_t port,
                                     struct rm_arguments const *arguments, struct rm_error *error) {
    uint64_t first_turn = RM_TURN_NONE;
    enum rm_code code = RM_OK;
    if (words->actions->instruments == NULL)
        return no_action("instruments", error);
    if (arguments->count > 4)
        return rm_fail(error, RM_E_ARGUMENT, "instruments: found more than a file, a pattern and a turn");
    if (arguments->count > 3)
        code = rm_traffic_read_whole("instruments: turn", 0, INT64_MAX, arguments->word[3], &first_turn, error);
    return code == RM_OK ? words->actions->instruments(words->generator, port, arguments->word[1], arguments->word[2],
                                                       first_turn, error)
                         : code;
}

static enum rm_code port_capture(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                                 struct rm_error *error) {
    if (words->actions->capture == NULL)
        return no_action("capture", error);
    return words->actions->capture(words->generator, port, arguments->count > 1 ? arguments->word[1] : NULL, error);
}

/* Arguments: ports, file, and maybe a speed and a number of times. */
static enum rm_code port_replay(struct rm_traffic_words *words, uint32_t port, struct rm_arguments const *arguments,
                                struct rm_error *error) {
    char const *const path = arguments->count > 1 ? arguments->word[1] : NULL;
    double speed = 1;
    uint64_t laps = 0;
    enum rm_code code = RM_OK;
    if (words->actions->replay == NULL)
        return no_action("pcap", error);
    if (arguments->count > 4)
        return rm_fail(error, RM_E_ARGUMENT, "pcap: found more than a file, a speed and a number of times");
    if (arguments->count > 2 && !rm_number_parse(arguments->word[2], 0, SPEED_MAX, &speed))
        return rm_fail(error, RM_E_ARGUMENT,
                       "pcap: speed: found \"%s\", expected 1 for the capture's own gaps, 2 for twice as fast, … or "
                       "0 for the port's rate",
                       arguments->word[2]);
    if (arguments->count > 3)
        code = rm_traffic_read_whole("pcap: times", 0, UINT32_MAX, arguments->word[3], &laps, error);
    return code == RM_OK ? words->actions->replay(words->generator, port, path, speed, laps, error) : code;
}

enum rm_code rm_traffic_start(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_start, error);
}

enum rm_code rm_traffic_stop(void *context, struct rm_arguments const *arguments, FILE *answer,
                             struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_stop, error);
}

enum rm_code rm_traffic_start_all(void *context, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)arguments;
    return rm_traffic_start(context, &ALL_PORTS, answer, error);
}

enum rm_code rm_traffic_stop_all(void *context, struct rm_arguments const *arguments, FILE *answer,
                                 struct rm_error *error) {
    (void)arguments;
    return rm_traffic_stop(context, &ALL_PORTS, answer, error);
}

enum rm_code rm_traffic_clear(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_clear, error);
}

enum rm_code rm_traffic_clear_all(void *context, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)arguments;
    return rm_traffic_clear(context, &ALL_PORTS, answer, error);
}

enum rm_code rm_traffic_reset(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_reset, error);
}

enum rm_code rm_traffic_reset_all(void *context, struct rm_arguments const *arguments, FILE *answer,
                                  struct rm_error *error) {
    (void)arguments;
    return rm_traffic_reset(context, &ALL_PORTS, answer, error);
}

enum rm_code rm_traffic_arp(void *context, struct rm_arguments const *arguments, FILE *answer, struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_arp, error);
}

enum rm_code rm_traffic_ping(void *context, struct rm_arguments const *arguments, FILE *answer,
                             struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_ping, error);
}

enum rm_code rm_traffic_capture(void *context, struct rm_arguments const *arguments, FILE *answer,
                                struct rm_error *error) {
    (void)answer;
    uint32_t ports = 0;
    enum rm_code const code = rm_traffic_read_ports(context, arguments->word[0], &ports, error);
    if (code == RM_OK && arguments->count > 1 && (ports & (ports - 1)) != 0)
        return rm_fail(error, RM_E_ARGUMENT,
                       "capture: found several ports, \"%s\", expected one: each has its own file", arguments->word[0]);
    return code == RM_OK ? each_port(context, arguments, port_capture, error) : code;
}

enum rm_code rm_traffic_replay(void *context, struct rm_arguments const *arguments, FILE *answer,
                               struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_replay, error);
}

enum rm_code rm_traffic_instruments(void *context, struct rm_arguments const *arguments, FILE *answer,
                                    struct rm_error *error) {
    (void)answer;
    return each_port(context, arguments, port_instruments, error);
}

enum rm_code rm_traffic_delay(void *context, struct rm_arguments const *arguments, FILE *answer,
                              struct rm_error *error) {
    (void)context;
    (void)answer;
    uint64_t ms;
    enum rm_code const code = rm_traffic_read_whole("delay", 0, DELAY_MAX_MS, arguments->word[0], &ms, error);
    if (code != RM_OK)
        return code;
    struct timespec left = {.tv_sec = (time_t)(ms / MS_PER_S), .tv_nsec = (long)(ms % MS_PER_S) * NS_PER_MS};
    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
    return RM_OK;
}

enum rm_code rm_traffic_load(void *context, struct rm_arguments const *arguments, FILE *answer,
                             struct rm_error *error) {
    struct rm_traffic_words *const words = context;
    if (words->loading)
        return rm_fail(error, RM_E_ARGUMENT, "load: a file that is loaded may not load another, found \"%s\"",
                       arguments->word[0]);
    struct rm_command_table const table = rm_traffic_words_table(words);
    words->loading = true;
    enum rm_code const code = rm_command_run_file(&table, 1, arguments->word[0], answer, error);
    words->loading = false;
    return code;
}
