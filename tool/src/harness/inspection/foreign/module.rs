//! Reflection of a foreign module, as needed for a pipeline: entry points, specialization constants, descriptors and
//! workgroup size.
//!
//! The reader does not validate. It panics on no input, but a driver may crash on an invalid module.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::resources::{push_constants, shared_memory};
use subsweep::ash::vk;

use subsweep::internal::printable;
use subsweep::kernels::spirv::sizes::Sizes;
use subsweep::kernels::spirv::{Instruction, Module, Type, decoration, opcode, storage};

/// A module with at least one compute shader.
#[derive(Debug, Clone)]
pub struct ForeignModule {
    module: Module,
    /// Entry points of compute shaders, in the module's order.
    entry_points: Vec<EntryPoint>,
    /// Types of specialization constants by `SpecId`.
    constants: BTreeMap<u32, Type>,
    /// For each function, the operands that may be ids of variables and of other functions.
    functions: HashMap<u32, BTreeSet<u32>>,
}

/// A module, one of its entry points, and values for its constants.
#[derive(Debug, Clone)]
pub struct SpecializedModule<'m> {
    pub(super) words: &'m [u32],
    /// Descriptors that the entry point uses, by set and binding.
    pub(super) bindings: Bindings,
    /// The name of the entry point.
    pub(super) entry_point: &'m str,
    /// Values by `SpecId`, encoded for Vulkan.
    pub(super) constants: Vec<(u32, Vec<u8>)>,
    /// Entry point and constants as text, as `NAME 0=256 1=2`.
    pub(super) choice_text: String,
    /// Workgroup size by dimension; none if the module computes it.
    pub(super) workgroup_size: Option<[u32; 3]>,
    /// Bytes of the shared variables that the entry point uses; none if unknown.
    pub(super) shared_memory_size: Option<u64>,
    /// Bytes of the push-constant block; none if unknown.
    pub(super) push_constant_size: Option<u64>,
    pub(super) features: Vec<Feature>,
}

/// A device feature that the module's capabilities or instructions require.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Feature {
    Float16,
    Float64,
    Int8,
    Int16,
    Int64,
    /// 64-bit atomics in buffers.
    BufferInt64Atomics,
    /// 64-bit atomics in shared memory.
    SharedInt64Atomics,
}

/// A descriptor binding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Binding {
    pub(super) kind: vk::DescriptorType,
    pub(super) count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EntryPoint {
    id: u32,
    name: String,
    /// Interface variables; from SPIR-V 1.4 on all variables in use.
    interface: BTreeSet<u32>,
}

/// Problems of a module or of its specialization: one line with the remedy. The caller names the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// The file is of another kind.
    #[error("is no SPIR-V module ({reason}); name a binary module, such as glslang or dxc writes")]
    NotSpirv {
        /// The evidence.
        reason: &'static str,
    },
    /// An instruction is cut off, or lacks an operand that the specification requires.
    #[error("is cut off or damaged: {what}; check it with spirv-val")]
    Damaged {
        /// The missing part, and its position.
        what: String,
    },
    /// There is no compute shader.
    #[error("has no entry point for compute; name a module of a compute shader")]
    NoCompute,
    /// The entry point does not exist.
    #[error("has no entry point '{wanted}' for compute; it has {found}")]
    NoEntryPoint {
        /// The name that was given.
        wanted: String,
        /// The names that exist.
        found: String,
    },
    /// The specialization constant does not exist.
    #[error("has no specialization constant {wanted}; it has {found}")]
    NoConstant {
        /// The `SpecId` that was given.
        wanted: u32,
        /// The `SpecId`s that exist.
        found: String,
    },
    /// The value has another type than the constant.
    #[error("takes {taken} for constant {id}, and not '{value}'")]
    Value {
        /// The `SpecId`.
        id: u32,
        /// The value that was given.
        value: String,
        /// The values that are accepted.
        taken: &'static str,
    },
    /// The workgroup is empty.
    #[error("has workgroups without invocations; give the constants of its workgroup size values above 0")]
    NoInvocations,
    /// The descriptor is not supported.
    #[error("has a descriptor at set {set}, binding {binding} that is not supported: {what}")]
    Descriptor {
        /// Its set.
        set: u32,
        /// Its binding.
        binding: u32,
        /// The reason.
        what: &'static str,
    },
}

