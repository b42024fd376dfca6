//! Numbers as the database holds them: SQLite makes NaN NULL and forgets the sign of zero, and
//! records must come back bit for bit.
//!
//! A number that a 32-bit float holds exactly is kept as the bits of that float, an integer of
//! four bytes; any other as a real of eight; a NaN that is none of a 32-bit float as its bits in
//! a blob. The view `records` turns them into readable numbers again.

use rusqlite::Result;
use rusqlite::types::{FromSqlError, Value, ValueRef};

/// How a 64-bit number is kept.
pub(super) fn keep(number: f64) -> Value {
    let narrow = number as f32;
    if f64::from(narrow).to_bits() == number.to_bits() {
        Value::Integer(keep_single(narrow))
    } else if number.is_nan() {
        Value::Blob(number.to_bits().to_be_bytes().to_vec())
    } else {
        Value::Real(number)
    }
}

/// The number that was kept.
pub(super) fn kept(value: ValueRef<'_>) -> Result<f64, FromSqlError> {
    match value {
        ValueRef::Integer(bits) => Ok(f64::from(kept_single(bits)?)),
        ValueRef::Real(number) => Ok(number),
        ValueRef::Blob(bytes) => {
            let bytes = bytes.try_into().map_err(|_| FromSqlError::InvalidType)?;
            Ok(f64::from_bits(u64::from_be_bytes(bytes)))
        }
        ValueRef::Null | ValueRef::Text(_) => Err(FromSqlError::InvalidType),
    }
}

/// How a 32-bit number is kept; signed, since SQLite then needs four bytes for each of them.
pub(super) fn keep_single(number: f32) -> i64 {
    number.to_bits().cast_signed().into()
}

/// The 32-bit number that was kept.
pub(super) fn kept_single(bits: i64) -> Result<f32, FromSqlError> {
    let bits = i32::try_from(bits).map_err(|_| FromSqlError::OutOfRange(bits))?;
    Ok(f32::from_bits(bits.cast_unsigned()))
}

/// What a flip of one bit makes of a number that is kept as a 32-bit float.
pub(super) fn flipped(before: f64, bit: Option<u32>) -> Option<f64> {
    let Value::Integer(bits) = keep(before) else { return None };
    let flip = 1_u32.checked_shl(bit?)?;
    let bits = i32::try_from(bits).ok()?.cast_unsigned();
    Some(f64::from(f32::from_bits(bits ^ flip)))
}

/// SQL for the readable number that `column` keeps; `nan` where it is none. The table `exponents`
/// stands in for powers of two, which not every SQLite can compute.
pub(super) fn readable(column: &str) -> String {
    format!(
        "CASE typeof({column}) WHEN 'real' THEN {column} WHEN 'blob' THEN 'nan' \
         WHEN 'integer' THEN CASE WHEN ({column} >> 23) & 255 < 255 \
         THEN (1 - 2 * (({column} >> 31) & 1)) \
         * (({column} & 8388607) + 8388608 * (({column} >> 23) & 255 > 0)) \
         * (SELECT factor FROM exponents WHERE exponent = max(({column} >> 23) & 255, 1)) \
         WHEN {column} & 8388607 THEN 'nan' \
         ELSE (1 - 2 * (({column} >> 31) & 1)) * 9e999 END END"
    )
}

/// The factors that [`readable`] looks up: 2 to the power of `exponent - 150`.
pub(super) fn exponents() -> impl Iterator<Item = (i64, f64)> {
    (1..255).map(|exponent| (i64::from(exponent), 2_f64.powi(exponent - 150)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use faultlens_core::Seed;

    fn special() -> Vec<f64> {
        let narrow = [0.0_f32, 1.0, 0.1, f32::MIN_POSITIVE, f32::MAX, 1e-45, f32::INFINITY];
        let wide = [0.1, 1e300, 5e-324, f64::MAX, 16_777_217.0, 3.0, f64::EPSILON];
        let nans = [0x7ff8_0000_0000_0000, 0x7ff0_0000_0000_0001, 0x7ff8_0000_2000_0000];
        let all = narrow.into_iter().map(f64::from).chain(wide);
        let all = all.chain(nans.into_iter().map(f64::from_bits));
        all.flat_map(|number| [number, -number]).collect()
    }

    #[test]
    fn every_number_comes_back_bit_for_bit() {
        let mut stream = Seed::new(7).stream();
        let drawn = (0..10_000).map(|_| f64::from_bits(stream.next_u64())).collect::<Vec<_>>();
        for number in special().into_iter().chain(drawn) {
            let value = keep(number);
            let back = kept((&value).into()).unwrap();
            assert_eq!(back.to_bits(), number.to_bits(), "{number} as {value:?}");
        }
        for _ in 0..10_000 {
            let number = f32::from_bits(stream.next_u32());
            let back = kept_single(keep_single(number)).unwrap();
            assert_eq!(back.to_bits(), number.to_bits());
        }
    }

    #[test]
    fn the_view_reads_what_was_kept() {
        let database = rusqlite::Connection::open_in_memory().unwrap();
        database
            .execute_batch("CREATE TABLE exponents(exponent, factor); CREATE TABLE t(x)")
            .unwrap();
        for (exponent, factor) in exponents() {
            let row = (exponent, factor);
            database.execute("INSERT INTO exponents VALUES (?, ?)", row).unwrap();
        }
        let query = format!("SELECT {} FROM t", readable("x"));
        let mut stream = Seed::new(8).stream();
        let drawn = (0..1000).map(|_| f64::from(f32::from_bits(stream.next_u32())));
        for number in special().into_iter().chain(drawn.collect::<Vec<_>>()) {
            database.execute("DELETE FROM t", ()).unwrap();
            database.execute("INSERT INTO t VALUES (?)", [keep(number)]).unwrap();
            let read: Value = database.query_row(&query, (), |row| row.get(0)).unwrap();
            match read {
                Value::Text(text) => assert!(text == "nan" && number.is_nan(), "{number} {text}"),
                Value::Real(read) => assert_eq!(read, number),
                other => panic!("{number} reads {other:?}"),
            }
        }
    }

    #[test]
    fn a_flip_is_told_from_the_number_and_the_bit() {
        assert_eq!(flipped(1.0, Some(31)), Some(-1.0));
        assert_eq!(flipped(1.0, Some(30)), Some(f64::from(f32::INFINITY)));
        assert_eq!(flipped(1.0, Some(32)), None);
        assert_eq!(flipped(1.0, None), None);
        assert_eq!(flipped(1e300, Some(3)), None);
    }
}
