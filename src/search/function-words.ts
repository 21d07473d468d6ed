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

/** Japanese endings, particles and question words. */
const japanese = (
  "ます ました ません ませんか ですか でした でしょうか ですが ください してください しない しました しますか する すれば されます された されて される " +
  "できます できますか できない できました どうすれば どうやって どうしますか どうなりますか どのように どのくらい どんな どこで どこに いつまで いつから いつですか " +
  "なぜ なにを いくら いくつ あります ありますか ありません あるか なります なりますか ならない います いますか いません おります から までに より には では " +
  "とは への など ための ので のに けれど ことが ことは ことを もの ものは とき ときは ときの ところ ような ように という といった について における によって による " +
  "にたいして として これ それ あれ この その あの ここ そこ また および または あるいは しかし ただし したい たいです ほしい もらえますか もらう くれる みる しまう " +
  "しまった しまいました ばよい ばいい いいですか よいですか よいか べきか べきですか のは のが のを のか かどうか たら なら れば ても でも だけ しか ほど くらい " +
  "やりかた おしえて なければ いけない てはいけない ている ていない てある ておく てみる"
).split(" ");

/** Every two neighbouring characters of each. */
const functionPairs = new Set(japanese.flatMap((word) => [...word].slice(1).map((second, at) => word[at]! + second)));

/** True for a pair of characters of the list. */
export function isFunctionPair(pair: string): boolean {
  return functionPairs.has(pair);
}

/** Particles, and short forms of the words above. */
const functionKana = new Set([
  ...japanese,
  ...(
    "の は が を に へ と で も や か な し て た だ よ ね ば ぞ さ ず ぬ ん れ せ き う く い る まし ませ です でし した して しろ せず させ される させる れる られ " +
    "られる せる ない なく なかった なる なり なった ある あり あった いる いた いて おり おる くる きた いく いった いう いい こと ため よう そう どう こう どこ " +
    "どの どれ いつ だれ なに なん まで のみ さえ すら きり ながら つつ たり だり かも けど だが だった である できる でき とも とか なお にて かな これら それら あれら だろう " +
    "でしょう ましょう いえ みた みて たい たく たち たる ぐらい ばかり ずつ とて もう まだ すぐ"
  ).split(" "),
]);

/** True for a hiragana word that carries grammar only. */
export function isFunctionKana(word: string): boolean {
  return functionKana.has(word);
}

const beforeWords = new Set(
  "の は が を に へ と で も や か な この その あの どの より から まで だけ など という".split(" "),
);

/** True for hiragana that a new word may follow: a particle, not the て of している. */
export function leadsToWord(segment: string): boolean {
  return beforeWords.has(segment);
}

/** True for several such words that follow one another, as in している. */
export function isGrammar(text: string): boolean {
  const reached = [true];
  for (let to = 1; to <= text.length; to += 1)
    reached[to] = reached.some((isStart, from) => isStart && functionKana.has(text.slice(from, to)));
  return reached[text.length]!;
}
