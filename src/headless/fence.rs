//! A fence, and the wait for what is submitted with it.

use std::time::Duration;

use ash::vk;

use crate::device::Device;
use crate::error::{Error, Result};

/// A fence, with which at most one submission is in flight.
pub(super) struct Fence {
    device: Device,
    raw: vk::Fence,
    wait_limit: Duration,
    is_in_flight: bool,
}

impl Fence {
    pub(super) fn new(device: &Device, wait_limit: Duration) -> Result<Self> {
        // SAFETY: the device is alive.
        let raw = unsafe { device.raw().create_fence(&vk::FenceCreateInfo::default(), None) }
            .map_err(Error::vulkan("vkCreateFence"))?;
        Ok(Self { device: device.clone(), raw, wait_limit, is_in_flight: false })
    }

    pub(super) fn is_in_flight(&self) -> bool {
        self.is_in_flight
    }

    /// Calls `submit`, the Vulkan function `during`, which signals the fence once its work has completed. The last
    /// submission was waited for.
    pub(super) fn submit(
        &mut self,
        during: &'static str,
        submit: impl FnOnce(&ash::Device, vk::Fence) -> Result<(), vk::Result>,
    ) -> Result<()> {
        assert!(!self.is_in_flight, "a submission is waited for before the next");
        let raw = self.device.raw();
        // A failed wait may have left the fence signalled.
        // SAFETY: the fence is not in use, since the last submission was waited for.
        unsafe { raw.reset_fences(&[self.raw]) }.map_err(Error::vulkan("vkResetFences"))?;
        submit(raw, self.raw).map_err(Error::vulkan(during))?;
        self.is_in_flight = true;
        Ok(())
    }

    /// Waits until the submission in flight, if there is one, has completed. On error either it has completed
    /// nevertheless, or the device is abandoned: the caller may free what the work uses.
    pub(super) fn wait(&mut self) -> Result<()> {
        if !std::mem::take(&mut self.is_in_flight) {
            return Ok(());
        }
        // What an abandoned device uses is never freed.
        self.device.check()?;
        let (raw, during) = (self.device.raw(), "vkWaitForFences");
        let nanoseconds = u64::try_from(self.wait_limit.as_nanos()).unwrap_or(u64::MAX);
        // SAFETY: the fence was submitted.
        match unsafe { raw.wait_for_fences(&[self.raw], true, nanoseconds) } {
            Ok(()) => Ok(()),
            Err(vk::Result::TIMEOUT) => {
                let error = Error::TimedOut { during, limit: self.wait_limit };
                self.device.abandon(&error);
                Err(error)
            }
            Err(result) => {
                // SAFETY: as above.
                match unsafe { raw.wait_for_fences(&[self.raw], true, nanoseconds) } {
                    // A lost device executes nothing more.
                    Ok(()) | Err(vk::Result::ERROR_DEVICE_LOST) => {}
                    Err(vk::Result::TIMEOUT) => {
                        self.device.abandon(&Error::TimedOut { during, limit: self.wait_limit });
                    }
                    Err(_) => self.device.abandon(&Error::DeviceLost { during }),
                }
                Err(Error::vulkan(during)(result))
            }
        }
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // An error has abandoned the device, or the work has completed.
        let _ = self.wait();
        // SAFETY: nothing is in use; objects of a lost device may be destroyed.
        self.device.destroy(|raw| unsafe { raw.destroy_fence(self.raw, None) });
    }
}
