// SPDX-License-Identifier: Apache-2.0
/* Two servers, three chains, and whatever comes between them: the protocol of standby.h, for Debian's `spin`.
 *
 *     spin -a model.pml && cc -O2 -DSAFETY -DCOLLAPSE -o pan pan.c && ./pan -m100000     checks all that is asserted
 *     spin -DTRACE -DFAULTS=12 -T -n7 model.pml                                          plays once (traces/make_traces.py)
 *     spin -DTOLD -T -t model.pml                                 tells what led to an assertion that failed
 *
 * tests/property/test_standby_model.py runs the first two. Mutants leave one rule out: -DNO_CONFIRM and others, below.
 *
 * What is as in the code: every rule and every number of cycles, with N = 2. The code replays what the model plays, and
 * comes to the same role, act and term in each cycle.
 *
 * What is abstracted:
 *   - Time goes in rounds, one per cycle, for both servers at once. Datagrams come in the round in which they are sent,
 *     or are lost. The only late one is that of a server that slept between its decision and its datagrams.
 *   - Faults are events: a round has at most one, and a run has FAULTS of them, at any rounds. A cut lasts until another
 *     event mends it. So this is all that up to FAULTS faults can do, and no proof for more.
 *   - The chains are alike, so a cut of one chain is of chain 0, one of two is of chains 0 and 1.
 *   - The link tells each server of the peer's last round. A copy of the peer's state takes JOINS rounds.
 *   - No holds, no deaf servers, no end of terms, no configuration that differs: these only keep a server quiet.
 *
 * What is asserted:
 *   - MASTER    No two servers send for longer than N + 1 rounds, each with a majority of chains; nor do chains obey two
 *               servers for longer than N + 1 rounds.
 *   - TERMS     The two servers never have the same term, a chain never obeys two servers under one, and few are used.
 *   - SILENCE   None takes over unless a majority of chains obeyed nobody for N rounds.
 *   - ALWAYS    STABLE rounds after the last fault one server is ACTIVE and all chains obey it, whether or not an
 *               operator acknowledges. The acknowledgement is an event, and no fault. */

#define N 2
#define CHAINS 3
#define MAJORITY 2
#define BEGINS 10
#define PEER_FIRST (2 * N + 2)
#define LISTENS (N + 3)
#define JOINS 2
#define LINK_TIMEOUT 3
/* Ages stop here: never. Those that no rule looks at beyond stop before. */
#define NEVER (2 * BEGINS + 1)
#define STABLE (2 * BEGINS + PEER_FIRST + 2 * N + 4)
#define TERMS 24

#ifndef FAULTS
#define FAULTS 2
#endif

#define JOINING 1
#define READY 2
#define ACTIVE 3

#define QUIET 0
#define ASKS 1
#define SENDS 2

#define AT(s, c) ((s) * CHAINS + (c))
#define ALL(f, s) (f(s, 0) + f(s, 1) + f(s, 2))
#define MOST(f, s) (ALL(f, s) >= MAJORITY)

/* Mutants: each takes one rule away. */
#ifdef NO_CONFIRM
#define CONFIRMS false
#else
#define CONFIRMS true
#endif
#ifdef NO_PARITY
#define FIRST_ABOVE(s, x) ((x) + 1)
#else
#define FIRST_ABOVE(s, x) ((x) + 1 + (((x) + 1 + (s) + 1) % 2))
#endif
#ifdef NO_SILENCE
#define ENOUGH 0
#else
#define ENOUGH N
#endif
#ifdef NO_VAIN
#define REMEMBERS_VAIN false
#else
#define REMEMBERS_VAIN true
#endif
#ifdef NO_RAISE
#define RAISES false
#else
#define RAISES true
#endif
#ifdef NO_BEGIN
#define BEGINS_AT_ALL false
#else
#define BEGINS_AT_ALL true
#endif

#if defined TRACE || defined TOLD
#define SAY(text) printf text
#else
#define SAY(text) skip
#endif

