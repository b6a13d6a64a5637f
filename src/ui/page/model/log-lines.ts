// Lines of the logs of several containers, in the order of their times, and the lines that contain a text.

/** Lines of several logs that are kept. */
export const mergedLinesMax = 5_000

interface Line {
  /** Sorts as its time. */
  readonly key: string
  readonly text: string
}

export class MergedLog {
  readonly #lines: Line[] = []
  /** The time of the last line of each log, as it was written, and as it is compared. */
  readonly #last = new Map<string, { readonly time: string; readonly key: string }>()

  /** The time after which lines of a log are new; undefined if there are none yet. */
  lastTime(label: string): string | undefined {
    return this.#last.get(label)?.time
  }

  /** Adds a text with times at the starts of its lines. Lines up to the last one are known already. */
  add(label: string, text: string): void {
    const known = this.#last.get(label)?.key ?? ''
    let last = this.#last.get(label)
    for (const line of text.split('\n')) {
      if (line === '') continue
      const space = line.indexOf(' ')
      const time = space < 0 ? line : line.slice(0, space)
      const key = timeKey(time)
      if (key <= known) continue
      if (last === undefined || key > last.key) last = { time, key }
      this.#lines.push({ key, text: `${label} ${space < 0 ? '' : line.slice(space + 1)}` })
    }
    if (last !== undefined) this.#last.set(label, last)
    // The sort is stable, so lines of the same time keep their order.
    this.#lines.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    this.#lines.splice(0, Math.max(0, this.#lines.length - mergedLinesMax))
  }

  get text(): string {
    return this.#lines.map(({ text }) => `${text}\n`).join('')
  }
}

/** A time with nanoseconds as a text of fixed length. What is no time sorts first. */
function timeKey(time: string): string {
  const ms = Date.parse(time)
  if (Number.isNaN(ms)) return ''
  const [, fraction = ''] = /\.(\d{1,9})/.exec(time) ?? []
  return `${new Date(ms).toISOString().slice(0, 19)}.${fraction.padEnd(9, '0')}`
}

export interface FoundLines {
  readonly lines: readonly string[]
  readonly total: number
}

/** The lines that contain a text, in upper or lower case; all if it is empty. */
export function foundLines(log: string, search: string): FoundLines {
  const all = log === '' ? [] : (log.endsWith('\n') ? log.slice(0, -1) : log).split('\n')
  const wanted = search.toLowerCase()
  return {
    lines: wanted === '' ? all : all.filter((line) => line.toLowerCase().includes(wanted)),
    total: all.length,
  }
}

/** A line in pieces; every second one is what was searched for. */
export function markedPieces(line: string, search: string): readonly string[] {
  if (search === '') return [line]
  const lower = line.toLowerCase()
  // The lower case of some letters is longer, which would move the places.
  if (lower.length !== line.length) return [line]
  const wanted = search.toLowerCase()
  const pieces: string[] = []
  let from = 0
  for (let at = lower.indexOf(wanted); at >= 0; at = lower.indexOf(wanted, from)) {
    pieces.push(line.slice(from, at), line.slice(at, at + wanted.length))
    from = at + wanted.length
  }
  return [...pieces, line.slice(from)]
}
