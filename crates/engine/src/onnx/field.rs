//! From Rust types to protobuf fields: what each type looks like on the wire, once, and the
//! macro that turns a message's definition into its struct, its reader and its writer.

use bytes::Bytes;

use super::error::Malformed;
use super::wire::{Reader, Wire, key_size, varint_size, write_key, write_varint};

/// When and how a field is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Style {
    /// Left out when it is the default; repeated values each with their own key.
    Plain,
    /// Repeated values in one block.
    Packed,
    /// Written even when it is the default.
    Always,
}

/// A message: its fields without the length in front.
pub(super) trait Message: Default {
    /// What one takes in memory before anything is in it.
    const MEMORY: usize = size_of::<Self>();
    /// Reads fields up to the end of the message; repeated ones are appended, others replaced.
    fn merge(&mut self, reader: &mut Reader) -> Result<(), Malformed>;
    fn body_size(&self) -> usize;
    fn write_body(&self, out: &mut Vec<u8>);
}

impl<T: Message> Message for Box<T> {
    const MEMORY: usize = T::MEMORY;
    fn merge(&mut self, reader: &mut Reader) -> Result<(), Malformed> {
        T::merge(self, reader)
    }
    fn body_size(&self) -> usize {
        T::body_size(self)
    }
    fn write_body(&self, out: &mut Vec<u8>) {
        T::write_body(self, out);
    }
}

/// One value on the wire, without its key.
pub(super) trait Element: Default {
    const WIRE: Wire;
    fn read(&mut self, reader: &mut Reader) -> Result<(), Malformed>;
    fn size(&self) -> usize;
    fn write(&self, out: &mut Vec<u8>);
}

impl<T: Message> Element for T {
    const WIRE: Wire = Wire::Length;
    fn read(&mut self, reader: &mut Reader) -> Result<(), Malformed> {
        reader.nested(T::MEMORY, |reader| self.merge(reader))
    }
    fn size(&self) -> usize {
        let body = self.body_size();
        varint_size(body as u64) + body
    }
    fn write(&self, out: &mut Vec<u8>) {
        write_varint(self.body_size() as u64, out);
        self.write_body(out);
    }
}

/// A value whose default is not written.
pub(super) trait Scalar: Element {
    fn is_default(&self) -> bool;
}

macro_rules! numbers {
    ($($type:ty: $wire:ident, $read:expr, $size:expr, $write:expr, $bits:expr;)+) => {$(
        impl Element for $type {
            const WIRE: Wire = Wire::$wire;
            fn read(&mut self, reader: &mut Reader) -> Result<(), Malformed> {
                *self = $read(reader)?;
                Ok(())
            }
            fn size(&self) -> usize {
                $size(*self)
            }
            fn write(&self, out: &mut Vec<u8>) {
                $write(*self, out);
            }
        }
        impl Scalar for $type {
            fn is_default(&self) -> bool {
                $bits(*self) == 0
            }
        }
    )+};
}

// A 32-bit integer is stored sign-extended to 64 bits; minus zero is not the default.
numbers! {
    i32: Varint, |r: &mut Reader| r.varint().map(|v| v as i32),
        |v| varint_size(i64::from(v) as u64), |v, out| write_varint(i64::from(v) as u64, out), |v| v;
    i64: Varint, |r: &mut Reader| r.varint().map(|v| v as i64),
        |v| varint_size(v as u64), |v, out| write_varint(v as u64, out), |v| v;
    u64: Varint, Reader::varint, varint_size, write_varint, |v| v;
    f32: Fixed32, |r: &mut Reader| r.array().map(f32::from_le_bytes),
        |_| 4, |v: f32, out: &mut Vec<u8>| out.extend(v.to_le_bytes()), f32::to_bits;
    f64: Fixed64, |r: &mut Reader| r.array().map(f64::from_le_bytes),
        |_| 8, |v: f64, out: &mut Vec<u8>| out.extend(v.to_le_bytes()), f64::to_bits;
}

macro_rules! byte_strings {
    ($($type:ty: $read:ident;)+) => {$(
        impl Element for $type {
            const WIRE: Wire = Wire::Length;
            fn read(&mut self, reader: &mut Reader) -> Result<(), Malformed> {
                *self = reader.$read()?;
                Ok(())
            }
            fn size(&self) -> usize {
                varint_size(self.len() as u64) + self.len()
            }
            fn write(&self, out: &mut Vec<u8>) {
                write_varint(self.len() as u64, out);
                out.extend_from_slice(self.as_ref());
            }
        }
        impl Scalar for $type {
            fn is_default(&self) -> bool {
                self.is_empty()
            }
        }
    )+};
}

byte_strings! {
    String: text;
    Bytes: slice;
}

/// A field of a message: a value, an optional value or a list of values, with its key.
pub(super) trait Field {
    fn read(&mut self, wire: Wire, reader: &mut Reader) -> Result<(), Malformed>;
    fn size(&self, number: u32, style: Style) -> usize;
    fn write(&self, number: u32, style: Style, out: &mut Vec<u8>);
    /// The index of the value that is being read, for error messages.
    fn index(&self) -> Option<usize> {
        None
    }
}

