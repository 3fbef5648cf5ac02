//! As much of a foreign module as it takes to make a pipeline of it: entry points, specialization constants, descriptors
//! and the size of a workgroup. Opcodes and numbers are those of the SPIR-V specification, version 1.6.
//!
//! The reader is not a validator. It panics on no input, but a driver may crash on a module that is not valid.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use ash::vk;

/// A module with at least one compute shader.
#[derive(Debug, Clone)]
pub struct ForeignModule {
    words: Vec<u32>,
    /// Of compute shaders, in the module's order.
    entry_points: Vec<EntryPoint>,
    /// Types of specialization constants by `SpecId`.
    constants: BTreeMap<u32, Scalar>,
    /// By set and binding.
    bindings: BTreeMap<(u32, u32), Binding>,
    declarations: Declarations,
}

/// A module, one of its entry points, and values for its constants.
#[derive(Debug, Clone)]
pub struct SpecializedModule<'m> {
    pub(super) words: &'m [u32],
    pub(super) bindings: &'m BTreeMap<(u32, u32), Binding>,
    /// The name of the entry point.
    pub(super) entry_point: &'m str,
    /// `SpecId` and the value as Vulkan takes it.
    pub(super) constants: Vec<(u32, Vec<u8>)>,
    /// What was asked for, as `NAME 0=256 1=2`.
    pub(super) words_of_choice: String,
    /// Invocations in a workgroup, by dimension; none where the module computes them.
    pub(super) workgroup_size: Option<[u32; 3]>,
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
}

/// What can be wrong with a module or with what is asked of it. One line, which says what to do; the file is the caller's
/// to name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ModuleError {
    /// Another kind of file.
    #[error("is no SPIR-V module ({reason}); name a binary module, such as glslang or dxc writes")]
    NotSpirv {
        /// By what it was told.
        reason: &'static str,
    },
    /// An instruction without an end, or without a word that the specification says it has.
    #[error("is cut off or damaged at byte {at}; check it with spirv-val")]
    Damaged {
        /// Where the instruction begins.
        at: usize,
    },
    /// No compute shader.
    #[error("has no entry point for compute; name a module of a compute shader")]
    NoCompute,
    /// No such entry point.
    #[error("has no entry point '{wanted}' for compute; it has {found}")]
    NoEntryPoint {
        /// What was asked for.
        wanted: String,
        /// What there is.
        found: String,
    },
    /// No such specialization constant.
    #[error("has no specialization constant {wanted}; it has {found}")]
    NoConstant {
        /// What was asked for.
        wanted: u32,
        /// What there is.
        found: String,
    },
    /// A value of another type.
    #[error("takes {taken} for constant {id}, and not '{value}'")]
    Value {
        /// Of which constant.
        id: u32,
        /// What was given.
        value: String,
        /// What would do.
        taken: &'static str,
    },
    /// A workgroup of nothing.
    #[error("has workgroups without invocations; give the constants of its workgroup size values above 0")]
    NoInvocations,
    /// A descriptor that is not made here.
    #[error("has a descriptor at set {set}, binding {binding} that is not supported: {what}")]
    Descriptor {
        /// Its set.
        set: u32,
        /// Its binding.
        binding: u32,
        /// What it is.
        what: &'static str,
    },
}

use ModuleError as E;

/// The types of specialization constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Scalar {
    Bool,
    /// Bits, and whether there is a sign.
    Int(u32, bool),
    /// Bits.
    Float(u32),
}

/// What ids stand for.
#[derive(Debug, Clone, Default)]
struct Declarations {
    types: HashMap<u32, Type>,
    /// The lowest word of a constant, or the default of a specialization constant.
    values: HashMap<u32, u32>,
    /// `SpecId` by id.
    spec_ids: HashMap<u32, u32>,
    /// The parts of a constant composite.
    composites: HashMap<u32, Vec<u32>>,
    /// `LocalSize` by entry point.
    local_sizes: HashMap<u32, [Operand; 3]>,
    /// The composite that is decorated as `WorkgroupSize`, which goes before every `LocalSize`.
    workgroup_size: Option<u32>,
    buffer_blocks: BTreeSet<u32>,
    functions: BTreeSet<u32>,
    sets: HashMap<u32, u32>,
    bindings: HashMap<u32, u32>,
    /// Variables: id, type and storage class.
    variables: Vec<(u32, u32, u32)>,
}

