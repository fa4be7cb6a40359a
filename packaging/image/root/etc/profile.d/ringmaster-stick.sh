# SPDX-License-Identifier: Apache-2.0
alias stick=/usr/lib/ringmaster-stick/welcome
for _ in 1 2 3 4 5; do # meanwhile cards are set up, which takes longer on a slow machine
    [ -e /run/ringmaster-stick/cards ] || sleep 1
done
/usr/lib/ringmaster-stick/welcome
kill -s RTMIN+21 1 # from now on systemd does not say over the prompt what it starts
