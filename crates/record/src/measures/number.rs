//! Floating-point numbers in JSON that come back bit for bit.
//!
//! JSON has no NaN and no infinities, and the quick parser of `serde_json` may be off by one unit in
//! the last place. So a number is written as a JSON number where that reads back as the same
//! number, and as a string in Rust's shortest notation otherwise; the standard library reads the
//! string exactly. Most measures have six decimals or fewer and stay plain numbers.

use faultlens_core::Bounds;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A number as it stands in JSON.
#[derive(Serialize, Deserialize)]
#[serde(transparent)]
struct Token(serde_json::Value);

/// The number types that measures have.
pub(crate) trait Float: Copy + std::fmt::Display + std::str::FromStr {
    fn token(self) -> Option<serde_json::Number>;
    fn from_number(number: f64) -> Self;
    fn is_same(self, other: Self) -> bool;
}

impl Float for f64 {
    fn token(self) -> Option<serde_json::Number> {
        serde_json::Number::from_f64(self)
    }

    fn from_number(number: f64) -> Self {
        number
    }

    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl Float for f32 {
    fn token(self) -> Option<serde_json::Number> {
        // The shortest decimal of 32 bits: 0.9 instead of 0.8999999761581421.
        let decimal: f64 = self.to_string().parse().ok()?;
        serde_json::Number::from_f64(decimal)
    }

    fn from_number(number: f64) -> Self {
        number as Self
    }

    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

fn to_token<F: Float>(value: F) -> Token {
    if let Some(number) = value.token() {
        let read: Option<f64> = serde_json::from_str(&number.to_string()).ok();
        if read.is_some_and(|read| F::from_number(read).is_same(value)) {
            return Token(number.into());
        }
    }
    Token(value.to_string().into())
}

fn from_token<F: Float>(Token(token): Token) -> Option<F> {
    match token {
        serde_json::Value::Number(number) => number.as_f64().map(F::from_number),
        serde_json::Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn read<'de, F: Float, D: Deserializer<'de>>(from: D) -> Result<F, D::Error> {
    from_token(Token::deserialize(from)?).ok_or_else(|| D::Error::custom("not a number"))
}

/// For `#[serde(with = "number::exact")]` on a number.
pub(crate) mod exact {
    use super::*;

    pub(crate) fn serialize<F: Float, S: Serializer>(value: &F, to: S) -> Result<S::Ok, S::Error> {
        to_token(*value).serialize(to)
    }

    pub(crate) fn deserialize<'de, F: Float, D: Deserializer<'de>>(from: D) -> Result<F, D::Error> {
        read(from)
    }
}

/// For `#[serde(with = "number::optional")]` on an `Option` of a number.
pub(crate) mod optional {
    use super::*;

    pub(crate) fn serialize<F: Float, S: Serializer>(
        value: &Option<F>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        value.map(to_token).serialize(to)
    }

    pub(crate) fn deserialize<'de, F: Float, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<F>, D::Error> {
        read(from).map(Some)
    }
}

fn to_list<const N: usize>(values: [f32; N]) -> Vec<Token> {
    values.map(to_token).into()
}

fn from_list<const N: usize>(tokens: Vec<Token>) -> Option<[f32; N]> {
    let values: Option<Vec<f32>> = tokens.into_iter().map(from_token).collect();
    values?.try_into().ok()
}

/// For `#[serde(with = "number::bounds")]`: left, top, right and bottom as a list.
pub(crate) mod bounds {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(bounds: &Bounds, to: S) -> Result<S::Ok, S::Error> {
        to_list(bounds.sides()).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Bounds, D::Error> {
        let sides = from_list(Vec::deserialize(from)?);
        let [left, top, right, bottom] =
            sides.ok_or_else(|| D::Error::custom("a box is a list of four numbers"))?;
        Ok(Bounds { left, top, right, bottom })
    }
}

/// For `#[serde(with = "number::optional_bounds")]` on an `Option<Bounds>`.
pub(crate) mod optional_bounds {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(
        bounds: &Option<Bounds>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        bounds.map(|bounds| to_list(bounds.sides())).serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Bounds>, D::Error> {
        bounds::deserialize(from).map(Some)
    }
}

/// For `#[serde(with = "number::points")]` on a list of points.
pub(crate) mod points {
    use super::*;

    pub(crate) fn serialize<S: Serializer>(points: &[[f32; 2]], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(points.iter().map(|point| to_list(*point)))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Vec<[f32; 2]>, D::Error> {
        let points: Option<Vec<[f32; 2]>> =
            Vec::deserialize(from)?.into_iter().map(from_list).collect();
        points.ok_or_else(|| D::Error::custom("a point is a list of two numbers"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_back_bit_for_bit() {
        let all = [0.0, -0.0, 0.1, 1.0 / 3.0, 5e-324, 1.797e308, f64::INFINITY, f64::NEG_INFINITY];
        for value in all.into_iter().chain((0..2000).map(|at| (f64::from(at) * 0.7).sin() / 3e7)) {
            let json = serde_json::to_string(&to_token(value)).unwrap();
            let back: f64 = from_token(serde_json::from_str(&json).unwrap()).unwrap();
            assert_eq!(back.to_bits(), value.to_bits(), "{json}");
            let single = value as f32;
            let json = serde_json::to_string(&to_token(single)).unwrap();
            let back: f32 = from_token(serde_json::from_str(&json).unwrap()).unwrap();
            assert_eq!(back.to_bits(), single.to_bits(), "{json}");
        }
        assert_eq!(serde_json::to_string(&to_token(0.9_f32)).unwrap(), "0.9");
        assert_eq!(serde_json::to_string(&to_token(f64::NAN)).unwrap(), "\"NaN\"");
    }
}
