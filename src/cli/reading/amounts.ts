/** Formats numbers and times for people. */

/** `12,000` */
export function grouped(number: number): string {
  // Formatting by locale takes 30 ms the first time.
  if (Number.isSafeInteger(number) && number >= 0) return groupDigits(String(number));
  return number.toLocaleString("en-US", { maximumFractionDigits: 20 });
}

function groupDigits(digits: string): string {
  return digits.length <= 3 ? digits : `${groupDigits(digits.slice(0, -3))},${digits.slice(-3)}`;
}

/** `1 file`, `12,000 files` */
export function formatCount(number: number, one: string, many = `${one}s`): string {
  return `${grouped(number)} ${number === 1 ? one : many}`;
}

/** `2026-11-01 14:03` in local time. An invalid time is returned unchanged. */
export function localMinute(iso: string): string {
  const { date, time } = localParts(iso) ?? {};
  return date && time ? `${date} ${time.slice(0, 5)}` : iso;
}

/** `2026-11-01 14:03:22` */
export function localSecond(iso: string): string {
  const { date, time } = localParts(iso) ?? {};
  return date && time ? `${date} ${time}` : iso;
}

/** `14:03:22` */
export function localTime(iso: string): string {
  return localParts(iso)?.time ?? iso;
}

function localParts(iso: string): { readonly date: string; readonly time: string } | undefined {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) return undefined;
  return {
    date: `${String(at.getFullYear()).padStart(4, "0")}-${two(at.getMonth() + 1)}-${two(at.getDate())}`,
    time: `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`,
  };
}

function two(value: number): string {
  return String(value).padStart(2, "0");
}
