// SPDX-License-Identifier: Apache-2.0
/** Which network cards DPDK may touch, in a directory made to look like the kernel's; and that no others are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "net/pci_card.h"
#include "net/port.h"

struct bus {
    char directory[64];
};

static void put(struct bus const *bus, char const *address, char const *driver) {
    char path[128], target[128];
    snprintf(path, sizeof path, "%s/%s", bus->directory, address);
    assert_int_equal(mkdir(path, 0755), 0);
    if (driver == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s/driver", bus->directory, address);
    snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", driver);
    assert_int_equal(symlink(target, path), 0);
}

static void take(struct bus const *bus, char const *address) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s/driver", bus->directory, address);
    unlink(path);
    snprintf(path, sizeof path, "%s/%s", bus->directory, address);
    rmdir(path);
}

static char const *const addresses[] = {"0000:03:00.0", "0000:03:00.1", "0000:04:00.0", "10000:e1:00.0"};
static char const *const drivers[] = {"vfio-pci", "ixgbe", NULL, "mlx5_core"};

static int make_bus(void **state) {
    struct bus *const bus = calloc(1, sizeof *bus);
    strcpy(bus->directory, "/tmp/test_pci_card.XXXXXX");
    assert_non_null(mkdtemp(bus->directory));
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; ++i)
        put(bus, addresses[i], drivers[i]);
    *state = bus;
    return 0;
}

static int remove_bus(void **state) {
    struct bus *const bus = *state;
    for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; ++i)
        take(bus, addresses[i]);
    rmdir(bus->directory);
    free(bus);
    return 0;
}

static void expect_refusal(struct bus const *bus, char const *address, char const *words) {
    struct rm_error error = {0};
    assert_int_equal(rm_pci_card_check(bus->directory, address, &error), RM_E_CONFIG);
    if (strstr(error.text, words) == NULL || strstr(error.text, address) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", error.text, words);
}

static void a_card_for_programs_is_good(void **state) {
    struct bus const *const bus = *state;
    struct rm_error error;
    assert_int_equal(rm_pci_card_check(bus->directory, "0000:03:00.0", &error), RM_OK);
    assert_int_equal(rm_pci_card_check(bus->directory, "10000:e1:00.0", &error), RM_OK);
}

static void others_are_refused_with_advice(void **state) {
    struct bus const *const bus = *state;
    expect_refusal(bus, "0000:03:00.1", "belongs to the kernel (driver ixgbe); `dpdk-devbind.py --bind=vfio-pci");
    expect_refusal(bus, "0000:04:00.0", "has no driver; `dpdk-devbind.py --bind=vfio-pci");
    expect_refusal(bus, "0000:05:00.0", "there is no PCI device");
    static char const *const wrong[] = {
        "",         "03:00.0",       "0000:03:00",   "0000:03:00.0/..", "../0000:03:00.0",
        "eth0",     "0000:3:00.0",   "0000:03:0G.0", "0000:03:00.0 ",   "0000:03:00.0,x=1",
        "00:03:00", "0000:03:00.0\n"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        expect_refusal(bus, wrong[i], "is no PCI address");
}

/** Neither when DPDK starts nor when the port is opened. */
static void dpdk_is_not_asked_for_what_it_may_not_have(void **state) {
    (void)state;
    struct rm_port_config const port = {.name = "card", .kind = RM_PORT_PCI, .queues = 1, .device = "ffff:ff:1f.7"};
    struct rm_net_config net = {.prefix = "ringmaster-tests"};
    struct rm_error error = {0};
    struct rm_port *opened = NULL;
    rm_net_config_add(&net, &port);
    assert_int_equal(net.device_count, 1);
    assert_int_equal(rm_net_start(&net, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "there is no PCI device ffff:ff:1f.7"));
    assert_int_equal(rm_port_open(&port, &opened, &error), RM_E_CONFIG);
    assert_non_null(strstr(error.text, "port 'card': there is no PCI device"));
}

int main(void) {
    struct CMUnitTest const tests[] = {
        cmocka_unit_test(a_card_for_programs_is_good),
        cmocka_unit_test(others_are_refused_with_advice),
        cmocka_unit_test(dpdk_is_not_asked_for_what_it_may_not_have),
    };
    return cmocka_run_group_tests_name("PCI cards", tests, make_bus, remove_bus);
}