use ModuleError as E;

type Bindings = BTreeMap<(u32, u32), Binding>;

/// A literal, or the id of a constant.
#[derive(Debug, Clone, Copy)]
enum Operand {
    Literal(u32),
    Id(u32),
}

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
/// The universal limit of ids.
const MAX_BOUND: u32 = 0x3f_ffff;
const COMPUTE: u32 = 5;
/// Execution modes.
const LOCAL_SIZE: u32 = 17;
const LOCAL_SIZE_ID: u32 = 38;
/// First version whose interfaces list all variables.
const WHOLE_INTERFACES: u32 = 0x1_0400;
/// Limits of set and binding: drivers allocate tables up to the highest number.
const MAX_SETS: u32 = 32;
const MAX_BINDINGS: u32 = 1024;

impl ForeignModule {
    /// Reads a binary module, in the byte order of this machine.
    ///
    /// # Errors
    /// The problem of the module.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModuleError> {
        let (words, rest) = bytes.as_chunks();
        let words: Vec<u32> = words.iter().copied().map(u32::from_ne_bytes).collect();
        let not_spirv = |reason| Err(E::NotSpirv { reason });
        match words.first() {
            Some(&first) if first.swap_bytes() == MAGIC => {
                return not_spirv("its bytes are in another order");
            }
            Some(&MAGIC) if !rest.is_empty() => return not_spirv("its length is not a multiple of 4 bytes"),
            Some(&MAGIC) if words.len() < HEADER_WORDS => return not_spirv("it ends in its header"),
            Some(&MAGIC) => {}
            _ => return not_spirv("it does not begin with SPIR-V's magic number"),
        }
        if !(0x1_0000..=0x1_0600).contains(&words[1]) {
            return not_spirv("its version is not 1.0 to 1.6");
        }
        if words[3] == 0 || words[3] > MAX_BOUND {
            return not_spirv("its bound on ids is 0 or above SPIR-V's limit");
        }
        let read = Self::read(words).map_err(|what| E::Damaged { what })?;
        if read.entry_points.is_empty() { Err(E::NoCompute) } else { Ok(read) }
    }

    fn read(words: Vec<u32>) -> Result<Self, String> {
        let mut read = Self {
            module: Module::new(words)?,
            entry_points: Vec::new(),
            constants: BTreeMap::new(),
            functions: HashMap::new(),
        };
        let (mut function, mut last) = (None, 0);
        for i in read.module.instructions() {
            last = i.opcode;
            match i.opcode {
                opcode::ENTRY_POINT if i.operand(0)? == COMPUTE => read.entry_points.push(entry_point(&i)?),
                // The last operand is the z size in both modes.
                opcode::EXECUTION_MODE if i.operand(1)? == LOCAL_SIZE => drop(i.operand(4)?),
                opcode::EXECUTION_MODE_ID if i.operand(1)? == LOCAL_SIZE_ID => drop(i.operand(4)?),
                opcode::VARIABLE => drop(i.operand(2)?),
                opcode::FUNCTION => function = Some(read.functions.entry(i.operand(1)?).or_default()),
                _ => {
                    function.iter_mut().for_each(|used| used.extend(ids(&i)));
                }
            }
        }
        // A module ends with a function, as entry points are functions.
        if last != opcode::FUNCTION_END {
            return Err("it does not end with a function".to_owned());
        }
        if let Some(entry) = read.entry_points.iter().find(|entry| !read.functions.contains_key(&entry.id)) {
            return Err(format!("its entry point '{}' is no function", printable(entry.name.as_bytes(), 40)));
        }
        let scalar = |(spec_id, id)| {
            read.module.constant(id)?;
            Some((spec_id, read.module.type_of(id)?.clone()))
        };
        read.constants = read.module.spec_constants().filter_map(scalar).collect();
        Ok(read)
    }

    /// Selects the entry point by name, or the first, and sets constants by `SpecId`: integers (hexadecimal with 0x),
    /// floats, `true` or `false`, as their types require.
    ///
    /// # Errors
    /// The entry point or a constant does not exist, a value does not fit its type, or the entry point has an
    /// unsupported descriptor or an empty workgroup.
    pub fn specialize(
        &self,
        entry_point: Option<&str>,
        constants: &[(u32, String)],
    ) -> Result<SpecializedModule<'_>, ModuleError> {
        let entry_point = match entry_point {
            None => &self.entry_points[0],
            Some(wanted) => {
                let found = self.entry_points.iter().find(|entry| entry.name == wanted);
                found
                    .ok_or_else(|| E::NoEntryPoint { wanted: wanted.to_owned(), found: self.entry_names() })?
            }
        };
        let mut values = BTreeMap::new();
        for (id, text) in constants {
            let constant = self.constants.get(id);
            let constant =
                constant.ok_or_else(|| E::NoConstant { wanted: *id, found: self.constant_ids() })?;
            let taken = taken_by(constant);
            let value = parse(text, constant);
            let value = value.ok_or_else(|| E::Value { id: *id, value: text.clone(), taken })?;
            // The last value of a repeated id counts.
            values.insert(*id, (text, value));
        }
        let mut choice_text = entry_point.name.clone();
        values.iter().for_each(|(id, (text, _))| choice_text += &format!(" {id}={text}"));
        let lowest = |id: u32| {
            let (_, value) = values.get(&id)?;
            let mut word = [0; 4];
            word.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
            Some(u32::from_ne_bytes(word))
        };
        let workgroup_size = self.workgroup_size(entry_point.id, lowest);
        if workgroup_size.is_some_and(|size| size.contains(&0)) {
            return Err(E::NoInvocations);
        }
        let (sizes, used) = (Sizes::new(&self.module, lowest), self.used(entry_point));
        let is_used = |variable| used.contains(&variable);
        Ok(SpecializedModule {
            words: self.module.words(),
            bindings: self.descriptors(&used)?,
            shared_memory_size: shared_memory(&self.module, &sizes, is_used),
            push_constant_size: push_constants(&self.module, &sizes, is_used),
            features: self.features(),
            entry_point: &entry_point.name,
            workgroup_size,
            choice_text,
            constants: values.into_iter().map(|(id, (_, value))| (id, value)).collect(),
        })
    }

    fn entry_names(&self) -> String {
        let names: Vec<_> = self.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        printable(names.join(", ").as_bytes(), 160)
    }

    fn constant_ids(&self) -> String {
        let ids: Vec<_> = self.constants.keys().map(u32::to_string).collect();
        if ids.is_empty() { "none".to_owned() } else { printable(ids.join(", ").as_bytes(), 160) }
    }

    /// Ids of the variables that an entry point uses; before SPIR-V 1.4 with other ids from its functions.
    fn used(&self, entry_point: &EntryPoint) -> BTreeSet<u32> {
        if self.module.version() >= WHOLE_INTERFACES {
            return entry_point.interface.clone();
        }
        let (mut used, mut next) = (BTreeSet::new(), vec![entry_point.id]);
        while let Some(id) = next.pop() {
            if used.insert(id) {
                next.extend(self.functions.get(&id).into_iter().flatten());
            }
        }
        used
    }

    /// The device features that the module requires, independent of the entry point.
    fn features(&self) -> Vec<Feature> {
        let mut features: Vec<_> = self.module.instructions().filter_map(|i| self.feature_of(&i)).collect();
        features.sort_unstable_by_key(|feature| *feature as u32);
        features.dedup();
        features
    }

    fn feature_of(&self, i: &Instruction<'_>) -> Option<Feature> {
        let pointer = match (i.opcode, i.operands) {
            (opcode::CAPABILITY, [capability]) => {
                return Some(match capability {
                    9 => Feature::Float16,
                    10 => Feature::Float64,
                    11 => Feature::Int64,
                    22 => Feature::Int16,
                    39 => Feature::Int8,
                    _ => return None,
                });
            }
            (opcode::ATOMIC_STORE, [pointer, ..]) => *pointer,
            (opcode::ATOMIC_LOAD | opcode::ATOMIC_EXCHANGE..=opcode::ATOMIC_XOR, [_, _, pointer, ..]) => {
                *pointer
            }
            _ => return None,
        };
        let Some(Type::Pointer { storage, to }) = self.module.type_of(pointer) else { return None };
        let is_wide = matches!(self.module.type_by_id(*to), Some(Type::Int { bits: 64, .. }));
        match *storage {
            storage::WORKGROUP if is_wide => Some(Feature::SharedInt64Atomics),
            storage::STORAGE_BUFFER | storage::UNIFORM | storage::PHYSICAL if is_wide => {
                Some(Feature::BufferInt64Atomics)
            }
            _ => None,
        }
    }

    /// Descriptors: the variables of `used` that have a set and a binding.
    fn descriptors(&self, used: &BTreeSet<u32>) -> Result<Bindings, ModuleError> {
        let mut descriptors = Bindings::new();
        for i in self.module.instructions().filter(|i| i.opcode == opcode::VARIABLE) {
            let (id, class) = (i.operands[1], i.operands[2]);
            let number = |of| self.module.decoration(id, of);
            let numbers = number(decoration::DESCRIPTOR_SET).zip(number(decoration::BINDING));
            let Some((set, binding)) = numbers.filter(|_| used.contains(&id)) else { continue };
            let refused = |what| E::Descriptor { set, binding, what };
            if set >= MAX_SETS || binding >= MAX_BINDINGS {
                return Err(refused("its set or binding is above the limit of drivers"));
            }
            let (of, count) = self.element(id).map_err(refused)?;
            let kind = self.descriptor_type(of, class).map_err(refused)?;
            let found = descriptors.entry((set, binding)).or_insert(Binding { kind, count });
            if found.kind != kind {
                return Err(refused("it is of two kinds"));
            }
            found.count = found.count.max(count);
        }
        Ok(descriptors)
    }

    /// Element type and length of a variable's array; length 1 for any other variable.
    fn element(&self, variable: u32) -> Result<(u32, u32), &'static str> {
        let Some(Type::Pointer { to, .. }) = self.module.type_of(variable) else {
            return Err("it is no pointer");
        };
        match self.module.type_by_id(*to) {
            Some(Type::Array { of, length }) => {
                let length = self.module.constant(*length).filter(|length| (1..=1024).contains(length));
                Ok((*of, length.ok_or("it is an array of more than 1024, or of a computed length")?))
            }
            Some(Type::RuntimeArray { of }) => Ok((*of, 1)),
            _ => Ok((*to, 1)),
        }
    }

    fn descriptor_type(&self, of: u32, class: u32) -> Result<vk::DescriptorType, &'static str> {
        use vk::DescriptorType as D;
        let is_buffer_block = self.module.decoration(of, decoration::BUFFER_BLOCK).is_some();
        Ok(match (class, self.module.type_by_id(of)) {
            (storage::STORAGE_BUFFER, _) => D::STORAGE_BUFFER,
            // Storage buffers of modules before SPIR-V 1.3.
            (storage::UNIFORM, _) if is_buffer_block => D::STORAGE_BUFFER,
            (storage::UNIFORM, _) => D::UNIFORM_BUFFER,
            (storage::UNIFORM_CONSTANT, Some(Type::Image { sampled: 2, is_buffer: true })) => {
                D::STORAGE_TEXEL_BUFFER
            }
            (storage::UNIFORM_CONSTANT, Some(Type::Image { sampled: 2, .. })) => D::STORAGE_IMAGE,
            (storage::UNIFORM_CONSTANT, Some(Type::Image { is_buffer: true, .. })) => D::UNIFORM_TEXEL_BUFFER,
            (storage::UNIFORM_CONSTANT, Some(Type::Image { .. })) => D::SAMPLED_IMAGE,
            (storage::UNIFORM_CONSTANT, Some(Type::SampledImage)) => D::COMBINED_IMAGE_SAMPLER,
            (storage::UNIFORM_CONSTANT, Some(Type::Sampler)) => D::SAMPLER,
            _ => return Err("it is no buffer, image or sampler"),
        })
    }

    /// Workgroup size of an entry point by dimension; `specialized` returns the values of specialized constants.
    fn workgroup_size(&self, entry_point: u32, specialized: impl Fn(u32) -> Option<u32>) -> Option<[u32; 3]> {
        let value = |operand: Operand| match operand {
            Operand::Literal(value) => Some(value),
            Operand::Id(id) => {
                let given = self.module.decoration(id, decoration::SPEC_ID).and_then(&specialized);
                given.or_else(|| self.module.constant(id))
            }
        };
        let of_mode = |i: Instruction<'_>| match (i.opcode, i.operands) {
            (opcode::EXECUTION_MODE, &[of, LOCAL_SIZE, x, y, z]) if of == entry_point => {
                Some([x, y, z].map(Operand::Literal))
            }
            (opcode::EXECUTION_MODE_ID, &[of, LOCAL_SIZE_ID, x, y, z]) if of == entry_point => {
                Some([x, y, z].map(Operand::Id))
            }
            _ => None,
        };
        // The built-in overrides every execution mode.
        let built_in = self.module.workgroup_size().map(|size| size.map(Operand::Id));
        let [x, y, z] = built_in.or_else(|| self.module.instructions().find_map(of_mode))?.map(value);
        Some([x?, y?, z?])
    }
}

