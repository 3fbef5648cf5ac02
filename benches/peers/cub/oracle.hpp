// Expected results, by plain loops on the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace peer {

// Whole numbers in the order that CUB gives the keys: zeros of both signs are equal, NaNs at the ends.
inline uint32_t ordered(uint32_t key) { return key; }
inline uint64_t ordered(uint64_t key) { return key; }
inline uint32_t ordered(float key) {
    uint32_t bits;
    std::memcpy(&bits, &key, sizeof bits);
    if (bits == 0x80000000) {
        bits = 0;
    }
    return bits & 0x80000000 ? ~bits : bits | 0x80000000;
}

// Sorts keys by bits `begin` to `end`, and values with them, stably: a counting sort for each digit of 8 bits, the least
// significant first.
template <typename Key, typename Value>
void sort_pairs(std::vector<Key>& keys, std::vector<Value>& values, int begin, int end) {
    std::vector<Key> other_keys(keys.size());
    std::vector<Value> other_values(values.size());
    for (int bit = begin; bit < end; bit += 8) {
        auto digit = [&](Key key) { return static_cast<size_t>(ordered(key) >> bit & 0xff); };
        std::vector<size_t> offsets(257);
        for (Key key : keys) {
            offsets[digit(key) + 1]++;
        }
        for (size_t i = 0; i < 256; i++) {
            offsets[i + 1] += offsets[i];
        }
        for (size_t i = 0; i < keys.size(); i++) {
            size_t rank = offsets[digit(keys[i])]++;
            other_keys[rank] = keys[i];
            if (!values.empty()) {
                other_values[rank] = values[i];
            }
        }
        keys.swap(other_keys);
        values.swap(other_values);
    }
}

template <typename Key>
void sort_keys(std::vector<Key>& keys, int begin = 0, int end = 8 * sizeof(Key)) {
    std::vector<char> none;
    sort_pairs(keys, none, begin, end);
}

// A sum of floats, and how far one in another order and in f32 may lie from it.
struct BoundedSum {
    double sum = 0, bound = 0;
};

// Adds floats one by one. Rounding errors are taken as a random walk of as many steps as tiles of 256 elements, 64
// standard deviations long, unless the strict bound is less.
class FloatSum {
public:
    void add(float value) {
        length_ += 1;
        sum_ += value;
        absolute_ += std::fabs(value);
        highest_ = std::max(highest_, std::fabs(sum_));
    }

    BoundedSum result() const {
        double strict = length_ * absolute_, likely = 64 * (1 + std::sqrt(length_ / 256)) * highest_;
        return {sum_, std::ldexp(std::min(strict, likely), -24)};
    }

private:
    double length_ = 0, sum_ = 0, absolute_ = 0, highest_ = 0;
};

}  // namespace peer
