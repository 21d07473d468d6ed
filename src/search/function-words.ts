/** Words that carry grammar rather than meaning. In a query they count less, but not zero. */

const english = new Set(
  (
    "a about after again all also am an and any anyone anything are as at be because been before being but by can cannot could did do does doing " +
    "done dont each either else ever every for from get gets getting give go goes got had has have having he her here hers him his how i if in " +
    "into is isnt it its just let like make makes many may me might more most much must my need needs no nor not of off on once one only or " +
    "other our out over own please same shall she should so some someone something still such take takes tell than that the their them then " +
    "there these they thing this those though through to too under until up upon us use used using very want was way we were what when where " +
    "whether which while who whom whose why will with without work would yet you your"
  ).split(" "),
);

/** True for a lowercase word of the list. */
export function isFunctionWord(word: string): boolean {
  return english.has(word);
}

/** Japanese endings, particles and question words; every two neighbouring characters of each count. */
const japanese = new Set(
  (
    "ます ました ません ませんか ですか でした でしょうか ですが ください してください しない しました しますか する すれば されます された されて される " +
    "できます できますか できない できました どうすれば どうやって どうしますか どうなりますか どのように どのくらい どんな どこで どこに いつまで いつから いつですか " +
    "なぜ なにを いくら いくつ あります ありますか ありません あるか なります なりますか ならない います いますか いません おります から までに より には では " +
    "とは への など ための ので のに けれど ことが ことは ことを もの ものは とき ときは ときの ところ ような ように という といった について における によって による " +
    "にたいして として これ それ あれ この その あの ここ そこ また および または あるいは しかし ただし したい たいです ほしい もらえますか もらう くれる みる しまう " +
    "しまった しまいました ばよい ばいい いいですか よいですか よいか べきか べきですか のは のが のを のか かどうか たら なら れば ても でも だけ しか ほど くらい " +
    "やりかた おしえて なければ いけない てはいけない ている ていない てある ておく てみる "
  )
    .split(" ")
    .flatMap((word) => [...word].slice(1).map((second, at) => word[at]! + second)),
);

/** The same for a pair of characters. */
export function isFunctionPair(pair: string): boolean {
  return japanese.has(pair);
}
