// SPDX-License-Identifier: Apache-2.0
/** Network cards on the PCI bus, as the kernel shows them. */
#ifndef RM_NET_PCI_CARD_H
#define RM_NET_PCI_CARD_H

#include <ringmaster/error.h>

/** Checks that `address`, such as "0000:03:00.0", is a card that DPDK may take: it exists, and is bound to vfio-pci or
 * another driver that leaves the card to programs. DPDK must not be asked before: some of its drivers take a card from
 * the kernel. `devices` is the kernel's directory, RM_PCI_DEVICES. */
enum rm_code rm_pci_card_check(char const *devices, char const *address, struct rm_error *error);

#define RM_PCI_DEVICES "/sys/bus/pci/devices"

#endif
