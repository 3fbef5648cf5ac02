//! Plans by their configuration, for their pipelines.

use std::fmt::Debug;
use std::sync::Arc;

use super::{Case, selectable_plans};
use subsweep::device::{Capabilities, Device, Pipeline};
use subsweep::error::{Error, Result};
use subsweep::{Config, Plan};

/// Configuration of a plan of any primitive: work without buffers and elements.
#[derive(Debug, Clone)]
pub struct PlanConfig(Arc<dyn Declare>);

/// A [`Config`] whose primitive is not known.
trait Declare: Debug + Send + Sync {
    fn declare(&self, device: &Device) -> Result<Vec<Pipeline>>;

    #[cfg(test)]
    fn check(&self, capabilities: &Capabilities) -> Result<()>;
}

impl<C: Config> Declare for C {
    fn declare(&self, device: &Device) -> Result<Vec<Pipeline>> {
        Ok(Plan::<C::Primitive>::declare(device, *self)?.pipelines().cloned().collect())
    }

    #[cfg(test)]
    fn check(&self, capabilities: &Capabilities) -> Result<()> {
        self.checked_policy(capabilities).map(drop)
    }
}

impl<C: Config> From<C> for PlanConfig {
    fn from(config: C) -> Self {
        Self(Arc::new(config))
    }
}

impl PlanConfig {
    /// Configurations that cover every kernel by the selectable policies, and the specializations that change control
    /// flow; not the products of operators, types and directions.
    pub fn every(capabilities: &Capabilities) -> Vec<Self> {
        selectable_plans(capabilities)
    }

    /// The configuration of a case.
    pub fn of_case(case: &Case, capabilities: &Capabilities) -> Self {
        case.work.plan(capabilities)
    }

    /// Compiles the plan's pipelines, and calls `visit` with each.
    ///
    /// # Errors
    /// Errors of the plan, and of `visit`.
    pub fn for_each_pipeline<E: From<Error>>(
        &self,
        device: &Device,
        visit: impl FnMut(&Pipeline) -> Result<(), E>,
    ) -> Result<(), E> {
        let pipelines = self.declare(device)?;
        Pipeline::compile_all(device, &pipelines)?;
        pipelines.iter().try_for_each(visit)
    }

    /// The plan's pipelines, not compiled.
    ///
    /// # Errors
    /// Errors of the plan, except the compiler's.
    pub(in crate::harness) fn declare(&self, device: &Device) -> Result<Vec<Pipeline>> {
        self.0.declare(device)
    }

    /// Checks the configuration, as a plan does.
    ///
    /// # Errors
    /// Errors of the configuration, and of its policy.
    #[cfg(test)]
    pub(super) fn check(&self, capabilities: &Capabilities) -> Result<()> {
        self.0.check(capabilities)
    }
}