/// Parses an entry point: model, id, name and interface.
fn entry_point(i: &Instruction<'_>) -> Result<EntryPoint, String> {
    let bytes: Vec<u8> = i.from(2).iter().flat_map(|word| word.to_le_bytes()).collect();
    let name = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let interface = i.operands.get(2 + name.len() / 4 + 1..);
    let interface = interface.ok_or_else(|| i.describe("has a name without an end"))?;
    let name = String::from_utf8(name.to_vec()).map_err(|_| i.describe("has a name that is not UTF-8"))?;
    Ok(EntryPoint { id: i.operand(1)?, name, interface: interface.iter().copied().collect() })
}

/// Operands of a function's instruction that may be ids of variables or functions. A literal among them that equals a
/// variable's id adds its binding to the layout, which is mostly harmless.
fn ids<'m>(i: &Instruction<'m>) -> &'m [u32] {
    let range = match i.opcode {
        opcode::LINE | opcode::SWITCH => 0..0,
        opcode::STORE | opcode::COPY_MEMORY => 0..2,
        opcode::LOAD | opcode::COMPOSITE_EXTRACT => 2..3,
        opcode::COMPOSITE_INSERT | opcode::VECTOR_SHUFFLE => 2..4,
        opcode::EXT_INST => 4..i.operands.len(),
        _ => 0..i.operands.len(),
    };
    i.operands.get(range).unwrap_or_default()
}

