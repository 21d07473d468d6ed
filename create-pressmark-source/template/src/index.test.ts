/** Every promise of a source, tested by Pressmark's contract. Add tests for what is special about your backend. */
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRuntime } from "pressmark";
import { sourceContract } from "pressmark/testing";
import source from "./index.ts";

const folder = mkdtempSync(join(tmpdir(), "my-backend-"));
const file = join(folder, "notes.json");

type Notes = Record<string, string | undefined>;

/** In one step, so that nobody reads half of it. */
function save(notes: Notes): void {
  writeFileSync(`${file}.new`, JSON.stringify(notes));
  renameSync(`${file}.new`, file);
}

function change(edit: (notes: Notes) => void): void {
  const notes = JSON.parse(readFileSync(file, "utf8")) as Notes;
  edit(notes);
  save(notes);
}

sourceContract("my-backend", {
  abilities: ["stat", "children", "watch"],
  open(content) {
    save(content);
    return source.open({ file, pollMs: 10 }, createRuntime(process.stderr));
  },
  write: (path, text) => change((notes) => (notes[path] = text)),
  remove: (path) => change((notes) => delete notes[path]),
});

process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