impl<T: Scalar> Field for T {
    fn read(&mut self, wire: Wire, reader: &mut Reader) -> Result<(), Malformed> {
        reader.expect(wire, T::WIRE)?;
        Element::read(self, reader)
    }
    fn size(&self, number: u32, style: Style) -> usize {
        // proto3 leaves defaults out.
        let left_out = self.is_default() && style != Style::Always;
        if left_out { 0 } else { key_size(number) + Element::size(self) }
    }
    fn write(&self, number: u32, style: Style, out: &mut Vec<u8>) {
        if !self.is_default() || style == Style::Always {
            write_key(number, T::WIRE, out);
            Element::write(self, out);
        }
    }
}

impl<T: Element> Field for Option<T> {
    fn read(&mut self, wire: Wire, reader: &mut Reader) -> Result<(), Malformed> {
        reader.expect(wire, T::WIRE)?;
        self.get_or_insert_default().read(reader)
    }
    fn size(&self, number: u32, _style: Style) -> usize {
        self.as_ref().map_or(0, |value| key_size(number) + value.size())
    }
    fn write(&self, number: u32, _style: Style, out: &mut Vec<u8>) {
        if let Some(value) = self {
            write_key(number, T::WIRE, out);
            value.write(out);
        }
    }
}

impl<T: Element> Field for Vec<T> {
    fn read(&mut self, wire: Wire, reader: &mut Reader) -> Result<(), Malformed> {
        // Lists of numbers may be packed or not, whatever the schema says: readers must take
        // both.
        if wire == Wire::Length && T::WIRE != Wire::Length {
            return reader.delimited(|reader, bytes| {
                self.reserve(packed_count(T::WIRE, bytes));
                while !reader.is_at_end() {
                    push(self, reader)?;
                }
                Ok(())
            });
        }
        reader.expect(wire, T::WIRE)?;
        push(self, reader)
    }
    fn size(&self, number: u32, style: Style) -> usize {
        let values = self.iter().map(T::size).sum::<usize>();
        match style {
            Style::Packed if self.is_empty() => 0,
            Style::Packed => key_size(number) + varint_size(values as u64) + values,
            _ => self.len() * key_size(number) + values,
        }
    }
    fn write(&self, number: u32, style: Style, out: &mut Vec<u8>) {
        if style == Style::Packed && !self.is_empty() {
            write_key(number, Wire::Length, out);
            write_varint(self.iter().map(|v| v.size() as u64).sum(), out);
        }
        for value in self {
            if style != Style::Packed {
                write_key(number, T::WIRE, out);
            }
            value.write(out);
        }
    }
    fn index(&self) -> Option<usize> {
        Some(self.len())
    }
}

fn push<T: Element>(list: &mut Vec<T>, reader: &mut Reader) -> Result<(), Malformed> {
    let mut value = T::default();
    value.read(reader)?;
    list.push(value);
    Ok(())
}

/// How many values a packed block surely holds, so that large ones are allocated once.
fn packed_count(wire: Wire, bytes: usize) -> usize {
    match wire {
        Wire::Fixed32 => bytes / 4,
        Wire::Fixed64 => bytes / 8,
        Wire::Varint | Wire::Length => 0,
    }
}

/// Defines messages as `onnx.proto` does: `name: type = number;`, in the order of the numbers.
/// `packed` writes a list as one block; `always_if(method)` writes even a default value when the
/// method says so.
macro_rules! messages {
    ($(
        $(#[$doc:meta])*
        $message:ident {
            $($(#[$field_doc:meta])* $field:ident: $type:ty = $number:literal
                $(, $style:ident $(($method:ident))?)?;)*
        }
    )*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct $message {
            $($(#[$field_doc])* pub $field: $type,)*
            /// Fields that are not listed above, kept as they came and written back.
            pub unknown: Unknown,
        }

        impl Message for $message {
            fn merge(&mut self, reader: &mut Reader) -> Result<(), Malformed> {
                while let Some(key) = reader.key()? {
                    match key.number {
                        $($number => self.$field.read(key.wire, reader).map_err(|problem| {
                            problem.inside(stringify!($field), self.$field.index())
                        })?,)*
                        _ => self.unknown.keep(key, reader)?,
                    }
                }
                Ok(())
            }
            fn body_size(&self) -> usize {
                let fields = [$(self.$field.size(
                    $number,
                    messages!(@style self $($style $($method)?)?),
                ),)*];
                fields.iter().sum::<usize>() + self.unknown.size()
            }
            fn write_body(&self, out: &mut Vec<u8>) {
                $(self.$field.write(
                    $number,
                    messages!(@style self $($style $($method)?)?),
                    out,
                );)*
                self.unknown.write(out);
            }
        }
    )*};
    (@style $self:ident) => { Style::Plain };
    (@style $self:ident packed) => { Style::Packed };
    (@style $self:ident always_if $method:ident) => {
        if $self.$method() { Style::Always } else { Style::Plain }
    };
}

pub(super) use messages;