/* ── servers ── */
byte role[2] = JOINING, act[2], term[2], highest[2], life[2];
bool unacknowledged[2], peer_unacknowledged[2], acknowledges[2], was_last[2], in_vain[2], took[2], confirmed[2], dead[2], asleep[2];
/* Its first round is still to come. */
bool fresh[2] = true;
/* Ages in rounds. */
byte began[2], stopped[2] = NEVER, ran[2], waits[2], copied[2] = NEVER, slept[2];
/* 0: no chain is astray, a majority misses setpoints; else since when, and one. */
byte disputed[2], served[2];
/* A planned switch: rounds to go, and that it is due. */
byte switch_in[2];
bool switch_due[2];
/* Between its decision and its datagrams: their age and one; 0: no. */
byte interrupted[2];
byte old_term[2];

/* ── what a server heard of a chain ── */
byte told[6];
bool listened[6], silent[6], refused[6];
byte heard[6] = PEER_FIRST, obeyed[6] = NEVER, ours[6] = PEER_FIRST, asked[6] = N + 1, reached[6] = N + 1;

/* ── the link, as it was heard a round ago ── */
bool link_cut, synchronised[2], link_alive[2];
byte joined[2], link_role[2], link_term[2], link_age[2], copy_age[2];
bool link_unacknowledged[2];

/* ── chains ── */
byte chain_term[3], chain_life[3], chain_master[3], chain_silent[3] = NEVER, chain_listens[3], gap[3] = N + 1;
bool lost_to[6], lost_from[6];

/* ── the run ── */
bool odd;
byte faults = FAULTS, both, divided, rounds;
byte s, c, x, y;
bool b, d;

#define GROW_TO(age, end) age = (age < (end) -> age + 1 : age)
#define GROW(age) GROW_TO(age, NEVER)
#define MIN3(a, i) (a[i] < a[i + 1] -> (a[i] < a[i + 2] -> a[i] : a[i + 2]) : (a[i + 1] < a[i + 2] -> a[i + 1] : a[i + 2]))

#define WITH_US(s, c) (ours[AT(s, c)] <= N)
#define ABOVE(s, c) (told[AT(s, c)] > term[s])
#define ASTRAY(s, c) (ABOVE(s, c) || (told[AT(s, c)] == term[s] && refused[AT(s, c)]))
#define ABOVE_OBEYING(s, c) (ABOVE(s, c) && obeyed[AT(s, c)] <= N)
#define MISSING(s, c) (obeyed[AT(s, c)] >= N)
#define MISSING_LONG(s, c) (obeyed[AT(s, c)] >= BEGINS * (s + 1))
#define SILENT(s, c) \
    (asked[AT(s, c)] <= N && !listened[AT(s, c)] && silent[AT(s, c)] && obeyed[AT(s, c)] - asked[AT(s, c)] >= ENOUGH)
#define SILENT_REACHED(s, c) (reached[AT(s, c)] <= N && SILENT(s, c))
#define STILL_OURS(s, c) \
    (reached[AT(s, c)] <= N && !listened[AT(s, c)] && reached[AT(s, c)] <= stopped[s] && told[AT(s, c)] == term[s])
#define RECENT(s) (MIN3(obeyed, AT(s, 0)) <= BEGINS)
#define OWN_ROUND(s) (odd == 1 - s)
#define AWAKE(s) (!dead[s] && !asleep[s])
#define PEER_ROLE(s) (link_alive[1 - s] -> link_role[1 - s] : 0)
#define WAITS_FOR_OPERATOR(s) (unacknowledged[s] || peer_unacknowledged[s])
#define GAP(s, c) (gap[c] <= N)
#define OBEYS(s, c) (chain_silent[c] == 0 && chain_master[c] == s)

/* ── a server's round ── */

inline stop_sending(s, next_role) {
    role[s] = next_role;
    was_last[s] = (next_role == READY);
    stopped[s] = 0;
    waits[s] = 0;
    copied[s] = NEVER
}

