// logExcerpt: the last lines of a container's log for an explanation: few, short, without control characters, and without
// what looks like a credential, because explanations are pasted into issues and printed by CI.

const linesMax = 10
const lineCharactersMax = 200
/** Longer lines are cut off before credentials are searched. */
const searchedCharactersMax = 2_000

/** Sequences of colours, and control characters that a terminal would interpret. */
// oxlint-disable-next-line no-control-regex -- these are the characters to remove
const controls = /\x1b\[[\d;:]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]/g

/** Line feeds and tabs are kept. */
export const withoutControls = (text: string): string => text.replace(controls, '')

/** `password=…`, `"apiKey": "…"`, `Authorization: Bearer …` */
const assigned =
  // linear: texts have at most 2,000 characters
  /(\w{0,40}(?:passw(?:or)?d|secret|token|api[-_]?key|credentials?|authorization)["']?)(\s{0,3}[:=]\s{0,3})(?:(?:bearer|basic)\s)?[^\s,;&]{1,4096}/gi
const bearer = /\b(bearer|basic)\s[\w+/=.~-]{8,4096}/gi
/** The user and password of a URL. */
const userInfo = /(:\/\/)[^\s/@:]{0,256}:[^\s/@]{1,256}@/g

export const withoutCredentials = (text: string): string =>
  text
    .slice(0, searchedCharactersMax)
    .replace(assigned, '$1$2***')
    .replace(bearer, '$1 ***')
    .replace(userInfo, '$1***@')

export function logExcerpt(text: string): readonly string[] {
  const lines = text.split('\n').map((line) => withoutControls(line).trimEnd())
  return lines
    .filter((line) => line !== '')
    .slice(-linesMax)
    .map(withoutCredentials)
    .map((line) => (line.length > lineCharactersMax ? `${line.slice(0, lineCharactersMax - 1)}…` : line))
}