/// Accepted values of a constant of this type, as text.
fn taken_by(of: &Type) -> &'static str {
    match of {
        Type::Bool => "true or false",
        Type::Int { bits: 32, is_signed: true } => "a whole number of 32 bits with a sign",
        Type::Int { bits: 32, is_signed: false } => "a whole number of 32 bits without a sign",
        Type::Int { .. } => "a whole number of its width",
        Type::Float { bits: 32 | 64 } => "a number",
        _ => "no value here, being a float of neither 32 nor 64 bits,",
    }
}

/// Parses the value of a constant of this type, encoded for Vulkan.
fn parse(text: &str, of: &Type) -> Option<Vec<u8>> {
    match *of {
        Type::Bool => {
            let value = match text {
                "true" | "1" => 1u32,
                "false" | "0" => 0,
                _ => return None,
            };
            Some(value.to_ne_bytes().into())
        }
        Type::Int { bits: bits @ (8 | 16 | 32 | 64), is_signed } => {
            let value = match text.strip_prefix("0x") {
                Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
                None => text.parse().ok()?,
            };
            let max = (1i128 << bits) - 1;
            // Hexadecimal digits may have the bits of a negative number.
            let min = if is_signed { -(1i128 << (bits - 1)) } else { 0 };
            let is_pattern = text.starts_with("0x") || !is_signed;
            let fits = (min..=if is_pattern { max } else { max >> 1 }).contains(&value);
            fits.then(|| match bits {
                8 => vec![value as u8],
                16 => (value as u16).to_ne_bytes().into(),
                32 => (value as u32).to_ne_bytes().into(),
                _ => (value as u64).to_ne_bytes().into(),
            })
        }
        Type::Float { bits: 32 } => Some(text.parse::<f32>().ok()?.to_ne_bytes().into()),
        Type::Float { bits: 64 } => Some(text.parse::<f64>().ok()?.to_ne_bytes().into()),
        _ => None,
    }
}
