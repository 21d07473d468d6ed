/** `pressmark read`: what a house would give for one URI. */
import { quote, ResourceError } from "../../errors.ts";
import type { Call, Content } from "../../resources.ts";
import { defineCommand, flag, listFlag, one, type World } from "../command.ts";
import { plain, print } from "../print.ts";

export default defineCommand({
  name: "read",
  summary: "Print a resource",
  more: "Prints text as it is. A terminal is not sent bytes, nor control characters of a text, unless asked with --raw.",
  examples: ["pressmark read README.md", "pressmark read logo.png > copy.png"],
  takes: { where: one("a resource: its URI, or its path within the folder", "files") },
  flags: {
    folder: listFlag("FOLDER", "look in this folder instead of the current one; may be given again", "folders"),
    raw: flag("write everything as it is, even to a terminal"),
    json: flag("the contents as JSON, bytes in base64"),
  },
  async run({ where, flags: { folder: folders, raw, json } }, world) {
    const { openHouse } = await import("../../server/open-house.ts");
    const house = await openHouse({ folders, from: world.folder, env: world.env, err: world.err });
    try {
      const call: Call = { caller: { id: "local" }, signal: world.signal };
      const { contents } = await house.resources.read(await house.locate(where, call), call);
      if (json) await print(world.out, `${JSON.stringify(contents.map(asJson), undefined, 2)}\n`);
      else for (const content of contents) await printContent(content, raw, world);
    } finally {
      await house.close();
    }
  },
});

async function printContent({ uri, mimeType, body }: Content, raw: boolean, { out }: World): Promise<void> {
  const careful = out.isTTY === true && !raw;
  if ("text" in body) {
    if (!careful) return print(out, body.text);
    const text = body.text.split(/\r?\n/).map((line) => line.split("\t").map(plain).join("\t"));
    return print(out, `${text.join("\n").replace(/\n$/, "")}\n`);
  }
  if (careful)
    throw new ResourceError(
      "unsupported",
      `${quote(uri)} is ${mimeType ?? "bytes"} (${body.bytes.length} bytes), which a terminal cannot show; send it to a file with >, or add --raw`,
    );
  return print(out, body.bytes);
}

function asJson({ uri, mimeType, body, meta }: Content): unknown {
  const said = "text" in body ? { text: body.text } : { base64: Buffer.from(body.bytes).toString("base64") };
  return { uri, mimeType, ...said, meta };
}
