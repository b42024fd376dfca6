//! The protobuf wire format: bounds-checked reading over one shared buffer, and writing.

use bytes::Bytes;

use super::error::Malformed;

/// The deepest nesting of messages: the graph, 32 subgraphs inside each other at three messages
/// each (node, attribute, graph), and what the last one holds (the axis of a value's type).
pub(super) const MAX_DEPTH: usize = 1 + 3 * 32 + 5;
/// An empty message takes two bytes in a file and hundreds in memory. So that a small file cannot
/// ask for much, its messages may take this many times its size, which real models stay far from,
const MEMORY_PER_BYTE: usize = 32;
/// and this much more.
const MEMORY_AT_LEAST: usize = 64 << 20;

/// How the end of a value is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wire {
    Varint = 0,
    Fixed64 = 1,
    Length = 2,
    Fixed32 = 5,
}

/// What stands in front of every value.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key {
    pub(super) number: u32,
    pub(super) wire: Wire,
    start: usize,
}

/// Fields of a message that this code does not know, as their bytes stand in the file: a model
/// from a newer exporter loses nothing when it is read and written again.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unknown(Vec<Bytes>);

impl Unknown {
    /// Whether everything in the message was understood.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn keep(&mut self, key: Key, reader: &mut Reader) -> Result<(), Malformed> {
        reader.charge(size_of::<Bytes>())?;
        reader.skip(key.wire)?;
        self.0.push(reader.buffer.slice(key.start..reader.at));
        Ok(())
    }

    pub(super) fn size(&self) -> usize {
        self.0.iter().map(Bytes::len).sum()
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        for field in &self.0 {
            out.extend_from_slice(field);
        }
    }
}

/// A position in the file's buffer, and the end of the message that is being read.
pub(super) struct Reader {
    buffer: Bytes,
    at: usize,
    end: usize,
    depth: usize,
    memory_left: usize,
}

impl Reader {
    pub(super) fn new(buffer: Bytes) -> Self {
        let end = buffer.len();
        let memory_left = end.saturating_mul(MEMORY_PER_BYTE).saturating_add(MEMORY_AT_LEAST);
        Self { buffer, at: 0, end, depth: 0, memory_left }
    }

    /// The next field's key, or none at the end of the message.
    pub(super) fn key(&mut self) -> Result<Option<Key>, Malformed> {
        if self.is_at_end() {
            return Ok(None);
        }
        let start = self.at;
        let key = self.varint()?;
        // A key is the field's number, and in its lowest three bits how the value is stored.
        let number = u32::try_from(key >> 3).unwrap_or(0);
        if number == 0 || number >= 1 << 29 {
            return Err(malformed(start, format!("impossible field number {}", key >> 3)));
        }
        let wire = match key & 7 {
            0 => Wire::Varint,
            1 => Wire::Fixed64,
            2 => Wire::Length,
            5 => Wire::Fixed32,
            other => return Err(malformed(start, format!("impossible wire type {other}"))),
        };
        Ok(Some(Key { number, wire, start }))
    }

    pub(super) fn is_at_end(&self) -> bool {
        self.at >= self.end
    }

    /// An error unless the value ahead is stored as its field must be.
    pub(super) fn expect(&self, found: Wire, wanted: Wire) -> Result<(), Malformed> {
        if found == wanted {
            return Ok(());
        }
        Err(malformed(self.at, format!("{found:?} value where {wanted:?} is expected")))
    }