inline take_term(s, next) {
    if
    :: next != term[s] ->
        for (c : 0 .. 2) { ours[AT(s, c)] = PEER_FIRST; refused[AT(s, c)] = false }
    :: else
    fi;
    term[s] = next;
    began[s] = 0;
    disputed[s] = 0;
    highest[s] = (next > highest[s] -> next : highest[s])
}

inline begin_sending(s, by_take) {
    assert(!by_take || MOST(GAP, s)); /* SILENCE */
    role[s] = ACTIVE;
    took[s] = by_take;
    confirmed[s] = false;
    was_last[s] = false;
    copied[s] = NEVER;
    served[s] = 0;
    x = (term[s] != 0 && term[s] == highest[s] -> term[s] : FIRST_ABOVE(s, highest[s]));
    take_term(s, x);
    act[s] = SENDS
}

inline raise_term(s) {
    if
    :: ALL(ASTRAY, s) == 0 -> disputed[s] = 0
    :: else ->
        if
        :: disputed[s] == 0 -> disputed[s] = 1
        :: disputed[s] > PEER_FIRST && ALL(ABOVE_OBEYING, s) == 0 && RAISES ->
            x = FIRST_ABOVE(s, highest[s]);
            take_term(s, x)
        :: else
        fi
    fi
}

inline go_on(s) {
    act[s] = QUIET;
    if
    :: switch_due[s] && PEER_ROLE(s) == READY -> stop_sending(s, READY)
    :: else ->
        if
        :: MOST(ABOVE, s) -> stop_sending(s, JOINING)
        :: else ->
            if
            :: began[s] >= N && !MOST(WITH_US, s) && CONFIRMS ->
                stop_sending(s, READY);
                in_vain[s] = REMEMBERS_VAIN && !confirmed[s];
                act[s] = (OWN_ROUND(s) -> ASKS : QUIET)
            :: else ->
                act[s] = SENDS;
                if
                :: MOST(WITH_US, s) ->
                    unacknowledged[s] = unacknowledged[s] || (took[s] && !confirmed[s]);
                    confirmed[s] = true;
                    raise_term(s)
                :: else
                fi
            fi
        fi
    fi
}

inline settle_role(s) {
    /* b: its state is a copy of the newest; d: it was last itself. */
    b = (copied[s] == 0 || (copied[s] <= BEGINS && PEER_ROLE(s) != ACTIVE && MIN3(obeyed, AT(s, 0)) >= copied[s]));
    if
    :: copied[s] != NEVER || !RECENT(s) || MOST(ABOVE, s) -> was_last[s] = false
    :: else
    fi;
    d = (was_last[s] && !(PEER_ROLE(s) == ACTIVE && link_term[1 - s] > term[s]));
    copied[s] = (b -> copied[s] : NEVER);
    role[s] = (b || d -> READY : JOINING)
}

#define READY_TO_TAKE(s) (role[s] == READY && !was_last[s] && !in_vain[s] && !WAITS_FOR_OPERATOR(s) && RECENT(s))

inline wait_its_turn(s) {
    settle_role(s);
    served[s] = (MOST(MISSING, s) || !in_vain[s] -> 0 : (served[s] == 0 -> 1 : served[s]));
    in_vain[s] = in_vain[s] && served[s] <= PEER_FIRST;
    if
    :: role[s] == READY && !was_last[s] && switch_due[s] && slept[s] < N -> begin_sending(s, false)
    :: else ->
        if
        :: role[s] == READY && was_last[s] && MOST(STILL_OURS, s) &&
           (PEER_ROLE(s) != READY || WAITS_FOR_OPERATOR(s) || stopped[s] >= PEER_FIRST) -> begin_sending(s, false)
        :: else ->
            if
            :: READY_TO_TAKE(s) && ran[s] >= N && MOST(SILENT, s) -> begin_sending(s, true)
            :: else ->
                if
                :: waits[s] >= BEGINS * (s + 1) && MOST(MISSING_LONG, s) && MOST(SILENT_REACHED, s) && BEGINS_AT_ALL ->
                    begin_sending(s, false)
                :: else ->
                    b = MOST(MISSING, s);
                    act[s] = ((b && READY_TO_TAKE(s)) ||
                              ((b || was_last[s]) && OWN_ROUND(s)) -> ASKS : QUIET)
                fi
            fi
        fi
    fi
}