/// A literal, or the id of a constant.
#[derive(Debug, Clone, Copy)]
enum Operand {
    Literal(u32),
    Id(u32),
}

#[derive(Debug, Clone, Copy)]
enum Type {
    Scalar(Scalar),
    Struct,
    /// Of images: `Sampled`, and whether the dimension is `Buffer`.
    Image(u32, bool),
    Sampler,
    SampledImage,
    Array {
        of: u32,
        length: u32,
    },
    RuntimeArray {
        of: u32,
    },
    Pointer {
        to: u32,
    },
    Other,
}

const MAGIC: u32 = 0x0723_0203;
const HEADER_WORDS: usize = 5;
/// The universal limit on ids.
const MAX_BOUND: u32 = 0x3f_ffff;
const COMPUTE: u32 = 5;
const FUNCTION_END: u32 = 56;
/// Drivers make tables up to the highest number.
const MAX_SETS: u32 = 32;
const MAX_BINDINGS: u32 = 1024;

mod storage {
    pub const UNIFORM_CONSTANT: u32 = 0;
    pub const UNIFORM: u32 = 2;
    pub const STORAGE_BUFFER: u32 = 12;
}

impl ForeignModule {
    /// Reads a binary module, in the byte order of this machine.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModuleError> {
        let (words, rest) = bytes.as_chunks();
        let words: Vec<u32> = words.iter().copied().map(u32::from_ne_bytes).collect();
        let not_spirv = |reason| Err(E::NotSpirv { reason });
        match words.first() {
            Some(&first) if first.swap_bytes() == MAGIC => {
                return not_spirv("its bytes are in another order");
            }
            Some(&MAGIC) if !rest.is_empty() => return not_spirv("its length is no multiple of 4 bytes"),
            Some(&MAGIC) if words.len() < HEADER_WORDS => return not_spirv("it ends in its header"),
            Some(&MAGIC) => {}
            _ => return not_spirv("it does not begin with SPIR-V's magic number"),
        }
        if !(0x1_0000..=0x1_0600).contains(&words[1]) {
            return not_spirv("its version is not 1.0 to 1.6");
        }
        if words[3] == 0 || words[3] > MAX_BOUND {
            return not_spirv("its bound on ids is 0 or beyond SPIR-V's limit");
        }
        let (declarations, entry_points) = declarations(&words)?;
        if entry_points.is_empty() {
            return Err(E::NoCompute);
        }
        let constants = declarations.spec_constants();
        let bindings = declarations.descriptors()?;
        Ok(Self { words, entry_points, constants, bindings, declarations })
    }

    /// The module with its entry point of this name, or its first, and with values for constants by their `SpecId`: whole
    /// numbers (in hexadecimal digits with 0x), numbers with a fraction, `true` and `false`, as their types have it.
    ///
    /// # Errors
    /// That the module has no such entry point or constant, or that a value is none of its type.
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
            let taken = constant.words();
            let value = constant.parse(text);
            let value = value.ok_or_else(|| E::Value { id: *id, value: text.clone(), taken })?;
            // Of one that is named twice the last counts.
            values.insert(*id, (text, value));
        }
        let mut words_of_choice = entry_point.name.clone();
        values.iter().for_each(|(id, (text, _))| words_of_choice += &format!(" {id}={text}"));
        let lowest = |id: u32| {
            let (_, value) = values.get(&id)?;
            let mut word = [0; 4];
            word.iter_mut().zip(value).for_each(|(to, from)| *to = *from);
            Some(u32::from_ne_bytes(word))
        };
        let workgroup_size = self.declarations.workgroup_size(entry_point.id, lowest);
        if workgroup_size.is_some_and(|size| size.contains(&0)) {
            return Err(E::NoInvocations);
        }
        Ok(SpecializedModule {
            words: &self.words,
            bindings: &self.bindings,
            entry_point: &entry_point.name,
            workgroup_size,
            words_of_choice,
            constants: values.into_iter().map(|(id, (_, value))| (id, value)).collect(),
        })
    }

    fn entry_names(&self) -> String {
        self.entry_points.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>().join(", ")
    }

    fn constant_ids(&self) -> String {
        let ids: Vec<_> = self.constants.keys().map(u32::to_string).collect();
        if ids.is_empty() { "none".to_owned() } else { ids.join(", ") }
    }
}

