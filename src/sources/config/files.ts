/** Reads the files named in the options, and no others, with the same path checks as the file source. */
import { realpathSync, statfsSync } from "node:fs";
import { resolve } from "node:path";
import { denied, invalid, notFound, quote, ResourceError, unavailable } from "../../errors.ts";
import { decodeExactly, findEncoding } from "../../lib/text-encoding.ts";
import { type Confine, createConfine, type ServedPath } from "../../backends/disk/confine.ts";
import {
  createLocalDisk,
  createRemoteDisk,
  type Disk,
  diskKind,
  isNothing,
  isRefusal,
} from "../../backends/disk/disk.ts";
import { run, settled, type Steps } from "../../backends/disk/steps.ts";
import { chooseRules, createFolderRules } from "../../backends/folder-rules/folder-rules.ts";
import { personOf } from "../../backends/folder-rules/git-excludes.ts";
import type { ConfigFormat } from "./formats.ts";
import { FormatError, type ConfigValue } from "./leaf.ts";
import { parseFile } from "./parse-file.ts";

export interface NamedFile {
  /** Below the root, without dot segments. */
  readonly path: string;
  readonly format: ConfigFormat;
}

export interface ConfigFiles {
  readonly all: readonly NamedFile[];
  /** Throws "not-found" if there is no file, "invalid" with the line if it is broken. */
  read(file: NamedFile): Promise<readonly ConfigValue[]>;
  /** A signature that changes with the content; undefined if there is no file. */
  look(file: NamedFile): Promise<string | undefined>;
}

interface FilesOptions {
  readonly root: string;
  readonly files: readonly NamedFile[];
  readonly maxBytes: number;
}

interface FileAccess {
  readonly disk: Disk;
  readonly confine: Confine;
}

export function openFiles({ root: configured, files, maxBytes }: FilesOptions): ConfigFiles {
  let opened: FileAccess | undefined;

  function open(): FileAccess {
    let root: string;
    try {
      root = realpathSync.native(resolve(configured));
    } catch (cause) {
      throw unavailable("the folder of this mount does not exist at the moment", cause);
    }
    const disk = diskKind(statfsSync(root).type) === "remote" ? createRemoteDisk() : createLocalDisk();
    const person = personOf();
    const allow = files.flatMap(({ path }) => allowing(path));
    const folderRules = createFolderRules({ ...chooseRules({ allow }), root, disk, person });
    const isPath = (path: string) => files.some((file) => file.path === path);
    return { disk, confine: createConfine(root, disk, { ...folderRules, isPath }) };
  }

  async function visit<T>(
    path: string,
    use: (location: ServedPath, access: FileAccess) => Steps<T | undefined>,
  ): Promise<T | undefined> {
    const access = (opened ??= open());
    try {
      return await run(access.confine.visit(path, (location) => use(location, access)));
    } catch (cause) {
      if (cause instanceof ResourceError) throw cause;
      if (isNothing(cause)) return undefined;
      if (isRefusal(cause)) throw denied(`permission denied: ${quote(path)}`, cause);
      throw unavailable(`${quote(path)} cannot be read at the moment; try again`, cause);
    }
  }

  async function textOf({ path }: NamedFile): Promise<string | undefined> {
    return visit(path, function* (location, { confine, disk }) {
      const fd = location.kind === "file" ? yield* confine.open(location) : undefined;
      if (fd === undefined) return undefined;
      try {
        const size = Number(location.stats.size);
        const bytes = size > maxBytes ? undefined : yield* settled(disk.read(fd, size, maxBytes));
        if (bytes && bytes.length <= maxBytes) return decode(path, bytes);
        throw new ResourceError(
          "too-large",
          `${quote(path)} has more than ${maxBytes} bytes; raise "maxBytes" if this size is intended`,
          { details: { reason: "too-large", maxBytes } },
        );
      } finally {
        disk.close(fd);
      }
    });
  }

  return {
    all: files,

    async read(file) {
      const text = await textOf(file);
      if (text === undefined) throw notFound(`file/${file.path}`);
      try {
        return await parseFile(text, file.format);
      } catch (cause) {
        if (cause instanceof ResourceError) throw cause;
        // Other errors of a parser may contain parts of the file.
        const { line, message } =
          cause instanceof FormatError ? cause : new FormatError(1, `it is not valid ${file.format}`);
        throw invalid(`${quote(file.path)} is invalid at line ${line}: ${message}`, {
          file: file.path,
          line,
          says: message,
        });
      }
    },

    async look({ path }) {
      return visit(path, ({ kind, stats: { dev, ino, size, mtimeNs, ctimeNs } }) =>
        settled(kind === "file" ? [dev, ino, size, mtimeNs, ctimeNs].join(":") : undefined),
      );
    },
  };
}

/**
 * The patterns that allow one file, hidden or not: naming it in the config allows it. In a Kubernetes volume, files are links to files of
 * the same name in a folder whose name begins with two dots, which is replaced when they change.
 */
function allowing(path: string): string[] {
  const escaped = path.replaceAll(/[\\*?[\]!# ]/g, "\\$&");
  const slash = escaped.lastIndexOf("/") + 1;
  return [`/${escaped}`, `/${escaped.slice(0, slash)}..*/${escaped.slice(slash)}`];
}

function decode(path: string, bytes: Buffer): string {
  const found = findEncoding(bytes);
  const text = found && decodeExactly(bytes.subarray(found.markBytes), found.encoding);
  if (text === undefined) throw invalid(`${quote(path)} is not text, so its settings cannot be read`);
  return text;
}