    pub(super) fn varint(&mut self) -> Result<u64, Malformed> {
        let start = self.at;
        let mut value = 0u64;
        // Base 128, least significant group first; the highest bit says that more follow.
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f).checked_shl(shift).unwrap_or(0);
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(malformed(start, "number of more than ten bytes".to_owned()))
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        match self.buffer[self.at..self.end].first_chunk() {
            Some(bytes) => {
                self.at += N;
                Ok(*bytes)
            }
            None => Err(malformed(self.at, "data that ends inside a value".to_owned())),
        }
    }

    /// A length, checked against what is left of the message.
    fn length(&mut self) -> Result<usize, Malformed> {
        let start = self.at;
        let length = self.varint()?;
        // Never beyond the message: a length cannot reach into what follows it.
        let left = self.end - self.at;
        match usize::try_from(length) {
            Ok(length) if length <= left => Ok(length),
            _ => Err(malformed(start, format!("length of {length} bytes where {left} are left"))),
        }
    }

    /// A length-delimited value, as a part of the file's buffer.
    pub(super) fn slice(&mut self) -> Result<Bytes, Malformed> {
        self.charge(size_of::<Bytes>())?;
        let length = self.length()?;
        let slice = self.buffer.slice(self.at..self.at + length);
        self.at += length;
        Ok(slice)
    }

    /// Text; anything but UTF-8 is an error, since names are compared and printed.
    pub(super) fn text(&mut self) -> Result<String, Malformed> {
        let bytes = self.slice()?;
        match std::str::from_utf8(&bytes) {
            Ok(text) => Ok(text.to_owned()),
            Err(error) => {
                let offset = self.at - bytes.len() + error.valid_up_to();
                Err(malformed(offset, "text that is not UTF-8".to_owned()))
            }
        }
    }

    /// Reads a length, then lets `read` see that many bytes and no more.
    pub(super) fn delimited(
        &mut self,
        read: impl FnOnce(&mut Self, usize) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        let length = self.length()?;
        // The end moves in for the inner message, and out again behind it.
        let outer = std::mem::replace(&mut self.end, self.at + length);
        read(self, length)?;
        self.end = outer;
        Ok(())
    }

    /// A message inside a message.
    pub(super) fn nested(
        &mut self,
        memory: usize,
        read: impl FnOnce(&mut Self) -> Result<(), Malformed>,
    ) -> Result<(), Malformed> {
        self.charge(memory)?;
        // Recursion on a hostile file would overflow the stack.
        if self.depth == MAX_DEPTH {
            return Err(malformed(self.at, format!("more than {MAX_DEPTH} nested messages")));
        }
        self.depth += 1;
        self.delimited(|reader, _| read(reader))?;
        self.depth -= 1;
        Ok(())
    }

    /// Accounts for a value before it is made.
    fn charge(&mut self, memory: usize) -> Result<(), Malformed> {
        match self.memory_left.checked_sub(memory) {
            Some(left) => {
                self.memory_left = left;
                Ok(())
            }
            None => {
                let size = self.buffer.len();
                Err(malformed(self.at, format!("more small messages than {size} bytes can mean")))
            }
        }
    }

    fn skip(&mut self, wire: Wire) -> Result<(), Malformed> {
        match wire {
            Wire::Varint => self.varint().map(drop),
            Wire::Fixed64 => self.array::<8>().map(drop),
            Wire::Fixed32 => self.array::<4>().map(drop),
            Wire::Length => {
                let length = self.length()?;
                self.at += length;
                Ok(())
            }
        }
    }
}

fn malformed(offset: usize, what: String) -> Malformed {
    Malformed { what, offset, path: String::new() }
}

/// How many bytes a number takes.
pub(super) fn varint_size(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

pub(super) fn write_varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(super) fn key_size(number: u32) -> usize {
    varint_size(u64::from(number) << 3)
}

pub(super) fn write_key(number: u32, wire: Wire, out: &mut Vec<u8>) {
    write_varint(u64::from(number) << 3 | wire as u64, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_every_length() {
        for value in (0..64).flat_map(|bit| [(1u64 << bit) - 1, 1 << bit]).chain([u64::MAX]) {
            let mut out = Vec::new();
            write_varint(value, &mut out);
            assert_eq!(out.len(), varint_size(value), "{value}");
            assert_eq!(Reader::new(out.into()).varint(), Ok(value));
        }
    }

    #[test]
    fn bad_values_say_what_and_where() {
        let cases: [(&'static [u8], &str); 6] = [
            (&[0xff; 11], "number of more than ten bytes at byte 0"),
            (&[0x08, 0x80], "data that ends inside a value at byte 2"),
            (&[0x0b], "impossible wire type 3 at byte 0"),
            (&[0x00], "impossible field number 0 at byte 0"),
            (&[0x0a, 0x05, 0x01], "length of 5 bytes where 1 are left at byte 1"),
            (&[0x0d, 0x05, 0x01], "data that ends inside a value at byte 1"),
        ];
        for (bytes, message) in cases {
            let mut reader = Reader::new(Bytes::from_static(bytes));
            let read = reader.key().and_then(|key| match key {
                Some(key) => Unknown::default().keep(key, &mut reader),
                None => Ok(()),
            });
            assert_eq!(read.unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn slices_share_the_buffer() {
        let buffer = Bytes::from_static(&[0x03, 1, 2, 3, 9]);
        let slice = Reader::new(buffer.clone()).slice().unwrap();
        assert_eq!(slice.as_ptr(), buffer[1..].as_ptr());
    }
}
