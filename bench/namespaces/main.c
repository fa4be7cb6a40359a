// SPDX-License-Identifier: Apache-2.0
/** ringmaster-veth-pair [--links N] [--mtu M]: makes N veth pairs between two new network namespaces (see veth_pair.h),
 * prints the two process ids that hold them in one line, and removes everything when its standard input ends:
 *
 *     coproc PAIR { ringmaster-veth-pair; }; read A B <&${PAIR[0]}
 *     nsenter --net=/proc/$A/ns/net COMMAND & nsenter --net=/proc/$B/ns/net COMMAND
 *
 * Exit status 77, which test runners take as skipped, where namespaces cannot be made; 2 for options that it has not.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/options.h"
#include "veth_pair.h"

enum { SKIPPED = 77 };

int main(int argc, char **argv) {
    uint64_t links = 1, mtu = 1500;
    struct rm_option options[] = {
        {"links", &links, 1, RM_VETH_LINKS_MAX, .kind = RM_OPTION_WHOLE},
        {"mtu", &mtu, RM_VETH_MTU_MIN, RM_VETH_MTU_MAX, .kind = RM_OPTION_WHOLE},
    };
    rm_options_or_exit(argc, argv, "Usage: ringmaster-veth-pair [--links N] [--mtu BYTES]\n", options,
                       sizeof options / sizeof *options);
    struct rm_veth_pair pair;
    if (!rm_veth_links_make(&pair, (struct rm_veth_links){.count = (int)links, .mtu = (int)mtu}))
        return SKIPPED;
    printf("%d %d\n", pair.holder[0], pair.holder[1]);
    fflush(stdout);
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        ;
    rm_veth_pair_remove(&pair);
    return 0;
}
