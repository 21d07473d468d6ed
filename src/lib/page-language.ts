/** The language of a page, by the `Accept-Language` of a browser: English or Japanese. */
export function pageLanguage(acceptLanguage: string | undefined): "en" | "ja" {
  const preferred = (acceptLanguage ?? "").split(",").flatMap((part) => {
    const [tag = "", ...parameters] = part.trim().toLowerCase().split(";");
    const quality = Number(/^\s*q=([\d.]+)/.exec(parameters[0] ?? "")?.[1] ?? 1);
    const lang = tag.split("-")[0];
    return lang === "en" || lang === "ja" ? [{ lang, quality } as const] : [];
  });
  const [best] = preferred.toSorted((a, b) => b.quality - a.quality);
  return best?.lang ?? "en";
}
