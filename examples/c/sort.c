/* Sorts an array on a device of the library's own.
 *
 *     cc -std=c99 sort.c $(pkg-config --cflags --libs subsweep)
 */

#include <stdio.h>

#include <subsweep.h>

int main(void) {
    float keys[] = {2.5f, -1.0f, 3.0f, 0.5f};
    SubsweepSortPlanCreateInfo info = {.struct_size = sizeof info, .key_type = SUBSWEEP_ELEMENT_TYPE_F32};
    SubsweepGpu *gpu = NULL;
    if (subsweep_gpu_open(NULL, &gpu) || subsweep_gpu_sort(gpu, &info, keys, NULL, 4)) {
        fprintf(stderr, "%s\n", subsweep_last_error());
        return 1;
    }
    printf("%s: %g %g %g %g\n", subsweep_gpu_name(gpu), keys[0], keys[1], keys[2], keys[3]);
    subsweep_gpu_close(gpu);
    return 0;
}