inline heed_orders(s) {
    highest[s] = (link_alive[1 - s] && link_term[1 - s] > highest[s] -> link_term[1 - s] : highest[s]);
    peer_unacknowledged[s] = (link_alive[1 - s] -> link_unacknowledged[1 - s] : peer_unacknowledged[s]);
    if
    :: acknowledges[s] ->
        unacknowledged[s] = (fresh[s] -> unacknowledged[s] : false);
        peer_unacknowledged[s] = (fresh[s] -> peer_unacknowledged[s] : false);
        acknowledges[s] = false
    :: else
    fi;
    /* The copy follows while the peer sends, and stays when the peer stops. */
    if
    :: PEER_ROLE(s) == ACTIVE && role[s] != ACTIVE ->
        joined[s] = (joined[s] < JOINS -> joined[s] + 1 : JOINS);
        synchronised[s] = (joined[s] == JOINS -> true : synchronised[s]);
        copy_age[s] = (joined[s] == JOINS -> 1 : copy_age[s])
    :: else ->
        if
        :: PEER_ROLE(s) == 0 || role[s] == ACTIVE -> synchronised[s] = false; joined[s] = 0
        :: else
        fi
    fi;
    copied[s] = (synchronised[s] -> 0 : copied[s])
}

inline serve(s) {
    if
    :: AWAKE(s) ->
        heed_orders(s);
        SAY(("O %d %d %d %d %d %d\n", s, synchronised[s], copy_age[s], (link_alive[1 - s] -> link_role[1 - s] + 1 : 0),
             (link_alive[1 - s] -> link_term[1 - s] : 0), (link_alive[1 - s] -> link_unacknowledged[1 - s] : 0)));
        if
        :: fresh[s] -> waits[s] = 0; ran[s] = 0; switch_due[s] = false
        :: else -> ran[s] = (slept[s] > 0 -> 0 : ran[s])
        fi;
        if
        :: role[s] == ACTIVE -> go_on(s)
        :: else -> wait_its_turn(s)
        fi;
        fresh[s] = false;
        switch_due[s] = false;
        slept[s] = 0;
        SAY(("C %d %d %d %d %d\n", s, act[s], role[s], term[s], unacknowledged[s]))
    :: else ->
        act[s] = QUIET;
        slept[s] = (slept[s] < N -> slept[s] + 1 : N)
    fi
}

/* ── datagrams ── */

/* Server y hears chain c: a datagram of `age` rounds ago was obeyed, refused, noted or asked. */
inline hear(y, c, age, is_obeyed, is_asked) {
    if
    :: AWAKE(y) && !lost_from[AT(y, c)] ->
        SAY(("A %d %d %d %d %d %d %d %d\n", y, c, age, chain_term[c], is_obeyed, is_asked,
             (is_asked -> chain_silent[c] : 0), chain_listens[c] > 0));
        highest[y] = (chain_term[c] > highest[y] -> chain_term[c] : highest[y]);
        if
        :: is_obeyed && age < obeyed[AT(y, c)] -> obeyed[AT(y, c)] = age
        :: is_asked && chain_silent[c] < obeyed[AT(y, c)] -> obeyed[AT(y, c)] = chain_silent[c]
        :: else
        fi;
        if
        :: !is_obeyed && !is_asked && chain_listens[c] == 0 && age < ours[AT(y, c)] -> refused[AT(y, c)] = true
        :: (is_obeyed || (!is_asked && chain_listens[c] > 0)) && term[y] != 0 && chain_term[c] == term[y] ->
            ours[AT(y, c)] = (age < ours[AT(y, c)] -> age : ours[AT(y, c)]);
            refused[AT(y, c)] = (age == ours[AT(y, c)] -> false : refused[AT(y, c)])
        :: else
        fi;
        if
        :: age <= heard[AT(y, c)] ->
            heard[AT(y, c)] = age;
            told[AT(y, c)] = chain_term[c];
            listened[AT(y, c)] = (chain_listens[c] > 0);
            if
            :: is_asked ->
                asked[AT(y, c)] = age;
                reached[AT(y, c)] = (OWN_ROUND(y) -> age : reached[AT(y, c)]);
                silent[AT(y, c)] = (chain_silent[c] >= ENOUGH)
            :: else
            fi
        :: else
        fi
    :: else
    fi
}

