/** A store that does nothing but list: a hundred thousand keys under one prefix, page by page, as S3 spells them. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

const count = Number(process.argv[2] ?? 100_000);
const keyOf = (index: number) => `logs/${String(index).padStart(8, "0")}.json`;

const server = createServer((request, response) => {
  const query = new URL(request.url ?? "/", "http://stub").searchParams;
  const after = query.get("start-after");
  const first = after === null ? 0 : Number(after.slice(5, 13)) + 1;
  const end = Math.min(first + Number(query.get("max-keys") ?? 1000), count);
  let xml = `<?xml version="1.0" encoding="UTF-8"?><ListBucketResult><EncodingType>url</EncodingType><IsTruncated>${end < count}</IsTruncated>`;
  for (let index = first; index < end; index += 1)
    xml += `<Contents><Key>${keyOf(index)}</Key><LastModified>2026-01-02T03:04:05.000Z</LastModified><ETag>"${index}"</ETag><Size>${index}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
  response.writeHead(200, { "Content-Type": "application/xml" }).end(`${xml}</ListBucketResult>`);
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
process.once("disconnect", () => server.close());
