//! Pictures, from hostile bytes to new ones: decoded under limits, made small, and encoded again.
//!
//! Only pixels pass. The budget of memory is that of a call, in which the file is held twice while it is decoded.

use crate::types::Reason;
use image::{
    DynamicImage, ImageDecoder, ImageFormat, ImageReader, Limits, RgbImage,
    codecs::jpeg::JpegEncoder,
};
use std::io::Cursor;

/// The maximum width and height of a picture and of its thumbnail.
const PICTURE: u32 = 1600;
const THUMBNAIL: u32 = 320;
/// The maximum width and height of what is decoded.
const DECODED: u32 = 16_384;
/// The bytes that the file, held twice, and its pixels may take together.
const MEMORY: u64 = 46 << 20;
/// The bytes that the pixels may take: 12 million of them in three colours.
const PIXELS: u64 = 36 << 20;
/// The maximum number of bytes of an encoded picture, and the qualities that are tried for it.
const ENCODED: usize = 2 << 20;
const QUALITIES: [u8; 3] = [82, 60, 35];

const FORMATS: [ImageFormat; 3] = [ImageFormat::Jpeg, ImageFormat::Png, ImageFormat::WebP];

/// The served form of a picture, as JPEG.
pub(crate) struct Prepared {
    pub(crate) picture: Vec<u8>,
    pub(crate) thumbnail: Vec<u8>,
    pub(crate) width: u32,
    pub(crate) height: u32,
}

/// Makes of a file what is served of it.
pub(crate) fn prepare(content: Vec<u8>) -> Result<Prepared, Reason> {
    let format = image::guess_format(&content).map_err(|_| Reason::UnsupportedType)?;
    if !FORMATS.contains(&format) {
        return Err(Reason::UnsupportedType);
    }
    if format == ImageFormat::WebP {
        check_webp(&content)?;
    }
    let picture = decode(content, format)?;
    let thumbnail = encode(&shrink_copy(&picture, THUMBNAIL))?;
    let (width, height) = (picture.width(), picture.height());
    Ok(Prepared { picture: encode(&flatten(&picture))?, thumbnail, width, height })
}

/// Checks what the parts of a WebP file say of themselves: their length is that of bytes which are there, and each frame
/// is small. The decoder reserves memory by these numbers, which can differ from those in the head of the file. An
/// animation has parts within parts, and is not decoded.
fn check_webp(content: &[u8]) -> Result<(), Reason> {
    let number = |bytes: &[u8]| bytes.iter().rev().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let mut rest = content.get(12..).unwrap_or_default();
    while let Some((head, parts)) = rest.split_first_chunk::<8>() {
        let (name, length) = head.split_at(4);
        let length = usize::try_from(number(length)).unwrap_or(usize::MAX);
        let part = parts.get(..length).ok_or(Reason::Unreadable)?;
        let (width, height) = match (name, part) {
            // RFC 6386, section 9.1: three bytes, a mark of three, and two numbers of 14 bits.
            (b"VP8 ", [_, _, _, 0x9d, 0x01, 0x2a, a, b, c, d, ..]) => {
                (number(&[*a, *b]) & 0x3fff, number(&[*c, *d]) & 0x3fff)
            }
            // RFC 9649, section 3.4: a mark, and two numbers of 14 bits, each one less.
            (b"VP8L", [0x2f, sizes @ ..]) => {
                let sizes = number(sizes.get(..4).ok_or(Reason::Unreadable)?);
                ((sizes & 0x3fff) + 1, (sizes >> 14 & 0x3fff) + 1)
            }
            (b"VP8 " | b"VP8L", _) => return Err(Reason::Unreadable),
            (b"ANMF", _) => return Err(Reason::UnsupportedType),
            _ => (0, 0),
        };
        if width * height * 4 > PIXELS {
            return Err(Reason::TooManyPixels);
        }
        rest = parts.get(length + length % 2..).unwrap_or_default();
    }
    Ok(())
}