/// One instruction, and where it begins, in words.
#[derive(Clone, Copy)]
struct Instruction<'a> {
    opcode: u32,
    operands: &'a [u32],
    at: usize,
}

impl Instruction<'_> {
    fn operand(&self, index: usize) -> Result<u32, ModuleError> {
        self.operands.get(index).copied().ok_or(E::Damaged { at: 4 * self.at })
    }

    /// The literal string from `index` on.
    fn string(&self, index: usize) -> Result<String, ModuleError> {
        let words = self.operands.get(index..).unwrap_or_default();
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let end = bytes.iter().position(|byte| *byte == 0);
        let text = end.and_then(|end| String::from_utf8(bytes[..end].to_vec()).ok());
        text.ok_or(E::Damaged { at: 4 * self.at })
    }
}

fn declarations(words: &[u32]) -> Result<(Declarations, Vec<EntryPoint>), ModuleError> {
    let (mut found, mut entry_points) = (Declarations::default(), Vec::new());
    let (mut at, mut last) = (HEADER_WORDS, 0);
    while let Some(first) = words.get(at) {
        let length = (first >> 16) as usize;
        let whole = words.get(at..at + length).filter(|whole| !whole.is_empty());
        let operands = &whole.ok_or(E::Damaged { at: 4 * at })?[1..];
        let instruction = Instruction { opcode: first & 0xffff, operands, at };
        found.visit(instruction, &mut entry_points)?;
        last = instruction.opcode;
        at += length;
    }
    // A module ends with a function, and entry points are functions.
    let is_defined = |entry: &EntryPoint| found.functions.contains(&entry.id);
    if last != FUNCTION_END || !entry_points.iter().all(is_defined) {
        return Err(E::Damaged { at: 4 * at });
    }
    Ok((found, entry_points))
}

impl Declarations {
    fn visit(&mut self, i: Instruction<'_>, entry_points: &mut Vec<EntryPoint>) -> Result<(), ModuleError> {
        match i.opcode {
            // OpEntryPoint
            15 if i.operand(0)? == COMPUTE => {
                entry_points.push(EntryPoint { id: i.operand(1)?, name: i.string(2)? });
            }
            // OpExecutionMode LocalSize, OpExecutionModeId LocalSizeId
            16 if i.operand(1)? == 17 => self.local_size(i, Operand::Literal)?,
            331 if i.operand(1)? == 38 => self.local_size(i, Operand::Id)?,
            71 => self.decorate(i)?,
            19..=40 => self.declare_type(i)?,
            // OpConstantTrue, OpConstantFalse, and their specialization constants
            41 | 48 => drop(self.values.insert(i.operand(1)?, 1)),
            42 | 49 => drop(self.values.insert(i.operand(1)?, 0)),
            43 | 50 => drop(self.values.insert(i.operand(1)?, i.operand(2)?)),
            // OpConstantComposite, OpSpecConstantComposite
            44 | 51 => {
                let parts = i.operands.get(2..).unwrap_or_default();
                self.composites.insert(i.operand(1)?, parts.to_vec());
            }
            54 => drop(self.functions.insert(i.operand(1)?)),
            59 => self.variables.push((i.operand(1)?, i.operand(0)?, i.operand(2)?)),
            _ => {}
        }
        // Constants know their types by id.
        if matches!(i.opcode, 48..=50) {
            let of = self.types.get(&i.operand(0)?).copied().unwrap_or(Type::Other);
            self.types.insert(i.operand(1)?, of);
        }
        Ok(())
    }

