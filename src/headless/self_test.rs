//! The self-test of a device, run.

use super::Gpu;
use crate::device::{SelfTest, SelfTestVerdict};
use crate::error::Result;

impl Gpu {
    /// Tests the operations that every kernel relies on, by one small dispatch, and waits. A driver that fails gives wrong
    /// results.
    ///
    /// # Errors
    /// Errors of [`SelfTest::new`], [`Self::allocate`] and [`Self::submit`].
    pub fn self_test(&self) -> Result<SelfTestVerdict> {
        let test = SelfTest::new(self.device())?;
        let memory = self.allocate(SelfTest::SIZE)?;
        // SAFETY: the memory and the pipeline are of this device and live until `submit` has waited.
        unsafe { self.submit(|recorder| test.record(recorder, memory.range())) }?;
        let mut words = [0; 2];
        self.download(&memory, &mut words)?;
        Ok(test.verdict(words))
    }
}
