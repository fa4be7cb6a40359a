// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <glob.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_lcore.h>
#include <rte_log.h>
#include <rte_mempool.h>

#include "base/cores.h"
#include "base/fail.h"
#include "net/dpdk_device.h"
#include "net/dpdk_log.h"
#include "net/pci_card.h"
#include "net/port.h"
#include "net/runtime_directory.h"

enum {
    DEFAULT_MEMORY_MIB = 64, /**< a dozen queues' worth of buffers, see dpdk_device.c */
    LEAST_MEMORY_MIB = 32,   /**< for what DPDK itself needs */
    ARGUMENTS = 12 + 2 * RM_NET_DEVICES_MAX,
    ARGUMENT_BYTES = 4096, /**< the longest, a list of every other CPU of a thousand */
};

struct arguments {
    int count;
    char text[ARGUMENTS][ARGUMENT_BYTES];
    char *pointers[ARGUMENTS + 1];
};

__attribute__((format(printf, 2, 3))) static void add_eal_argument(struct arguments *arguments, char const *format,
                                                                   ...) {
    char *const text = arguments->text[arguments->count];
    va_list values;
    va_start(values, format);
    vsnprintf(text, ARGUMENT_BYTES, format, values);
    va_end(values);
    arguments->pointers[arguments->count++] = text;
}

/** A number in a file of the kernel's; 0 when it is not there. */
static unsigned long number_in(char const *folder, char const *name) {
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *const file = fopen(path, "re");
    if (file == NULL)
        return 0;
    unsigned long value = 0;
    if (fscanf(file, "%lu", &value) != 1)
        value = 0;
    fclose(file);
    return value;
}

/** Free memory in huge pages of one size, whose folder the kernel calls hugepages-2048kB. */
static unsigned long free_kib_of(char const *folder) {
    unsigned long const all = number_in(folder, "free_hugepages");
    unsigned long const promised = number_in(folder, "resv_hugepages");
    return all > promised ? (all - promised) * strtoul(strrchr(folder, '-') + 1, NULL, 10) : 0;
}

/** In pages of any size: DPDK takes those of all. */
static bool enough_hugepages(uint32_t memory_mib) {
    glob_t sizes;
    unsigned long kib = 0;
    if (glob("/sys/kernel/mm/hugepages/hugepages-*kB", 0, NULL, &sizes) != 0)
        return false;
    for (size_t i = 0; i < sizes.gl_pathc; ++i)
        kib += free_kib_of(sizes.gl_pathv[i]);
    globfree(&sizes);
    return kib >= memory_mib * 1024ul;
}

/** "0@(0-3,8)": the CPUs of DPDK's only thread, which is the caller, who has its own back after the start. DPDK's
 * helpers run wherever else the process may; where that is nowhere, on the same. So it is told those that poll. */
static void add_cpus(struct arguments *arguments, cpu_set_t const *cpus, cpu_set_t const *polled) {
    char list[ARGUMENT_BYTES - 16];
    cpu_set_t both;
    CPU_AND(&both, cpus, polled);
    add_eal_argument(arguments, "--lcores=0@(%s)",
                     rm_cores_text(CPU_COUNT(&both) > 0 ? &both : cpus, list, sizeof list));
}

/** Cards may know physical addresses only: then DPDK chooses. */
static void add_devices(struct arguments *arguments, struct rm_net_config const *config) {
    if (config->device_count == 0) {
        add_eal_argument(arguments, "--no-pci");
        add_eal_argument(arguments, "--iova-mode=va");
    }
    for (uint32_t i = 0; i < config->device_count; ++i) {
        add_eal_argument(arguments, "-a");
        add_eal_argument(arguments, "%s", config->device[i]);
    }
}

static void add_all(struct arguments *arguments, struct rm_net_config const *config, cpu_set_t const *cpus) {
    uint32_t const memory_mib = config->memory_mib != 0 ? config->memory_mib : DEFAULT_MEMORY_MIB;
    add_eal_argument(arguments, "ringmaster");
    if (!config->telemetry)
        add_eal_argument(arguments, "--no-telemetry");
    add_devices(arguments, config);
    add_eal_argument(arguments, "--file-prefix=%s", config->prefix[0] != '\0' ? config->prefix : "ringmaster");
    add_eal_argument(arguments, "--log-level=%s", config->verbose ? "info" : "error");
    add_eal_argument(arguments, "-m");
    add_eal_argument(arguments, "%u", memory_mib);
    add_cpus(arguments, cpus, &config->polled);
    if (enough_hugepages(memory_mib)) {
        add_eal_argument(arguments, "--in-memory");            // no files, and no hugetlbfs mount needed
        add_eal_argument(arguments, "--single-file-segments"); // vhost-user hands over eight files at most
    } else {
        add_eal_argument(arguments, "--no-huge");
        add_eal_argument(arguments, "--no-shconf");
    }
}