fn decode(content: Vec<u8>, format: ImageFormat) -> Result<DynamicImage, Reason> {
    let file_bytes = content.len() as u64;
    let mut reader = ImageReader::with_format(Cursor::new(content), format);
    let mut limits = Limits::default();
    limits.max_image_width = Some(DECODED);
    limits.max_image_height = Some(DECODED);
    limits.max_alloc = Some(MEMORY);
    reader.limits(limits);
    let mut decoder = reader.into_decoder().map_err(reason)?;
    let pixels = decoder.total_bytes();
    if pixels > PIXELS || pixels.saturating_add(2 * file_bytes) > MEMORY {
        return Err(Reason::TooManyPixels);
    }
    // A picture that says badly how it is to be turned is shown as it is.
    let orientation = decoder.orientation().ok();
    let picture = DynamicImage::from_decoder(decoder).map_err(reason)?;
    // Turning makes a copy, so it follows the shrinking.
    let mut picture = shrink(picture, PICTURE);
    if let Some(orientation) = orientation {
        picture.apply_orientation(orientation);
    }
    Ok(picture)
}

fn reason(error: image::ImageError) -> Reason {
    match error {
        image::ImageError::Limits(_) => Reason::TooManyPixels,
        image::ImageError::Unsupported(_) => Reason::UnsupportedType,
        _ => Reason::Unreadable,
    }
}

/// Returns the picture at most this wide and high. A small one stays as it is.
fn shrink(picture: DynamicImage, most: u32) -> DynamicImage {
    match picture.width() > most || picture.height() > most {
        true => picture.thumbnail(most, most),
        false => picture,
    }
}

fn shrink_copy(picture: &DynamicImage, most: u32) -> RgbImage {
    match picture.width() > most || picture.height() > most {
        true => flatten(&picture.thumbnail(most, most)),
        false => flatten(picture),
    }
}

/// Returns the colours of a picture on white.
fn flatten(picture: &DynamicImage) -> RgbImage {
    if !picture.color().has_alpha() {
        return picture.to_rgb8();
    }
    let rgba = picture.to_rgba8();
    RgbImage::from_fn(rgba.width(), rgba.height(), |x, y| {
        let [red, green, blue, alpha] = rgba.get_pixel(x, y).0;
        let blend = |colour: u8| {
            let (colour, alpha) = (u32::from(colour), u32::from(alpha));
            u8::try_from((colour * alpha + 255 * (255 - alpha)) / 255).unwrap_or(u8::MAX)
        };
        image::Rgb([blend(red), blend(green), blend(blue)])
    })
}

