/** Screenshots as small files: the 256 colours that are there most, and every other as the nearest of them. */
import { crc32, deflateSync } from "node:zlib";
import type { Page } from "playwright-core";

interface Drawn {
  readonly width: number;
  readonly height: number;
  /** Red, green and blue of each colour. */
  readonly palette: readonly number[];
  /** A byte for each point, in base64. */
  readonly points: string;
}

/** What the page shows, as a PNG. A canvas in another page reads the points. */
export async function smallPng(page: Page): Promise<Buffer> {
  const shot = (await page.screenshot({ animations: "disabled", caret: "hide" })).toString("base64");
  const reader = await page.context().newPage();
  const { width, height, palette, points } = await reader.evaluate<Drawn>(`(${reduce})("${shot}")`);
  await reader.close();
  const rows = Buffer.from(points, "base64");
  const lines = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y += 1) rows.copy(lines, y * (width + 1) + 1, y * width, (y + 1) * width);
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // Eight bits a point, by a palette.
  header.set([8, 3], 8);
  return Buffer.concat([
    Buffer.from("\x89PNG\r\n\x1A\n", "latin1"),
    chunk("IHDR", header),
    chunk("PLTE", Buffer.from(palette)),
    chunk("IDAT", deflateSync(lines, { level: 9 })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(name: string, content: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

/** Runs in the browser. */
const reduce = `async function (png) {
  const image = await createImageBitmap(await (await fetch("data:image/png;base64," + png)).blob());
  const { width, height } = image;
  const canvas = new OffscreenCanvas(width, height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, width, height);
  const colourAt = (at) => (data[at] << 16) | (data[at + 1] << 8) | data[at + 2];
  const counts = new Map();
  for (let at = 0; at < data.length; at += 4) counts.set(colourAt(at), (counts.get(colourAt(at)) ?? 0) + 1);
  const kept = [...counts].sort((one, other) => other[1] - one[1]).slice(0, 256).map(([colour]) => colour);
  const apart = (one, other) =>
    [16, 8, 0].reduce((sum, shift) => sum + (((one >> shift) & 255) - ((other >> shift) & 255)) ** 2, 0);
  const places = new Map(kept.map((colour, place) => [colour, place]));
  for (const colour of counts.keys()) {
    if (places.has(colour)) continue;
    let best = 0;
    for (let place = 1; place < kept.length; place += 1)
      if (apart(kept[place], colour) < apart(kept[best], colour)) best = place;
    places.set(colour, best);
  }
  const points = new Uint8Array(width * height);
  for (let at = 0; at < points.length; at += 1) points[at] = places.get(colourAt(at * 4));
  return { width, height, palette: kept.flatMap((colour) => [16, 8, 0].map((shift) => (colour >> shift) & 255)), points: points.toBase64() };
}`;
