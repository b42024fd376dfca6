//! Gaussian noise against the statistics of imagecorruptions 1.1.2 on the same photo.

#![expect(clippy::unwrap_used, reason = "tests")]

use faultlens_core::{Image, Seed, Setting, Settings};
use faultlens_faults::IMAGE_FAULTS;
use std::path::Path;

fn photo() -> Image {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/input.png");
    let photo = image::open(path).unwrap().to_rgb8();
    let (width, height) = photo.dimensions();
    Image::from_rgb(width as usize, height as usize, photo.into_raw()).unwrap()
}

#[test]
fn noise_has_the_strength_of_the_reference() {
    let photo = photo();
    let plugin = IMAGE_FAULTS.iter().find(|plugin| plugin.name == "gaussian_noise").unwrap();
    // Severity, mean squared error, its deviation between seeds, mean of the red channel.
    let reference = [
        (1.0, 358.478, 1.743, 182.701),
        (3.0, 1571.121, 8.068, 179.130),
        (5.0, 5375.196, 35.277, 169.024),
    ];
    for (severity, mse, deviation, red) in reference {
        let mut settings = Settings::default();
        settings.set("severity", Setting::Number(severity));
        let fault = (plugin.build)(&settings).unwrap();
        let noisy = fault.change(&photo, &mut Seed::new(7).stream());
        let squares = photo.rgb().iter().zip(noisy.rgb());
        let squares = squares.map(|(&a, &b)| (f64::from(a) - f64::from(b)).powi(2));
        let got = squares.sum::<f64>() / photo.rgb().len() as f64;
        assert!((got - mse).abs() < 6.0 * deviation, "severity {severity}: {got}, not {mse}");
        let reds = noisy.rgb().iter().step_by(3).map(|&r| f64::from(r));
        let mean = reds.sum::<f64>() / (noisy.rgb().len() / 3) as f64;
        assert!((mean - red).abs() < 1.0, "severity {severity}: {mean}, not {red}");
    }
}
