#include <cstdio>

#include <subsweep.hpp>

/* Needs no device. */
int main() {
    std::printf("subsweep %s: %g\n", subsweep_version(), subsweep::histogram_even_edges<float>(4, 0.0, 1.0)[1]);
}
