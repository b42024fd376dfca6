//! Faults that change what a target sees, grouped by cause.
//!
//! 1. [`IMAGE_FAULTS`] has an entry for each, in alphabetical order; [`facts`] has everything known
//!    of one: text, hazard, parameters, ranges.
//! 2. Each is a type: `Fog::severity(3)?.apply(&image, seed)`. [`named`] finds one by its name.
//! 3. A fault of your own implements [`ImageFault`], and [`Fault`] to have a name and settings.
//!
//! ```
//! use faultlens_core::Image;
//! use faultlens_faults::image::{Fault, Fog, ImageFault, named};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let image = Image::from_rgb(8, 8, vec![100; 8 * 8 * 3])?;
//! let foggy = Fog::severity(3)?.apply(&image, 7);
//! assert_eq!(named("fog")?.severity(3)?.apply(&image, 7), foggy);
//! # Ok(())
//! # }
//! ```

mod builder;
mod facts;
mod fault;
mod level;
pub(crate) mod paint;

pub use builder::{Builder, FaultError, Value};
pub use facts::{Domain, Facts, Range};
pub use fault::{Fault, plugin};
pub use faultlens_core::ImageFault;

use fault::{Entry, plugins, sorted};
use faultlens_core::Plugin;

/// Declares the module of every fault, exports its type and registers it, all from one line.
macro_rules! image_faults {
    ($($(#[$doc:meta])* $group:ident { $($module:ident::$fault:ident,)* })*) => {
        $(
            $(#[$doc])*
            mod $group {
                $(pub(super) mod $module;)*
            }
            $(pub use $group::$module::$fault;)*
        )*

        const COUNT: usize = [$($(stringify!($fault),)*)*].len();

        static ENTRIES: [Entry; COUNT] = sorted([$($(Entry::of::<$fault>(stringify!($group)),)*)*]);

        /// Every image fault, in alphabetical order.
        pub const IMAGE_FAULTS: &[Plugin<dyn ImageFault>] =
            &plugins(&sorted([$($(Entry::of::<$fault>(stringify!($group)),)*)*]));
    };
}

// To add a fault: a file in the folder of its cause, and its line here.
image_faults! {
    /// Random values at every pixel.
    noise {
        gaussian_noise::GaussianNoise,
        impulse_noise::ImpulseNoise,
        shot_noise::ShotNoise,
        speckle_noise::SpeckleNoise,
    }
    /// Lost sharpness.
    blur {
        defocus_blur::DefocusBlur,
        gaussian_blur::GaussianBlur,
        glass_blur::GlassBlur,
        motion_blur::MotionBlur,
        zoom_blur::ZoomBlur,
    }
    /// Weather between the scene and the sensor, and on the lens.
    weather {
        condensation::Condensation,
        fog::Fog,
        frost::Frost,
        ice::Ice,
        rain::Rain,
        snow::Snow,
    }
    /// The lens, and what is on it or in front of it.
    optics {
        broken_lens::BrokenLens,
        chromatic_aberration::ChromaticAberration,
        dirt::Dirt,
        occlusion::Occlusion,
        spatter::Spatter,
    }
    /// The sensor, its exposure and its read-out.
    sensor {
        banding::Banding,
        black::Black,
        dead_lines::DeadLines,
        dead_pixels::DeadPixels,
        exposure::Exposure,
        missing_sharpness::MissingSharpness,
        no_demosaicing::NoDemosaicing,
        white::White,
    }
    /// Tone and colour.
    colour {
        brightness::Brightness,
        colour_jitter::ColourJitter,
        contrast::Contrast,
        gamma::Gamma,
        grey::Grey,
        rgb_shift::RgbShift,
        saturate::Saturate,
    }
    /// Content that moves; boxes and masks move along.
    geometry {
        elastic_transform::ElasticTransform,
        mirror::Mirror,
        rescale::Rescale,
        rotation::Rotation,
        translation::Translation,
    }
    /// Compression and resolution.
    codec {
        jpeg_compression::JpegCompression,
        pixelate::Pixelate,
    }
    /// No fault: what changes under these is not caused by a fault.
    control {
        reencode::Reencode,
        unchanged::Unchanged,
    }
}

/// Faults that leave an image as it is, or as good as that: a changed answer under them is not
/// caused by a fault.
pub const CONTROLS: [&str; 2] = [Reencode::FACTS.name, Unchanged::FACTS.name];

/// The facts of every image fault, in alphabetical order.
pub fn all_facts() -> impl Iterator<Item = &'static Facts> + Clone {
    ENTRIES.iter().map(|entry| &entry.facts)
}

/// The facts of an image fault.
pub fn facts(name: &str) -> Option<&'static Facts> {
    all_facts().find(|facts| facts.name == name)
}

/// The cause that an image fault is grouped under, such as `weather`.
pub fn cause(name: &str) -> Option<&'static str> {
    ENTRIES.iter().find(|entry| entry.facts.name == name).map(|entry| entry.cause)
}

/// The strengths of an image fault on photographs or on small images; see [`Facts::domain`].
pub fn domain(name: &str, small: bool) -> Option<&'static Domain> {
    facts(name)?.domain(small)
}

/// The image fault of that name, to be built with a severity or with settings.
pub fn named(name: &str) -> Result<Builder<Box<dyn ImageFault>>, FaultError> {
    match ENTRIES.iter().find(|entry| entry.facts.name == name) {
        Some(entry) => Ok(Builder::new(&entry.facts, entry.build)),
        None => Err(FaultError::UnknownFault {
            name: name.to_owned(),
            hint: builder::hint(name, all_facts().map(|facts| facts.name)),
        }),
    }
}

#[cfg(test)]
mod tests;