/* Setpoints of server s, under the term `under`, from a decision of `age` rounds ago. */
inline send(s, under, age) {
    for (c : 0 .. 2) {
        if
        :: !lost_to[AT(s, c)] ->
            d = !(under < chain_term[c] || (under == chain_term[c] && life[s] != chain_life[c]));
            if
            :: d -> chain_term[c] = under; chain_life[c] = life[s]
            :: else
            fi;
            d = d && chain_listens[c] == 0;
            if
            :: d ->
                chain_master[c] = s;
                chain_silent[c] = 0
            :: else
            fi;
            hear(0, c, age, d, false);
            hear(1, c, age, d, false)
        :: else
        fi
    }
}

inline ask(s) {
    for (c : 0 .. 2) {
        if
        :: !lost_to[AT(s, c)] -> hear(0, c, 0, false, true); hear(1, c, 0, false, true)
        :: else
        fi
    }
}

/* ── a round ── */

inline grow_ages() {
    for (s : 0 .. 1) {
        GROW_TO(began[s], N);
        GROW(stopped[s]);
        GROW_TO(ran[s], N);
        GROW(waits[s]);
        GROW(copied[s]);
#if defined TRACE || defined TOLD
        GROW(copy_age[s]);
#endif
        disputed[s] = (disputed[s] == 0 || disputed[s] > PEER_FIRST -> disputed[s] : disputed[s] + 1);
        served[s] = (served[s] == 0 || served[s] > PEER_FIRST -> served[s] : served[s] + 1);
        interrupted[s] = (interrupted[s] == 0 || interrupted[s] > PEER_FIRST -> interrupted[s] : interrupted[s] + 1);
        switch_due[s] = switch_due[s] || switch_in[s] == 1;
        switch_in[s] = (switch_in[s] > 0 -> switch_in[s] - 1 : 0)
    }
    for (x : 0 .. 5) {
        GROW_TO(heard[x], PEER_FIRST);
        GROW(obeyed[x]);
        GROW_TO(ours[x], PEER_FIRST);
        GROW_TO(asked[x], N + 1);
        GROW_TO(reached[x], N + 1)
    }
    for (c : 0 .. 2) {
        GROW(chain_silent[c]);
        GROW_TO(gap[c], N + 1);
        gap[c] = (chain_silent[c] >= N -> 0 : gap[c]);
        chain_listens[c] = (chain_listens[c] > 0 -> chain_listens[c] - 1 : 0)
    }
    odd = !odd
}

inline link_tells() {
    for (s : 0 .. 1) {
        link_age[s] = (AWAKE(s) -> 0 : (link_age[s] < LINK_TIMEOUT -> link_age[s] + 1 : LINK_TIMEOUT));
        link_alive[s] = (!link_cut && link_age[s] < LINK_TIMEOUT);
        link_role[s] = (!link_alive[s] -> 0 : (AWAKE(s) -> role[s] : link_role[s]));
        link_term[s] = (!link_alive[s] -> 0 : (AWAKE(s) -> term[s] : link_term[s]));
        link_unacknowledged[s] = (link_alive[s] && (AWAKE(s) -> unacknowledged[s] : link_unacknowledged[s]))
    }
}

