/** Recognizes the text of pictures with the program `tesseract`, one picture at a time in the whole program. */
import { createSlots } from "../../lib/create-slots.ts";
import { findProgram, usablePath } from "../../lib/find-program.ts";
import { monotonicMs } from "../../lib/monotonic-ms.ts";
import type { Runtime } from "../../runtime.ts";
import { DocumentError } from "./document-error.ts";
import { broken, cancelled, changed, type Outcome, toFailure, tooMuchTime } from "./extract-outcome.ts";
import type { ExtractJob, ExtractPool } from "./extract-pool.ts";
import { checkPicture } from "./picture-size.ts";

interface OcrOptions {
  /** Languages in the names of tesseract. Default: Japanese and English, as far as they are installed. */
  readonly languages?: readonly string[] | undefined;
  readonly env: Runtime["env"];
  /** The program is never taken from these folders. */
  readonly avoid: readonly string[];
}

const maxBytes = 20 * 1024 * 1024;
const maxTextBytes = 4 * 1024 * 1024;
/** Measured: 545 MiB for a picture of 40 million pixels in colour. */
const maxMemoryBytes = 1024 * 1024 * 1024;
const defaultLanguages = ["jpn", "eng"];
/** Measured on screenshots and pages in Japanese: "6", one block of text, loses the fewest characters. */
const pageMode = "6";
const slot = createSlots(1);

export const missingTesseract =
  "it needs the program tesseract; install tesseract-ocr and tesseract-ocr-jpn (Debian, Ubuntu), or tesseract and tesseract-lang (Homebrew)";

/** The program; undefined if it is not installed. */
export function findTesseract(options: Pick<OcrOptions, "env" | "avoid">): string | undefined {
  return find("tesseract", options);
}

function find(name: string, { env, avoid }: Pick<OcrOptions, "env" | "avoid">): string | undefined {
  return findProgram(name, usablePath(env["PATH"] ?? "", avoid));
}

export function createOcrPool(options: OcrOptions): ExtractPool {
  let known: Promise<string> | undefined;

  /** Looked up with the first picture, and again after a failure. */
  function languages(program: string, signal: AbortSignal): Promise<string> {
    known ??= chooseLanguages(program, signal).catch((cause: unknown) => {
      known = undefined;
      throw cause;
    });
    return known;
  }

  async function chooseLanguages(program: string, signal: AbortSignal): Promise<string> {
    const { text } = await run(program, ["--list-langs"], { signal, timeoutMs: 10_000 });
    const installed = new Set(text.split(/\r?\n/));
    const wanted = options.languages ?? defaultLanguages.filter((name) => installed.has(name));
    const missing = wanted.find((name) => !installed.has(name));
    if (missing !== undefined || wanted.length === 0)
      throw new DocumentError(
        "missing-package",
        `tesseract has no data for the language ${missing ?? defaultLanguages[0]}; install it, as in tesseract-ocr-jpn`,
      );
    return wanted.join("+");
  }

  async function recognize({ signal, timeoutMs, load }: ExtractJob): Promise<Outcome> {
    const program = findTesseract(options);
    if (program === undefined) throw new DocumentError("missing-package", missingTesseract);
    const bytes = await load().catch(() => undefined);
    if (!bytes) return changed;
    if (bytes.length > maxBytes) throw new DocumentError("too-large", `it has more than ${maxBytes} bytes`);
    // Important: tesseract takes any other input for a list of files to read.
    checkPicture(bytes);
    const args = ["stdin", "stdout", "-l", await languages(program, signal), "--psm", pageMode];
    const { text, isLate } = await run(program, args, { signal, timeoutMs, bytes });
    if (isLate) return tooMuchTime(timeoutMs);
    const clean = withoutGaps(text);
    if (clean === "") throw new DocumentError("no-text", "no text was recognized in it");
    return { mimeType: "text/plain", text: Buffer.from(`${clean}\n`) };
  }

  /** Without a shell, with no variables but those that tesseract needs, and with limited memory where the system has a program for that. */
  function run(
    program: string,
    args: readonly string[],
    { signal, timeoutMs, bytes }: { readonly signal: AbortSignal; readonly timeoutMs: number; readonly bytes?: Buffer },
  ): Promise<{ readonly text: string; readonly isLate: boolean }> {
    const { execFile } = process.getBuiltinModule("node:child_process");
    const data = options.env["TESSDATA_PREFIX"];
    const prlimit = find("prlimit", options);
    const command = [...(prlimit === undefined ? [] : [prlimit, `--as=${maxMemoryBytes}`, "--"]), program, ...args];
    return new Promise((resolve, reject) => {
      const child = execFile(
        command[0]!,
        command.slice(1),
        {
          cwd: "/",
          env: { OMP_THREAD_LIMIT: "1", ...(data !== undefined && { TESSDATA_PREFIX: data }) },
          signal,
          timeout: timeoutMs,
          killSignal: "SIGKILL",
          maxBuffer: maxTextBytes,
          windowsHide: true,
        },
        (cause, text) => {
          if (!cause) resolve({ text, isLate: false });
          else if (cause.killed === true && cause.code === null) resolve({ text: "", isLate: true });
          else if (typeof cause.code === "number") reject(new DocumentError("malformed", "tesseract cannot read it"));
          else reject(cause);
        },
      );
      lowerPriority(child.pid);
      // Ignored: the exit of the program says why.
      child.stdin?.on("error", () => undefined);
      child.stdin?.end(bytes);
    });
  }

  async function perform(job: ExtractJob): Promise<Outcome> {
    const leave = await slot(job.signal).catch(() => undefined);
    if (!leave) return cancelled;
    const startMs = monotonicMs();
    try {
      return await recognize(job);
    } catch (cause) {
      if (job.signal.aborted) return cancelled;
      return cause instanceof DocumentError ? toFailure(cause.fault, cause.message) : broken(cause);
    } finally {
      leave();
      job.spent?.(monotonicMs() - startMs);
    }
  }

  return {
    add: (job) => void perform(job).then((outcome) => job.settle(outcome)),
    // A process runs only for a picture, and ends with its signal.
    join: () => undefined,
    leave: () => undefined,
  };
}

/** Recognition takes a second or more of a processor; requests go first. */
function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.getBuiltinModule("node:os").setPriority(pid, 10);
  } catch {
    // It may have ended already, or the system may refuse.
  }
}

const wide = String.raw`[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー々、。，．・「」『』（）！？：]`;
const gaps = new RegExp(`(?<=${wide}) {1,3}(?=${wide})`, "gu");

/** Japanese is written without spaces, but tesseract puts some between characters. */
function withoutGaps(text: string): string {
  return text
    .replaceAll("\f", "\n")
    .split("\n")
    .map((line) => line.trim().replaceAll(gaps, ""))
    .join("\n")
    .replaceAll(/\n{3,9}/g, "\n\n")
    .trim();
}
