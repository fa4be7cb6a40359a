// SPDX-License-Identifier: Apache-2.0
/** veth_pair: makes a veth pair between two new network namespaces (see veth_pair.h), prints the two process ids that
 * hold them in one line, and removes everything when its standard input ends:
 *
 *     coproc PAIR { veth_pair; }; read A B <&${PAIR[0]}
 *     nsenter --net=/proc/$A/ns/net COMMAND & nsenter --net=/proc/$B/ns/net COMMAND
 *
 * Exit status 77, which test runners take as skipped, where namespaces cannot be made.
 */
#include <stdio.h>
#include <unistd.h>

#include "veth_pair.h"

enum { SKIPPED = 77 };

int main(void) {
    struct rm_veth_pair pair;
    if (!rm_veth_pair_make(&pair))
        return SKIPPED;
    printf("%d %d\n", pair.holder[0], pair.holder[1]);
    fflush(stdout);
    char bytes[64];
    while (read(STDIN_FILENO, bytes, sizeof bytes) > 0)
        ;
    rm_veth_pair_remove(&pair);
    return 0;
}
