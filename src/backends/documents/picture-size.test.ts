import { describe, expect, it } from "vitest";
import { checkPicture } from "./picture-size.ts";

const u16 = (value: number) => [value & 255, value >> 8];
const u32 = (value: number) => [...u16(value & 0xffff), ...u16(value >>> 16)];
const big16 = (value: number) => u16(value).toReversed();
const big32 = (value: number) => u32(value).toReversed();
const ascii = (text: string) => [...Buffer.from(text, "latin1")];

type Make = (width: number, height: number) => number[];

const tiffPage = (width: number, height: number, next: number): number[] => [
  ...u16(2),
  ...u16(256),
  ...u16(3),
  ...u32(1),
  ...u16(width),
  0,
  0,
  ...u16(257),
  ...u16(4),
  ...u32(1),
  ...u32(height),
  ...u32(next),
];
const pageBytes = tiffPage(1, 1, 0).length;

/** With a table of two colours, an extension, and frames with one block of data. */
const gif = (screen: readonly [number, number], ...frames: readonly (readonly [number, number])[]): number[] => [
  ...ascii("GIF89a"),
  ...screen.flatMap(u16),
  ...ascii("\x80\0\0\0\0\0\xff\xff\xff"),
  ...ascii("\x21\xfe\x01\x2c\0"),
  ...frames.flatMap((size) => [0x2c, 0, 0, 0, 0, ...size.flatMap(u16), 0, 2, 1, 0x3b, 0]),
  0x3b,
];

const jpegFrame = (width: number, height: number): number[] => [
  ...ascii("\xff\xc0\0\x0b\x08"),
  ...big16(height),
  ...big16(width),
  ...ascii("\x01\x01\x11\0"),
];

const tiffTags = (...tags: readonly (readonly [tag: number, type: number, count: number, value: number])[]) => [
  ...ascii("II*\0"),
  ...u32(8),
  ...u16(tags.length),
  ...tags.flatMap(([tag, type, count, value]) => [...u16(tag), ...u16(type), ...u32(count), ...u32(value)]),
  ...u32(0),
];

/** Pictures whose decoder takes another size than the first one that is found. */
const ambiguous: Readonly<Record<string, number[]>> = {
  "a TIFF with its width twice": tiffTags([256, 4, 1, 20_000], [256, 4, 1, 9], [257, 4, 1, 9]),
  "a TIFF with its height twice": tiffTags([256, 4, 1, 9], [257, 4, 1, 9], [257, 4, 1, 20_000]),
  "a TIFF with its width elsewhere in the file": tiffTags([256, 16, 1, 8], [257, 4, 1, 9]),
  "a TIFF with several widths": tiffTags([256, 4, 2, 8], [257, 4, 1, 9]),
  "a GIF with a frame larger than its screen": gif([10, 10], [40_000, 40_000]),
  "a GIF of an unknown version": [...ascii("GIF8xx\n\n\n\n/etc/x.png\n"), ...gif([9, 9], [9, 9]).slice(6)],
  "a GIF without a frame": gif([10, 10]),
  "a PNG that begins with another chunk": [...ascii("\x89PNG\r\n\x1a\n\0\0\0\rtEXt"), ...big32(9), ...big32(9)],
  ...Object.fromEntries(
    // Without a length, or none that precedes a picture.
    [0x00, 0x01, 0x02, 0xbf, 0xc8, 0xd0, 0xd7, 0xd8, 0xd9, 0xde, 0xf0].map((marker) => {
      const [real, fake] = [jpegFrame(40_000, 40_000), jpegFrame(9, 9)];
      const between = Array.from({ length: 0xffc0 - real.length }, () => 0);
      return [
        `a JPEG with the marker ${marker.toString(16)}`,
        [0xff, 0xd8, 0xff, marker, ...real, ...between, ...fake, 0xff, 0xda],
      ];
    }),
  ),
  "a JPEG with two frames": [0xff, 0xd8, ...jpegFrame(9, 9), ...jpegFrame(40_000, 40_000), 0xff, 0xda],
  "a JPEG without a frame": [0xff, 0xd8, 0xff, 0xda, ...jpegFrame(9, 9)],
  "a JPEG with a segment that is too short": [0xff, 0xd8, 0xff, 0xe0, 0, 1, ...jpegFrame(9, 9), 0xff, 0xda],
};

