// Words that are not used in the tree: invented terms for which the field has an established one, and words that treat
// programs as persons. Names, comments, strings and pages are searched. Names are split into their words: `podReporter`
// is `pod` and `reporter`.

/** The banned word or words, in lower case, and what to write instead. Several words are found within one name only. */
export const bannedWords: Readonly<Record<string, string>> = {
  abreast: 'yieldToPeers',
  alike: 'equal, shared or interned',
  anybody: 'any client or any user',
  'can help': 'queueing hint',
  canhelp: 'queueing hint',
  door: 'acceptor',
  everybody: 'all users',
  face: 'version converter',
  hear: 'receive or observe',
  heard: 'received or observed',
  leisure: 'low priority',
  mend: 'repair or fix',
  nobody: 'no user, no client or none',
  'pod reporter': 'pod status manager',
  'pod syncs': 'pod workers',
  postponed: 'deferred task',
  'put away': 'offload',
  road: 'handler chain, path or way',
  shelf: 'arena',
  somebody: 'another user or another client',
  station: 'filter',
  tell: 'report, record, notify or show',
  teller: 'exporter or reporter',
  told: 'reported, recorded or notified',
  upkeep: 'reconciler, repair loop or maintenance',
  wants: 'needs, requests or requires',
  'when known': 'thenMaybe',
  'when settled': 'settleMaybe',
  whoever: 'the client, the caller or any user',
}

/** Phrases that are not used in a name or within one line of prose, and what to write instead. */
export const bannedPhrases: Readonly<Record<string, string>> = {
  anew: 'again',
  'come to rest': 'stop or be idle',
  'comes to rest': 'stops or is idle',
  'each of its own': 'one each',
  'go on': 'continue or keep running',
  'goes on': 'continues or keeps running',
  'going on': 'continuing or happening',
  'in doubt': 'may be stale or needs a full sync',
  'settles a doubt': 'is decisive',
  'takes the room of others': 'uses the capacity of others',
  'went on': 'continued',
  'where is what': 'a title that names the subject',
}

/** Genuine uses: the path and the words. */
export const allowedWords: Readonly<Record<string, readonly string[]>> = {
  'test/tidy/banned-words.ts': [...Object.keys(bannedWords), ...Object.keys(bannedPhrases)],
  'test/tidy/banned-words.test.ts': [...Object.keys(bannedWords), ...Object.keys(bannedPhrases)],
  // The name of a user in images.
  'test/conformance/images/catalog.ts': ['nobody'],
  // A keyword of systemd.
  'src/cluster/service/systemd-unit.ts': ['wants'],
  'src/cluster/service/service.test.ts': ['wants'],
}

export interface BannedWord {
  readonly line: number
  readonly word: string
  readonly instead: string
}

const singular = (word: string): string => (word.endsWith('s') ? word.slice(0, -1) : word)

/** Words of a name: `defineStation` → define, station. */
const wordsOf = (name: string): string[] =>
  name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[\s_$]+/)
    .filter((word) => word !== '')

const bannedIn = (name: string): string[] => {
  const words = wordsOf(name)
  const phrase = ` ${words.join(' ')} `
  const found = [
    ...words.filter((word) => Object.hasOwn(bannedWords, word) || Object.hasOwn(bannedWords, singular(word))),
    ...Object.keys(bannedWords).filter((each) => each.includes(' ') && phrase.includes(` ${each} `)),
  ].map((word) => (Object.hasOwn(bannedWords, word) ? word : singular(word)))
  return [...new Set(found)]
}

/** Most lines have none of the letters of a phrase in a row, and need not be split into words. */
const phraseLetters = new RegExp(
  Object.keys(bannedPhrases)
    .map((phrase) => phrase.replaceAll(' ', String.raw`[\s_]*`))
    .join('|'),
  'i',
)

const phrasesIn = (line: string): string[] => {
  if (!phraseLetters.test(line)) return []
  const clauses = line.split(/[^\w\s$]+/).map((clause) => ` ${wordsOf(clause).join(' ')} `)
  return Object.keys(bannedPhrases).filter((phrase) => clauses.some((clause) => clause.includes(` ${phrase} `)))
}

/** In the text of a file, and in its path as line 0. */
export function findBannedWords(path: string, text: string): BannedWord[] {
  const exempt = new Set(allowedWords[path])
  return [path.replaceAll(/[^A-Za-z]+/g, ' '), ...text.split('\n')].flatMap((content, line) =>
    [...[...content.matchAll(/[A-Za-z_$][\w$]*/g)].flatMap(([name]) => bannedIn(name)), ...phrasesIn(content)]
      .filter((word) => !exempt.has(word))
      .map((word) => ({ line, word, instead: bannedWords[word] ?? bannedPhrases[word] ?? '' })),
  )
}
