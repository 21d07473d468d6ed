/** Tells from a path what a file is for, where this decides which of its passages are needed. */

/** A changelog grows at its top, a test file at its end. */
export type FileKind = "test" | "changelog" | "other";

const changelog = /^(?:changelog|changes|history|news|releases?|変更履歴|更新履歴)(?:[._-]|$)/i;
const testName = /^test[_-]|[._-](?:tests?|specs?)\.|[a-z0-9](?:Tests?|Spec|IT)\.[a-z]+$/;
const testFolder = /(?:^|\/)(?:tests?|specs?|__tests__)\//i;

export function fileKindOf(path: string): FileKind {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (changelog.test(name)) return "changelog";
  return testName.test(name) || testFolder.test(path) ? "test" : "other";
}
