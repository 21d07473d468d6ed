/** Texts for property tests. */
import fc from "fast-check";

/** Difficult characters: those that NFKC makes longer or shorter, half surrogate pairs, marks without a letter. */
export const trouble = fc.string({
  unit: fc.oneof(
    fc.constantFrom(
      ..."aZ9_- \n\r\t'.,",
      ..."あアｱﾞﾟー々〆漢字設定한글ᄒ",
      "が".normalize("NFD"),
      "㍿",
      "ﬁ",
      "½",
      "ﷺ",
      "é",
      "e\u0301",
      "İ",
      "ß",
      "👩‍💻",
      "🇯🇵",
      "𠮷",
      "𝒜",
      "\ud83d",
      "\udc00",
      "\u0301",
      "\u200d",
      "\u3099",
      "\u0000",
      "\ufffd",
      "กำ",
    ),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
  maxLength: 60,
});
