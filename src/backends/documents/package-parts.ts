/** Relationships between the parts of an Office Open XML package. */
import { DocumentError } from "./document-error.ts";
import { decodeXml, scanXml } from "./xml.ts";
import type { Zip } from "./zip.ts";

export interface Relationship {
  /** A path in the package, or a URI outside it. */
  readonly target: string;
  /** The last word of the type's URI: "worksheet", "hyperlink". */
  readonly type: string;
  readonly isExternal: boolean;
}

export function readXml(zip: Zip, path: string): string | undefined {
  const bytes = zip.read(path);
  return bytes && decodeXml(bytes);
}

/** The relationships of a part, by id; those of the package for "". */
export function relationshipsOf(zip: Zip, part: string): ReadonlyMap<string, Relationship> {
  const slash = part.lastIndexOf("/") + 1;
  const folder = part.slice(0, slash);
  const found = new Map<string, Relationship>();
  const xml = readXml(zip, `${folder}_rels/${part.slice(slash)}.rels`);
  if (xml === undefined) return found;
  scanXml(xml, {
    open(name, tag) {
      if (name !== "Relationship") return;
      const target = tag.get("Target") ?? "";
      const isExternal = tag.get("TargetMode") === "External";
      const type = tag.get("Type") ?? "";
      found.set(tag.get("Id") ?? "", {
        target: isExternal ? target : resolvePart(folder, target),
        type: type.slice(type.lastIndexOf("/") + 1),
        isExternal,
      });
    },
    close() {},
  });
  return found;
}

/** The main part of a package. */
export function mainPart(zip: Zip): string {
  for (const { type, target } of relationshipsOf(zip, "").values()) if (type === "officeDocument") return target;
  throw new DocumentError("malformed", "its main part is not declared");
}

function resolvePart(folder: string, target: string): string {
  const segments: string[] = [];
  for (const segment of (target.startsWith("/") ? target : `${folder}${target}`).split("/")) {
    if (segment === "..") segments.pop();
    else if (segment !== "" && segment !== ".") segments.push(segment);
  }
  return segments.join("/");
}
