/** Texts on what is left out when chosen resources are written as text, and on the progress. */
import type { Written } from "./create-choosing.ts";
import type { Language } from "./texts.ts";

const words = {
  en: {
    withoutText: (count: number) => `${count} without text left out`,
    unread: (count: number) => `${count} could not be read`,
    progress: (read: string, of: string) => `Reading ${read} of ${of}… Escape cancels`,
    note: (parts: readonly string[]) => ` (${parts.join("; ")})`,
  },
  ja: {
    withoutText: (count: number) => `テキストのない${count}件を除く`,
    unread: (count: number) => `${count}件は読み込めませんでした`,
    progress: (read: string, of: string) => `${of}件中${read}件を読み込み中…（Escでキャンセル）`,
    note: (parts: readonly string[]) => `（${parts.join("、")}）`,
  },
};

export function writtenTexts({ code, texts }: Language) {
  const { note, withoutText, unread, progress } = words[code];
  const number = new Intl.NumberFormat(code);
  return {
    progress: (read: number, of: number) => progress(number.format(read), number.format(of)),
    /** Empty if nothing is left out. */
    leftOut(made: Pick<Written, "withoutText" | "unread" | "failed">): string {
      const parts = [
        ...(made.withoutText > 0 ? [withoutText(made.withoutText)] : []),
        ...(made.unread > 0 ? [unread(made.unread)] : []),
        ...(made.failed > 0 ? [texts.inTray.notListed(made.failed)] : []),
      ];
      return parts.length > 0 ? note(parts) : "";
    },
  };
}
