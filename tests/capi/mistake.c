/* A canary: two fills of the same memory without a barrier between them, which validation must report. */

#include "host.h"

int main(void) {
    Memory memory;
    Host host;
    VkCommandBuffer commands;
    host_create(&host);
    memory_create(&memory, &host, 64, VK_BUFFER_USAGE_TRANSFER_DST_BIT);
    commands = host_begin(&host);
    vkCmdFillBuffer(commands, memory.buffer, 0, 64, 1);
    vkCmdFillBuffer(commands, memory.buffer, 0, 64, 2);
    host_run(&host, commands);
    memory_destroy(&memory, &host);
    host_destroy(&host);
    return 0;
}