fn encode(picture: &RgbImage) -> Result<Vec<u8>, Reason> {
    for quality in QUALITIES {
        let mut bytes = Vec::new();
        let encoder = JpegEncoder::new_with_quality(&mut bytes, quality);
        picture.write_with_encoder(encoder).map_err(reason)?;
        if bytes.len() <= ENCODED {
            return Ok(bytes);
        }
    }
    Err(Reason::TooManyPixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
        let picture = RgbImage::from_fn(width, height, |x, y| {
            image::Rgb([x.to_le_bytes()[0], y.to_le_bytes()[0], 90])
        });
        let mut bytes = Cursor::new(Vec::new());
        DynamicImage::from(picture).write_to(&mut bytes, format).unwrap();
        bytes.into_inner()
    }

    /// Returns a JPEG file with an EXIF part that has a place and says that the picture lies on its side.
    fn with_exif(jpeg: &[u8]) -> Vec<u8> {
        let mut tiff =
            b"MM\0\x2a\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0".to_vec();
        tiff.extend(b"GPSLatitude 52.5163 GPSLongitude 13.3777");
        let length = u16::try_from(tiff.len() + 8).unwrap().to_be_bytes();
        [&jpeg[..2], &b"\xff\xe1"[..], &length[..], &b"Exif\0\0"[..], &tiff[..], &jpeg[2..]]
            .concat()
    }

    #[test]
    fn pictures_of_each_format_become_small_jpegs() {
        for format in FORMATS {
            let prepared = prepare(encoded(2000, 1000, format)).unwrap();
            assert_eq!((prepared.width, prepared.height), (1600, 800), "{format:?}");
            for (bytes, width) in [(&prepared.picture, 1600), (&prepared.thumbnail, 320)] {
                assert_eq!(image::guess_format(bytes).unwrap(), ImageFormat::Jpeg);
                assert_eq!(image::load_from_memory(bytes).unwrap().width(), width);
            }
        }
    }

    #[test]
    fn what_is_not_a_pixel_does_not_pass() {
        let file = with_exif(&encoded(40, 20, ImageFormat::Jpeg));
        let polyglot = [&file[..], "<script>alert(1)</script>".as_bytes()].concat();
        let prepared = prepare(polyglot).unwrap();
        // The picture was turned as its EXIF part said.
        assert_eq!((prepared.width, prepared.height), (20, 40));
        for bytes in [prepared.picture, prepared.thumbnail] {
            for part in ["Exif", "GPS", "<script"] {
                let found = bytes.windows(part.len()).any(|window| window == part.as_bytes());
                assert!(!found, "{part}");
            }
        }
    }

    #[test]
    fn other_files_and_bombs_are_refused() {
        let svg = b"<svg xmlns='http://www.w3.org/2000/svg'><script>alert(1)</script></svg>";
        for (file, reason) in [
            (svg.to_vec(), Reason::UnsupportedType),
            (b"<!doctype html><script>alert(1)</script>".to_vec(), Reason::UnsupportedType),
            (b"GIF89a\x01\0\x01\0\0\0\0;".to_vec(), Reason::UnsupportedType),
            (b"%PDF-1.7".to_vec(), Reason::UnsupportedType),
            (b"\x89PNG\r\n\x1a\n".to_vec(), Reason::Unreadable),
        ] {
            assert_eq!(prepare(file).err(), Some(reason));
        }
        let whole = encoded(64, 64, ImageFormat::Png);
        assert_eq!(prepare(whole[..whole.len() / 2].to_vec()).err(), Some(Reason::Unreadable));
        // A picture of 60,000 by 60,000 pixels, by what its head says.
        let mut bomb = whole;
        bomb[16..24].copy_from_slice(&[0, 0, 0xea, 0x60, 0, 0, 0xea, 0x60]);
        let refused = prepare(bomb).err().unwrap();
        assert!(matches!(refused, Reason::TooManyPixels | Reason::Unreadable), "{refused:?}");
    }

    #[test]
    fn a_webp_whose_parts_say_too_much_is_refused_before_it_is_decoded() {
        let whole = encoded(64, 64, ImageFormat::WebP);
        assert_eq!(whole[12..16], *b"VP8L");
        let changed = |at: usize, bytes: [u8; 4]| {
            let mut file = whole.clone();
            file[at..at + 4].copy_from_slice(&bytes);
            check_webp(&file).err()
        };
        assert_eq!(changed(12, *b"VP8L"), None);
        assert_eq!(changed(12, *b"ANMF"), Some(Reason::UnsupportedType));
        assert_eq!(changed(16, [0xff; 4]), Some(Reason::Unreadable));
        assert_eq!(changed(21, [0xff; 4]), Some(Reason::TooManyPixels));
    }

    #[test]
    fn transparent_pixels_are_white() {
        let clear = DynamicImage::from(image::RgbaImage::from_pixel(8, 8, image::Rgba([0; 4])));
        assert_eq!(flatten(&clear).get_pixel(3, 3).0, [255; 3]);
    }

    proptest! {
        #[test]
        fn no_bytes_make_the_decoding_panic(
            at in 0_usize..400, changed in any::<[u8; 4]>(), cut in 0_usize..800, kind in 0_usize..3,
        ) {
            let mut bytes = encoded(24, 24, FORMATS[kind]);
            let at = at.min(bytes.len() - 4);
            bytes[at..at + 4].copy_from_slice(&changed);
            bytes.truncate(bytes.len().saturating_sub(cut).max(4));
            let _ = prepare(bytes);
        }
    }
}