    fn local_size(&mut self, i: Instruction<'_>, operand: fn(u32) -> Operand) -> Result<(), ModuleError> {
        let size = [operand(i.operand(2)?), operand(i.operand(3)?), operand(i.operand(4)?)];
        self.local_sizes.insert(i.operand(0)?, size);
        Ok(())
    }

    fn decorate(&mut self, i: Instruction<'_>) -> Result<(), ModuleError> {
        let id = i.operand(0)?;
        match i.operand(1)? {
            1 => drop(self.spec_ids.insert(id, i.operand(2)?)),
            3 => drop(self.buffer_blocks.insert(id)),
            // BuiltIn WorkgroupSize
            11 if i.operand(2)? == 25 => self.workgroup_size = Some(id),
            33 => drop(self.bindings.insert(id, i.operand(2)?)),
            34 => drop(self.sets.insert(id, i.operand(2)?)),
            _ => {}
        }
        Ok(())
    }

    fn declare_type(&mut self, i: Instruction<'_>) -> Result<(), ModuleError> {
        /// `Dim` of a texel buffer.
        const BUFFER: u32 = 5;
        let declared = match i.opcode {
            20 => Type::Scalar(Scalar::Bool),
            21 => Type::Scalar(Scalar::Int(i.operand(1)?, i.operand(2)? != 0)),
            22 => Type::Scalar(Scalar::Float(i.operand(1)?)),
            25 => Type::Image(i.operand(6)?, i.operand(2)? == BUFFER),
            26 => Type::Sampler,
            27 => Type::SampledImage,
            28 => Type::Array { of: i.operand(1)?, length: i.operand(2)? },
            29 => Type::RuntimeArray { of: i.operand(1)? },
            30 => Type::Struct,
            32 => Type::Pointer { to: i.operand(2)? },
            // OpTypeForwardPointer declares nothing.
            39 => return Ok(()),
            _ => Type::Other,
        };
        self.types.insert(i.operand(0)?, declared);
        Ok(())
    }

    fn spec_constants(&self) -> BTreeMap<u32, Scalar> {
        let constant = |(id, spec_id): (&u32, &u32)| match self.types.get(id) {
            Some(Type::Scalar(scalar)) => Some((*spec_id, *scalar)),
            _ => None,
        };
        self.spec_ids.iter().filter_map(constant).collect()
    }

    /// Every variable with a set and a binding.
    fn descriptors(&self) -> Result<BTreeMap<(u32, u32), Binding>, ModuleError> {
        let mut descriptors = BTreeMap::<_, Binding>::new();
        for &(id, pointer, class) in &self.variables {
            let (Some(&set), Some(&binding)) = (self.sets.get(&id), self.bindings.get(&id)) else { continue };
            let refused = |what| E::Descriptor { set, binding, what };
            if set >= MAX_SETS || binding >= MAX_BINDINGS {
                return Err(refused("its number is beyond what drivers have room for"));
            }
            let (of, count) = self.element(pointer).map_err(refused)?;
            let kind = self.descriptor_type(of, class).map_err(refused)?;
            let found = descriptors.entry((set, binding)).or_insert(Binding { kind, count });
            if found.kind != kind {
                return Err(refused("it is of two kinds"));
            }
            found.count = found.count.max(count);
        }
        Ok(descriptors)
    }