#define CONFIRMED(s) (AWAKE(s) && role[s] == ACTIVE && MOST(WITH_US, s))

inline judge() {
    b = CONFIRMED(0) && CONFIRMED(1);
    both = (b -> both + 1 : 0);
    assert(both <= N + 1); /* MASTER */
    b = ALL(OBEYS, 0) > 0 && ALL(OBEYS, 1) > 0;
    divided = (b -> divided + 1 : 0);
    assert(divided <= N + 1); /* MASTER */
    assert(term[0] == 0 || term[0] != term[1]); /* TERMS */
    assert(term[0] < TERMS && term[1] < TERMS)
}

/* What no rule will look at tells no states apart. */
inline forget_what_is_over() {
    for (s : 0 .. 1) {
        if
        :: role[s] == ACTIVE -> waits[s] = 0
        :: else ->
            took[s] = false;
            confirmed[s] = false;
            began[s] = 0;
            disputed[s] = 0;
            stopped[s] = (was_last[s] -> stopped[s] : NEVER)
        fi
    }
}

inline run_round() {
    grow_ages();
    SAY(("R\n"));
    serve(0);
    serve(1);
    for (s : 0 .. 1) {
        if
        :: AWAKE(s) && interrupted[s] > 0 ->
            send(s, old_term[s], interrupted[s] - 1);
            interrupted[s] = 0
        :: else
        fi
    }
    for (s : 0 .. 1) {
        if
        :: act[s] == SENDS -> send(s, term[s], 0)
        :: else
        fi
    }
    for (s : 0 .. 1) {
        if
        :: act[s] == ASKS -> ask(s)
        :: else
        fi
    }
    link_tells();
    judge();
    forget_what_is_over();
    s = 0; c = 0; x = 0; y = 0; b = false; d = false
}

/* ── events ── */

inline forget(s) {
    role[s] = JOINING;
    act[s] = QUIET;
    term[s] = 0;
    was_last[s] = false;
    in_vain[s] = false;
    took[s] = false;
    confirmed[s] = false;
    peer_unacknowledged[s] = false;
    acknowledges[s] = false;
    fresh[s] = true;
    began[s] = 0;
    stopped[s] = NEVER;
    copied[s] = NEVER;
    disputed[s] = 0;
    served[s] = 0;
    switch_in[s] = 0;
    switch_due[s] = false;
    interrupted[s] = 0;
    synchronised[s] = false;
    joined[s] = 0;
    slept[s] = 0;
    asleep[s] = false;
    for (c : 0 .. 2) {
        told[AT(s, c)] = 0;
        listened[AT(s, c)] = false;
        silent[AT(s, c)] = false;
        refused[AT(s, c)] = false;
        heard[AT(s, c)] = PEER_FIRST;
        obeyed[AT(s, c)] = NEVER;
        ours[AT(s, c)] = PEER_FIRST;
        asked[AT(s, c)] = N + 1;
        reached[AT(s, c)] = N + 1
    }
}

inline start(s, known) {
    dead[s] = false;
    highest[s] = known;
    life[s] = life[s] + 2;
    SAY(("S %d %d %d\n", s, known, unacknowledged[s]))
}

inline cut_or_mend(s, to_chain) {
    if
    :: y = 0
    :: y = 1
    :: y = 2
    fi;
    for (c : 0 .. y) {
        if
        :: to_chain -> lost_to[AT(s, c)] = !lost_to[AT(s, c)]
        :: else -> lost_from[AT(s, c)] = !lost_from[AT(s, c)]
        fi
    }
}

/* Server s keeps the last chain alone, both ways, and the other server all others. */
inline divide(s) {
    for (c : 0 .. 2) {
        lost_to[AT(s, c)] = (c != 2);
        lost_from[AT(s, c)] = (c != 2);
        lost_to[AT(1 - s, c)] = (c == 2);
        lost_from[AT(1 - s, c)] = (c == 2)
    }
}

