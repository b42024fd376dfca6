//! The same numbers drawn give the same pixels, on every CPU and in every version: recorded trials
//! can be replayed. A change here is one that users must hear of.

use super::{fault, load};
use faultlens_faults::image::{all_facts, facts};

/// The digest of every fault at severity 3.
const PINNED: &[(&str, u64)] = &[
    ("banding", 0x9838_03b9_4567_41ac),
    ("black", 0x3fd4_ebc4_ab9c_e325),
    ("brightness", 0x18fc_5a2b_63bb_cf6d),
    ("broken_lens", 0x0a91_9e9e_a3eb_7c08),
    ("chromatic_aberration", 0x47c5_bb28_b8b5_c0d2),
    ("colour_jitter", 0x6840_027a_9ae7_5e56),
    ("condensation", 0xff80_23c8_14be_0ce4),
    ("contrast", 0x3b37_7bdf_b297_4a12),
    ("dead_lines", 0x49b1_9e41_ca1e_392a),
    ("dead_pixels", 0xb5e9_d61e_3358_a7a4),
    ("defocus_blur", 0x225f_acb7_d674_f804),
    ("dirt", 0x10e2_8187_91c9_62dd),
    ("elastic_transform", 0x52c9_44fd_3bf1_3e6f),
    ("exposure", 0x0e5c_dd8c_0b21_3dea),
    ("fog", 0x5215_7940_d601_b3ec),
    ("frost", 0xcdcc_4359_7db0_2896),
    ("gamma", 0x2fea_451c_dc83_7b0c),
    ("gaussian_blur", 0x1a6b_a5e7_200b_f179),
    ("gaussian_noise", 0xccd3_893e_257a_e9ac),
    ("glass_blur", 0x1133_8c18_6a57_2a43),
    ("grey", 0x5da3_0ed2_abf4_74b0),
    ("ice", 0x55c3_5410_cdbb_6528),
    ("impulse_noise", 0xf481_8a76_9c64_df27),
    ("jpeg_compression", 0x16fe_dcd0_f713_e7ca),
    ("mirror", 0x0013_3b82_2ca2_57dd),
    ("missing_sharpness", 0x5acf_91af_1dc7_9717),
    ("motion_blur", 0xfc8a_cfc5_9719_3554),
    ("no_demosaicing", 0x9f6b_cf60_2b48_b3a9),
    ("occlusion", 0x3151_6a15_2bd2_9da2),
    ("pixelate", 0xa91c_304b_1b57_efaf),
    ("rain", 0xf4b9_66bb_f0d7_bda2),
    ("reencode", 0x3cb2_6be6_0d21_9d39),
    ("rescale", 0x3139_a666_b67e_6166),
    ("rgb_shift", 0x5f21_3417_733b_d141),
    ("rotation", 0x0225_4418_d7a3_1414),
    ("saturate", 0xf505_c47b_bc2d_ba79),
    ("shot_noise", 0x37c3_6e3b_bf66_4f73),
    ("snow", 0xac5e_b6ac_5116_be3c),
    ("spatter", 0x119d_7f6c_2a74_9bb3),
    ("speckle_noise", 0x3c7e_8b1c_e3fb_323b),
    ("translation", 0x7059_f0f5_bf23_7a74),
    ("unchanged", 0x664d_c4b3_e336_2c75),
    ("white", 0x71c2_a6b3_e039_5325),
    ("zoom_blur", 0xd2fa_0074_08ff_3a77),
];

/// FNV-1a.
fn digest(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[test]
fn pixels_are_pinned() {
    let photo = load("input.png");
    let names = |all: &[&str]| all.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let pinned = names(&PINNED.iter().map(|(name, _)| *name).collect::<Vec<_>>());
    let known = names(&all_facts().map(|facts| facts.name).collect::<Vec<_>>());
    assert_eq!(pinned, known, "every fault has its digest");
    for &(name, wanted) in PINNED {
        let has_severity = facts(name).unwrap().has_severity();
        let numbers: &[_] = if has_severity { &[("severity", 3.0)] } else { &[] };
        let changed = fault(name, numbers).apply(&photo, 7);
        let got = digest(changed.rgb());
        assert_eq!(got, wanted, "{name}: {got:#018x}");
    }
}

/// The same test once more, with the instructions that every CPU has.
#[test]
fn pixels_do_not_depend_on_the_cpu() {
    let again = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "reference::pinned::pixels_are_pinned"])
        .env("FAULTLENS_ISA", "portable")
        .output()
        .unwrap();
    let output = String::from_utf8_lossy(&again.stdout);
    assert!(again.status.success() && output.contains("1 passed"), "{output}");
}