    /// What a variable of this type is an array of, and of how many.
    fn element(&self, pointer: u32) -> Result<(u32, u32), &'static str> {
        let Some(Type::Pointer { to }) = self.types.get(&pointer) else { return Err("it is no pointer") };
        match self.types.get(to) {
            Some(Type::Array { of, length }) => {
                let length = self.values.get(length).copied().filter(|length| (1..=1024).contains(length));
                Ok((*of, length.ok_or("it is an array of more than 1024, or of a computed length")?))
            }
            Some(Type::RuntimeArray { of }) => Ok((*of, 1)),
            _ => Ok((*to, 1)),
        }
    }

    fn descriptor_type(&self, of: u32, class: u32) -> Result<vk::DescriptorType, &'static str> {
        use vk::DescriptorType as D;
        Ok(match (class, self.types.get(&of)) {
            (storage::STORAGE_BUFFER, _) => D::STORAGE_BUFFER,
            // As modules before SPIR-V 1.3 have them.
            (storage::UNIFORM, _) if self.buffer_blocks.contains(&of) => D::STORAGE_BUFFER,
            (storage::UNIFORM, _) => D::UNIFORM_BUFFER,
            (storage::UNIFORM_CONSTANT, Some(Type::Image(2, true))) => D::STORAGE_TEXEL_BUFFER,
            (storage::UNIFORM_CONSTANT, Some(Type::Image(2, false))) => D::STORAGE_IMAGE,
            (storage::UNIFORM_CONSTANT, Some(Type::Image(_, true))) => D::UNIFORM_TEXEL_BUFFER,
            (storage::UNIFORM_CONSTANT, Some(Type::Image(_, false))) => D::SAMPLED_IMAGE,
            (storage::UNIFORM_CONSTANT, Some(Type::SampledImage)) => D::COMBINED_IMAGE_SAMPLER,
            (storage::UNIFORM_CONSTANT, Some(Type::Sampler)) => D::SAMPLER,
            _ => return Err("it is no buffer, image or sampler"),
        })
    }

    /// Invocations in a workgroup of an entry point, by dimension; `specialized` has the values that constants are given.
    fn workgroup_size(&self, entry_point: u32, specialized: impl Fn(u32) -> Option<u32>) -> Option<[u32; 3]> {
        let value = |operand: Operand| match operand {
            Operand::Literal(value) => Some(value),
            Operand::Id(id) => {
                let given = self.spec_ids.get(&id).and_then(|spec_id| specialized(*spec_id));
                given.or_else(|| self.values.get(&id).copied())
            }
        };
        let built_in = self.workgroup_size.and_then(|id| match self.composites.get(&id)?[..] {
            [x, y, z] => Some([x, y, z].map(Operand::Id)),
            _ => None,
        });
        let size = built_in.or_else(|| self.local_sizes.get(&entry_point).copied())?;
        let [x, y, z] = size.map(value);
        Some([x?, y?, z?])
    }
}

impl Scalar {
    /// What it takes.
    fn words(self) -> &'static str {
        match self {
            Self::Bool => "true or false",
            Self::Int(32, true) => "a whole number of 32 bits with a sign",
            Self::Int(32, false) => "a whole number of 32 bits without a sign",
            Self::Int(..) => "a whole number of its width",
            Self::Float(32 | 64) => "a number",
            Self::Float(_) => "no value here, being a float of neither 32 nor 64 bits,",
        }
    }

    /// The value as Vulkan takes it.
    fn parse(self, text: &str) -> Option<Vec<u8>> {
        match self {
            Self::Bool => {
                let value = match text {
                    "true" | "1" => 1u32,
                    "false" | "0" => 0,
                    _ => return None,
                };
                Some(value.to_ne_bytes().into())
            }
            Self::Int(bits @ (8 | 16 | 32 | 64), is_signed) => {
                let value = match text.strip_prefix("0x") {
                    Some(digits) => i128::from(u64::from_str_radix(digits, 16).ok()?),
                    None => text.parse().ok()?,
                };
                let max = (1i128 << bits) - 1;
                // Hexadecimal digits may have the bits of a negative number.
                let min = if is_signed { -(1i128 << (bits - 1)) } else { 0 };
                let is_pattern = text.starts_with("0x") || !is_signed;
                let fits = (min..=if is_pattern { max } else { max >> 1 }).contains(&value);
                let size = bits as usize / 8;
                fits.then(|| match bits {
                    8 => vec![value as u8],
                    16 => (value as u16).to_ne_bytes().into(),
                    32 => (value as u32).to_ne_bytes().into(),
                    _ => (value as u64).to_ne_bytes()[..size].into(),
                })
            }
            Self::Int(..) => None,
            Self::Float(32) => Some(text.parse::<f32>().ok()?.to_ne_bytes().into()),
            Self::Float(64) => Some(text.parse::<f64>().ok()?.to_ne_bytes().into()),
            Self::Float(_) => None,
        }
    }
}
