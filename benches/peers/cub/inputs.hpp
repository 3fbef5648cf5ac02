// The inputs of subsweep's cases: tool/src/harness/inputs.rs, numbers.rs and keys.rs, in C++.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

namespace peer {

// Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014.
struct SplitMix64 {
    uint64_t state;

    uint64_t next() {
        state += 0x9e3779b97f4a7c15;
        uint64_t z = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        return z ^ (z >> 31);
    }
};

// `Input::Uniform`: words of 32 bits.
inline std::vector<uint32_t> uniform_words(size_t count, uint64_t seed) {
    SplitMix64 random{seed};
    std::vector<uint32_t> words(count);
    for (uint32_t& word : words) {
        word = static_cast<uint32_t>(random.next() >> 32);
    }
    return words;
}

// Values of a type out of consecutive words.
template <typename T>
std::vector<T> of_words(const std::vector<uint32_t>& words) {
    std::vector<T> values(words.size() * sizeof(uint32_t) / sizeof(T));
    std::memcpy(values.data(), words.data(), values.size() * sizeof(T));
    return values;
}

// Uniform keys, of which any bits are possible; the seed is the number of keys.
template <typename Key>
std::vector<Key> uniform_keys(size_t count) {
    return of_words<Key>(uniform_words(count * sizeof(Key) / 4, count));
}

// Uniform whole numbers for scans and reductions; the seed is the number of words.
template <typename Number>
std::vector<Number> uniform_numbers(size_t count) {
    size_t words = count * sizeof(Number) / 4;
    return of_words<Number>(uniform_words(words, words));
}

// Uniform floats from -1 to 1.
template <>
inline std::vector<float> uniform_numbers<float>(size_t count) {
    std::vector<float> numbers;
    numbers.reserve(count);
    for (uint32_t word : uniform_words(count, count)) {
        numbers.push_back(static_cast<float>(static_cast<int32_t>(word) / 2147483648.0));
    }
    return numbers;
}

// FNV-1a of the words' little-endian bytes.
inline uint64_t hash_of(const std::vector<uint32_t>& words) {
    uint64_t hash = 0xcbf29ce484222325;
    for (uint32_t word : words) {
        for (int byte = 0; byte < 4; byte++) {
            hash = (hash ^ (word >> (8 * byte) & 0xff)) * 0x100000001b3;
        }
    }
    return hash;
}

// A test of tool/src/harness/inputs.rs checks the same number.
constexpr size_t HASHED_COUNT = 1000;
constexpr uint64_t HASH_OF_UNIFORM = 0xebe56d9900bf609f;

}  // namespace peer
