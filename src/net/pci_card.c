// SPDX-License-Identifier: Apache-2.0
#include "net/pci_card.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "net/port.h"

/** Drivers that leave a card to programs, wholly, or (mlx…) beside the kernel. */
static char const *const good_drivers[] = {"vfio-pci", "uio_pci_generic", "igb_uio", "mlx4_core", "mlx5_core"};

/** "0000:03:00.0", in lower case as the kernel writes it: nothing else may become part of a path. */
static bool is_address(char const *text) {
    unsigned domain, bus, device, function;
    char canonical[RM_PORT_NAME_BYTES];
    if (sscanf(text, "%8x:%2x:%2x.%1x", &domain, &bus, &device, &function) != 4)
        return false;
    snprintf(canonical, sizeof canonical, "%04x:%02x:%02x.%x", domain, bus, device, function);
    return strcmp(text, canonical) == 0;
}

enum rm_code rm_pci_card_check(char const *devices, char const *address, struct rm_error *error) {
    char path[512], target[512];
    if (!is_address(address))
        return rm_fail(error, RM_E_CONFIG, "'%s' is no PCI address; expected one as `lspci -D` writes it, 0000:03:00.0",
                       address);
    snprintf(path, sizeof path, "%s/%s", devices, address);
    if (access(path, F_OK) != 0)
        return rm_fail(error, RM_E_CONFIG,
                       "there is no PCI device %s; `dpdk-devbind.py --status-dev net` shows those "
                       "there are",
                       address);
    snprintf(path, sizeof path, "%s/%s/driver", devices, address);
    ssize_t const length = readlink(path, target, sizeof target - 1);
    if (length < 0)
        return rm_fail(error, RM_E_CONFIG,
                       "the PCI device %s has no driver; `dpdk-devbind.py --bind=vfio-pci %s` "
                       "gives it one for DPDK",
                       address, address);
    target[length] = '\0';
    char const *const slash = strrchr(target, '/');
    char const *const driver = slash == NULL ? target : slash + 1;
    for (size_t i = 0; i < sizeof good_drivers / sizeof good_drivers[0]; ++i)
        if (strcmp(driver, good_drivers[i]) == 0)
            return RM_OK;
    return rm_fail(error, RM_E_CONFIG,
                   "the PCI device %s belongs to the kernel (driver %s); `dpdk-devbind.py --bind=vfio-pci %s` takes it "
                   "away from there, with its network",
                   address, driver, address);
}
