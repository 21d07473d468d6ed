/** Recognizes archives by the names of folders and files. */

/** Words of folder names. Digits, signs and letters of other scripts separate words, as do capitals in `oldDocs`. */
const folderWord = /(?<!\p{sc=Latin})(?:archived?|archives|legacy|old|deprecated|obsolete)(?!\p{sc=Latin})/u;
/** The last word of a file name: `spec_old.docx`. At the beginning it is usually the subject: `deprecated-features.md`. */
const lastWord = /[^\p{sc=Latin}](?:archived|old|deprecated|obsolete)[\p{P}\p{Zs}]*(?:\.|$)/u;
/** "アーカイブ機能" and "廃止手順" are about archiving, so only few words may follow. */
const japaneseFolder =
  /(?:(?<![\p{sc=Katakana}ー])アーカイブ[スズ]?|(?<!\p{L})過去|(?<!\p{L})廃止)(?:済み?|分|版|の?(?:資料|文書|ドキュメント))?(?![\p{L}ー])/u;
/** "仕様書_廃止", "【廃止】仕様書". */
const japaneseFile = /(?<!\p{L})廃止(?:済み?|版)?(?!\p{L})/u;
/**
 * "旧仕様書", "【旧】仕様書", "01_旧仕様書". Only as a prefix: "復旧手順" and "新旧対照表" are no archives. Nor are words that begin with it
 * ("旧暦", "旧姓"), and documents about leaving the old ("旧環境からの移行手順").
 */
const japanesePrefix =
  /^[^\p{L}]*旧(?!暦|約聖書|正月|盆|姓|称|友|知|跡|来|字|漢字|仮名|石器|[^\p{L}]?新)(?!.+(?:移行|対照|比較))/u;

/** `path` is relative to the mount, with the name of a file at its end. */
export function isArchived(path: string): boolean {
  const names = path.split("/").map(toWords);
  const file = names.pop() ?? "";
  return (
    lastWord.test(file) ||
    japaneseFile.test(file) ||
    japanesePrefix.test(file) ||
    names.some((name) => folderWord.test(name) || japaneseFolder.test(name) || japanesePrefix.test(name))
  );
}

function toWords(name: string): string {
  return name
    .normalize("NFKC")
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, "$1 $2")
    .toLowerCase();
}
