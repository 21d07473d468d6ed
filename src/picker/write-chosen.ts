/** Reads the chosen resources as one text, until Escape is pressed. */
import type { Form, Written } from "./create-choosing.ts";
import type { Picker } from "./create-picker.ts";

export async function writeChosen(
  picker: Pick<Picker, "written" | "stopWriting">,
  form: Form,
  progress: (read: number, of: number) => void,
): Promise<Written> {
  const ended = new AbortController();
  const stop = ({ key }: Event & { key?: string }): void => {
    if (key === "Escape") picker.stopWriting();
  };
  addEventListener("keydown", stop, { signal: ended.signal });
  try {
    return await picker.written(form, progress);
  } finally {
    ended.abort();
  }
}