/* Chain 0 is away until the faults end, and has a term of an earlier life of a server whose disk was lost. */
inline hide_chain(earlier) {
    for (s : 0 .. 1) {
        lost_to[AT(s, 0)] = true;
        lost_from[AT(s, 0)] = true
    }
    chain_term[0] = earlier;
    chain_life[0] = 0
}

inline fall_asleep(s) {
    asleep[s] = true;
    if
    :: true
    :: role[s] == ACTIVE && act[s] == SENDS -> interrupted[s] = 1; old_term[s] = term[s]
    fi
}

inline lose_power() {
    if
    :: c = 0
    :: c = 1
    fi;
    chain_term[c] = 0;
    chain_life[c] = 0;
    chain_silent[c] = NEVER;
    chain_listens[c] = LISTENS
}

inline order_switch() {
    if
    :: role[0] == ACTIVE && role[1] != ACTIVE -> x = 0
    :: role[1] == ACTIVE && role[0] != ACTIVE -> x = 1
    :: else -> x = 2
    fi;
    if
    :: x < 2 ->
        switch_in[x] = 3;
        SAY(("W %d 3\n", x));
        if
        :: true
        :: switch_in[1 - x] = 3; SAY(("W %d 3\n", 1 - x))
        fi
    :: else
    fi
}

inline acknowledge() {
    acknowledges[0] = !dead[0];
    acknowledges[1] = !dead[1];
    SAY(("K\n"))
}

/* All faults end, and the pair is left alone. */
inline heal() {
    for (s : 0 .. 1) {
        if
        :: dead[s] -> start(s, highest[s])
        :: else -> asleep[s] = false
        fi
    }
    for (x : 0 .. 5) {
        lost_to[x] = false;
        lost_from[x] = false
    }
    link_cut = false;
    rounds = STABLE;
    do
    :: rounds > 0 -> run_round(); rounds = rounds - 1
    :: else -> break
    od;
    assert((role[0] == ACTIVE && ALL(OBEYS, 0) == CHAINS && role[1] == READY) ||
           (role[1] == ACTIVE && ALL(OBEYS, 1) == CHAINS && role[0] == READY)) /* ALWAYS */
}

/* One event of a server. */
inline strike_server(s) {
    if
    :: !dead[s] -> forget(s); dead[s] = true
    :: dead[s] -> start(s, highest[s])
    :: dead[s] -> start(s, 0)
    :: AWAKE(s) -> fall_asleep(s)
    :: !dead[s] && asleep[s] -> asleep[s] = false
    :: cut_or_mend(s, true)
    :: cut_or_mend(s, false)
    fi
}

inline strike() {
    faults = faults - 1;
    if
    :: strike_server(0)
    :: strike_server(1)
    :: divide(0)
    :: divide(1)
    :: lose_power()
    :: link_cut = !link_cut
    :: order_switch()
    fi
}

init {
    d_step {
        life[0] = 1;
        life[1] = 2;
        link_alive[0] = true;
        link_alive[1] = true;
        link_role[0] = JOINING;
        link_role[1] = JOINING
    }
    SAY(("S 0 0 0\nS 1 0 0\n"));
    atomic {
        if
        :: true
        :: hide_chain(1)
        :: hide_chain(4)
        fi
    }
    do
    :: faults == 0 -> d_step { heal() } break
    :: faults == 0 && (unacknowledged[0] || unacknowledged[1]) -> d_step { acknowledge(); heal() } break
    :: true ->
        atomic {
            if
            :: true
#ifdef TRACE
            /* More quiet rounds than others, so that a fault meets what the last one left. */
            :: true
            :: true
            :: true
            :: true
            :: true
            :: true
            :: true
#endif
            :: faults > 0 -> strike()
            :: (unacknowledged[0] || unacknowledged[1]) && !acknowledges[0] && !acknowledges[1] -> acknowledge()
            fi;
            d_step { run_round() }
        }
    od
}