/** rte_eal_init with signals blocked, so that DPDK's threads inherit that and leave them to the program. */
static int initialise_eal(struct arguments *arguments) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int const result = rte_eal_init(arguments->count, arguments->pointers);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return result;
}

static bool eal_is_started(void) { return rte_lcore_count() != 0; }

void rm_net_config_add(struct rm_net_config *config, struct rm_port_config const *port) {
    if (port->kind == RM_PORT_UDP)
        return;
    if (config->memory_mib == 0)
        config->memory_mib = LEAST_MEMORY_MIB;
    config->memory_mib += rm_dpdk_memory_mib(port);
    if (port->kind == RM_PORT_PCI && config->device_count < RM_NET_DEVICES_MAX)
        memcpy(config->device[config->device_count++], port->device, sizeof port->device);
}

/** Only then may DPDK be told of them. */
static enum rm_code check_devices(struct rm_net_config const *config, struct rm_error *error) {
    enum rm_code code = RM_OK;
    for (uint32_t i = 0; i < config->device_count && code == RM_OK; ++i)
        code = rm_pci_card_check(RM_PCI_DEVICES, config->device[i], error);
    return code;
}

enum rm_code rm_net_start(struct rm_net_config const *config, struct rm_error *error) {
    if (eal_is_started())
        return rm_fail(error, RM_E_BUSY, "DPDK has been started in this process before; it starts once per process");
    enum rm_code const code = check_devices(config, error);
    if (code != RM_OK)
        return code;
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) != 0)
        return rm_fail(error, RM_E_SYSTEM,
                       "cannot read which CPUs this thread may use: %s; machines of up to %d CPUs "
                       "are supported",
                       strerror(errno), CPU_SETSIZE);
    if (config->verbose)
        rte_openlog_stream(stderr);
    else if (!rm_dpdk_log_open())
        return rm_fail(error, RM_E_SYSTEM, "cannot make a file in memory for DPDK's log: %s", strerror(errno));

    if (config->telemetry && atexit(rm_runtime_directory_remove) != 0) // runs after DPDK's own, which takes its socket
        return rm_fail(error, RM_E_NO_SPACE, "no memory to remember what to do at the program's end; free some memory");
    struct arguments arguments = {0};
    add_all(&arguments, config, &cpus);
    int const result = initialise_eal(&arguments);
    sched_setaffinity(0, sizeof cpus, &cpus);
    if (result >= 0) {
        rm_runtime_directory_tidy();
        return RM_OK;
    }

    char words[RM_DPDK_WORDS_BYTES];
    rm_dpdk_log_words(words);
    rm_runtime_directory_remove();
    rm_dpdk_log_close();
    return rm_fail(error, RM_E_SYSTEM, "DPDK does not start (%s): %s; a verbose start shows its whole log",
                   rte_strerror(rte_errno), words);
}

/** Without rte_eal_cleanup: that unmaps the memory in which DPDK's interrupt thread looks up its work, does not end
 * that thread first, and so crashes now and then. All that outlives the process is a directory. */
void rm_net_stop(void) {
    if (eal_is_started())
        rm_runtime_directory_remove();
}

bool rm_net_hugepages(void) { return eal_is_started() && rte_eal_has_hugepages() != 0; }

enum rm_code rm_net_thread_join(struct rm_error *error) {
    if (!eal_is_started() || rte_lcore_id() != LCORE_ID_ANY || rte_thread_register() == 0)
        return RM_OK;
    return rm_fail(error, RM_E_NO_SPACE, "DPDK takes no further thread (%s); it knows at most %d per process",
                   rte_strerror(rte_errno), RTE_MAX_LCORE);
}

static void flush_pool(struct rte_mempool *pool, void *context) {
    (void)context;
    struct rte_mempool_cache *const cache = rte_mempool_default_cache(pool, rte_lcore_id());
    if (cache != NULL)
        rte_mempool_cache_flush(cache, pool);
}

void rm_net_thread_flush(void) {
    if (eal_is_started() && rte_lcore_id() != LCORE_ID_ANY)
        rte_mempool_walk(flush_pool, NULL);
}

void rm_net_thread_leave(void) {
    if (eal_is_started() && rte_lcore_id() != rte_get_main_lcore()) {
        rm_net_thread_flush();
        rte_thread_unregister();
    }
}
