// SPDX-License-Identifier: Apache-2.0
// Parameters that PVs follow: reads what has changed, and posts it to pvxs, in one loop without Python.
//
// python/ringmaster/gateways/pva_follow.py calls it, under the gateway's lock: one thread at a time. A PV is p4p's, which
// opened it with a value of a normative type. Here its value, time stamp and turn are posted. All else is left to
// Python: a parameter that is in alarm, comes into one or leaves it, or cannot be read.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <vector>

#include <pvxs/data.h>
#include <pvxs/sharedArray.h>
#include <pvxs/sharedpv.h>

struct _object;

namespace {

constexpr uint64_t NANOSECONDS = 1'000'000'000;

// As struct rm_parameter_reading of ringmaster/parameter.h, which C++ cannot read.
struct reading {
    uint64_t sequence;
    uint64_t timestamp_tai_ns;
    uint64_t turn;
    uint32_t severity;
};

using unwrap_pv = pvxs::server::SharedPV(_object *);
using copy_parameter = size_t(void const *parameter, void const *values, size_t bytes, void *copy, reading *when);

// What Python knows of a parameter when it attaches; its memory stays mapped as long as the follower lives.
struct place {
    void const *parameter;
    uint64_t const *sequence;
    void const *values;
    uint64_t bytes;
    uint64_t count;
    // p4p's letter of an element's type: 'd'.
    char code;
    // The index of an NTEnum.
    bool is_choice;
};

struct follower {
    pvxs::server::SharedPV pv;
    pvxs::Value empty;
    place from;
    std::vector<unsigned char> bytes;
    // The change that clients have.
    uint64_t changes = 0;
    // What they have is a value without alarm, so a change of it needs no other fields.
    bool plain = false;

    follower(pvxs::server::SharedPV const &of, place const &at) : pv(of), from(at) {}
};

template <typename T> void value_set(pvxs::Value field, void const *bytes, size_t count) {
    if (count == 1) {
        T one;
        std::memcpy(&one, bytes, sizeof one);
        field.from(one);
        return;
    }
    pvxs::shared_array<T> all(count);
    std::memcpy(all.data(), bytes, count * sizeof(T));
    field.from(all.freeze().template castTo<void const>());
}

bool content_set(pvxs::Value &value, place const &from, void const *bytes) {
    pvxs::Value const field = value[from.is_choice ? "value.index" : "value"];
    switch (from.code) {
    case 'd':
        value_set<double>(field, bytes, from.count);
        return true;
    case 'f':
        value_set<float>(field, bytes, from.count);
        return true;
    case 'l':
        value_set<int64_t>(field, bytes, from.count);
        return true;
    case 'i':
        value_set<int32_t>(field, bytes, from.count);
        return true;
    case 'L':
        value_set<uint64_t>(field, bytes, from.count);
        return true;
    case 'I':
        value_set<uint32_t>(field, bytes, from.count);
        return true;
    case 'B':
        value_set<uint8_t>(field, bytes, from.count);
        return true;
    default:
        return false;
    }
}

// Posts what has changed. False where that is Python's.
bool follower_look(follower &it, copy_parameter *copy, uint64_t tai_minus_utc_ns) {
    if (__atomic_load_n(it.from.sequence, __ATOMIC_RELAXED) / 2 == it.changes)
        return true;
    if (!it.plain)
        return false;
    reading when{};
    it.bytes.resize(it.from.bytes);
    if (copy(it.from.parameter, it.from.values, it.from.bytes, it.bytes.data(), &when) < it.from.bytes ||
        when.severity != 0)
        return false;
    pvxs::Value value = it.empty.cloneEmpty();
    if (!content_set(value, it.from, it.bytes.data()))
        return false;
    uint64_t const utc_ns = when.timestamp_tai_ns > tai_minus_utc_ns ? when.timestamp_tai_ns - tai_minus_utc_ns : 0;
    value["timeStamp.secondsPastEpoch"].from(utc_ns / NANOSECONDS);
    value["timeStamp.nanoseconds"].from(utc_ns % NANOSECONDS);
    value["turn"].from(when.turn);
    it.pv.post(value);
    it.changes = when.sequence / 2;
    return true;
}

} // namespace

extern "C" {

// Bytes that `copy` writes: Python compares them.
size_t rm_pva_reading_bytes() { return sizeof(reading); }

// With Python's lock held. Null where it is no PV of p4p's.
follower *rm_pva_follower_new(unwrap_pv *unwrap, _object *pv, place const *from) {
    try {
        pvxs::server::SharedPV const of = unwrap(pv);
        return of ? new follower(of, *from) : nullptr;
    } catch (std::exception const &) {
        return nullptr;
    }
}

void rm_pva_follower_free(follower *it) { delete it; }

// What Python has just posted to an open PV: this change, and whether it was a value without alarm.
void rm_pva_follower_told(follower *it, uint64_t changes, int plain) {
    try {
        if (!it->empty)
            it->empty = it->pv.fetch().cloneEmpty();
        it->changes = changes;
        it->plain = plain != 0;
    } catch (std::exception const &) {
        it->plain = false;
    }
}

// Whether clients have this change already, as a value without alarm.
bool rm_pva_follower_has(follower const *it, uint64_t changes) { return it->plain && it->changes == changes; }

// Looks at all. Returns how many are left to Python: their numbers are in `left`, which has room for all.
size_t rm_pva_look(follower *const *all, size_t count, copy_parameter *copy, uint64_t tai_minus_utc_ns,
                   uint32_t *left) {
    size_t found = 0;
    for (size_t i = 0; i < count; i++) {
        bool done = false;
        try {
            done = follower_look(*all[i], copy, tai_minus_utc_ns);
        } catch (std::exception const &) {
            all[i]->plain = false;
        }
        if (!done)
            left[found++] = static_cast<uint32_t>(i);
    }
    return found;
}
}