const formats: Readonly<Record<string, Make>> = {
  PNG: (width, height) => [
    ...ascii("\x89PNG\r\n\x1a\n"),
    0,
    0,
    0,
    13,
    ...ascii("IHDR"),
    ...big32(width),
    ...big32(height),
  ],
  JPEG: (width, height) => [
    0xff,
    0xd8,
    0xff,
    0xe0,
    ...big16(4),
    1,
    2,
    0xff,
    0xff,
    0xc4,
    ...big16(3),
    9,
    0xff,
    0xc2,
    ...big16(11),
    8,
    ...big16(height),
    ...big16(width),
    ...ascii("\x01\x01\x11\0\xff\xda"),
  ],
  GIF: (width, height) => gif([width, height], [width, height]),
  BMP: (width, height) => [...ascii("BM"), ...Array.from({ length: 16 }, () => 0), ...u32(width), ...u32(-height)],
  "WebP, lossy": (width, height) => [
    ...ascii("RIFF____WEBPVP8 "),
    ...Array.from({ length: 10 }, () => 0),
    ...u16(width),
    ...u16(height),
  ],
  "WebP, lossless": (width, height) => [...ascii("RIFF____WEBPVP8L____/"), ...u32((width - 1) | ((height - 1) << 14))],
  "WebP, extended": (width, height) => [
    ...ascii("RIFF____WEBPVP8X____\0\0\0\0"),
    ...u32(width - 1).slice(0, 3),
    ...u32(height - 1).slice(0, 3),
  ],
  TIFF: (width, height) => [...ascii("II*\0"), ...u32(8), ...tiffPage(width, height, 0)],
  "TIFF, second page": (width, height) => [
    ...ascii("II*\0"),
    ...u32(8),
    ...tiffPage(1, 1, 8 + pageBytes),
    ...tiffPage(width, height, 0),
  ],
};

describe("a picture", () => {
  it.each(Object.entries(formats))("has its size checked before it is decoded: %s", (_name, make) => {
    expect(() => checkPicture(Buffer.from(make(4000, 3000)))).not.toThrow();
    expect(() => checkPicture(Buffer.from(make(16_000, 16_000)))).toThrow("it has 256000000 pixels");
    expect(() => checkPicture(Buffer.from(make(0, 3000)))).toThrow(/damaged|pixels/);
  });

  it.each(Object.entries(formats))("that is cut off is damaged: %s", (_name, make) => {
    const whole = Buffer.from(make(4000, 3000));
    for (let length = 0; length < whole.length - 4; length += 1)
      expect(() => checkPicture(whole.subarray(0, length))).toThrow("it is damaged, or not a picture");
  });

  it.each(Object.entries(ambiguous))("that can be read in two ways is damaged: %s", (_name, bytes) => {
    expect(() => checkPicture(Buffer.from(bytes))).toThrow("it is damaged, or not a picture");
  });

  it("counts all frames of a GIF, and the tiles of a TIFF", () => {
    const frames = Array.from({ length: 50 }, (): [number, number] => [1000, 1000]);
    expect(() => checkPicture(Buffer.from(gif([1000, 1000], ...frames.slice(0, 40))))).not.toThrow();
    expect(() => checkPicture(Buffer.from(gif([1000, 1000], ...frames)))).toThrow("it has 50000000 pixels");
    const tiled = tiffTags([256, 4, 1, 9], [257, 4, 1, 9], [322, 4, 1, 20_000], [323, 3, 1, 20_000]);
    expect(() => checkPicture(Buffer.from(tiled))).toThrow("it has 400000000 pixels");
  });

  it("is no other file: tesseract would take it for a list of files", () => {
    for (const text of [
      "/etc/secret.png\n",
      "/etc/secret.png\0",
      "%PDF-1.7",
      "<svg>",
      "P6\n9 9\n255\n",
      "https://h/a.png",
    ])
      expect(() => checkPicture(Buffer.from(text))).toThrow("it is damaged, or not a picture");
  });

  it("cannot have pages in a circle, nor thousands", () => {
    const circle = Buffer.from([...ascii("II*\0"), ...u32(8), ...tiffPage(1, 1, 8)]);
    expect(() => checkPicture(circle)).toThrow("it is damaged, or not a picture");
    const pages = Array.from({ length: 5000 }, (_, at) => tiffPage(1, 1, 8 + pageBytes * (at + 1)));
    expect(() => checkPicture(Buffer.from([...ascii("II*\0"), ...u32(8), ...pages.flat()]))).toThrow("it is damaged");
  });
});
