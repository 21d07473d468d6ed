/** Tells from a path what a file is for, where this decides which of its passages are needed. */

/** A changelog grows at its top, a test file at its end. */
export type FileKind = "test" | "changelog" | "other";

const changelog = /^(?:changelog|changes|history|news|releases?|変更履歴|更新履歴)(?:[._-]|$)/i;
/** `history.ts` is code. */
const extensionOfCode = /\.(?!(?:md|mdx|markdown|rst|txt|adoc|asciidoc|\d+)$)[^.]*$/i;
const testName =
  /^test[_-]|^tests?\.|[._-](?:tests?|specs?)\.|[a-z0-9](?:Tests?|Spec|IT)\.[a-z]+$|(?:テスト|試験)(?:\.|$)/;
const testFolder = /(?:^|\/)(?:tests?|specs?|__tests__|テスト|試験)\//i;

export function fileKindOf(path: string): FileKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (changelog.test(name) && !extensionOfCode.test(name)) return "changelog";
  return testName.test(name) || testFolder.test(path) ? "test" : "other";
}
