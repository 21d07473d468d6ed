/** The named character references of HTML, as far as pages use them. */

/** Latin-1 from 160 on, one name each. */
const latin1 =
  "nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot " +
  "cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml " +
  "Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig " +
  "agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute " +
  "ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml";

const others =
  "amp:26 lt:3c gt:3e quot:22 apos:27 OElig:152 oelig:153 Scaron:160 scaron:161 Yuml:178 fnof:192 circ:2c6 tilde:2dc ensp:2002 " +
  "emsp:2003 thinsp:2009 zwnj:200c zwj:200d lrm:200e rlm:200f ndash:2013 mdash:2014 lsquo:2018 rsquo:2019 sbquo:201a ldquo:201c " +
  "rdquo:201d bdquo:201e dagger:2020 Dagger:2021 bull:2022 hellip:2026 permil:2030 prime:2032 Prime:2033 lsaquo:2039 rsaquo:203a " +
  "euro:20ac trade:2122 larr:2190 uarr:2191 rarr:2192 darr:2193 harr:2194 lArr:21d0 rArr:21d2 hArr:21d4 forall:2200 part:2202 " +
  "exist:2203 empty:2205 isin:2208 notin:2209 sum:2211 minus:2212 radic:221a infin:221e and:2227 or:2228 cap:2229 cup:222a int:222b " +
  "sim:223c asymp:2248 ne:2260 equiv:2261 le:2264 ge:2265 sub:2282 sup:2283 Alpha:391 Beta:392 Gamma:393 Delta:394 Theta:398 " +
  "Lambda:39b Pi:3a0 Sigma:3a3 Phi:3a6 Psi:3a8 Omega:3a9 alpha:3b1 beta:3b2 gamma:3b3 delta:3b4 epsilon:3b5 zeta:3b6 eta:3b7 " +
  "theta:3b8 kappa:3ba lambda:3bb mu:3bc nu:3bd xi:3be pi:3c0 rho:3c1 sigma:3c3 tau:3c4 phi:3c6 chi:3c7 psi:3c8 omega:3c9 " +
  "check:2713 star:2606 hearts:2665 lang:27e8 rang:27e9";

const names = new Map<string, string>([
  ...latin1.split(" ").map((name, at): [string, string] => [name, String.fromCharCode(160 + at)]),
  ...others.split(" ").map((pair): [string, string] => {
    const [name = "", hex = ""] = pair.split(":");
    return [name, fromCode(Number.parseInt(hex, 16))];
  }),
]);

/** Unknown names stay unchanged. */
export function decodeHtmlEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replaceAll(
    /&(?:#(\d{1,7});?|#x([0-9a-f]{1,6});?|([a-z][a-z0-9]{1,30});)/gi,
    (whole, decimal, hex, name: string | undefined) => {
      if (name !== undefined) return names.get(name) ?? whole;
      return fromCode(decimal === undefined ? Number.parseInt(hex as string, 16) : Number(decimal));
    },
  );
}

export function fromCode(code: number): string {
  const isCharacter = code > 0 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  return isCharacter ? String.fromCodePoint(code) : "\ufffd";
}
