use super::*;

#[test]
fn synchronization2_has_the_same_bits() {
    use vk::{AccessFlags2 as A, PipelineStageFlags2 as S};
    for (access, stages, types) in [
        (Access::COMPUTE_READ, S::COMPUTE_SHADER, A::SHADER_READ),
        (Access::COMPUTE, S::COMPUTE_SHADER, A::SHADER_READ | A::SHADER_WRITE),
        // ALL_TRANSFER is another name of the bit of TRANSFER.
        (Access::TRANSFER, S::ALL_TRANSFER, A::TRANSFER_READ | A::TRANSFER_WRITE),
        (Access::INDIRECT_READ, S::DRAW_INDIRECT, A::INDIRECT_COMMAND_READ),
        (Access::HOST_READ, S::HOST, A::HOST_READ),
    ] {
        assert_eq!((access.stages2(), access.access2()), (stages, types));
    }
}
