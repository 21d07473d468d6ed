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
  ],
  GIF: (width, height) => [...ascii("GIF89a"), ...u16(width), ...u16(height)],
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
