// The logs that the page shows. One container is followed by a stream; several are read in turns, because a browser opens six connections
// to a server over HTTP/1.1, and their lines are merged by time.
import { MergedLog } from '../model/log-lines.ts'
import type { Actions, LogSource } from '../source/source.ts'

export interface PodLogsDeps {
  readonly source: { readonly actions: Pick<Actions, 'readLog'> | undefined }
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>
  readonly changed: () => void
}

/** The characters of a log that are kept. */
const logCharsMax = 200_000
const tailLines = 500
/** Containers that are read in turns. */
export const logSourcesMax = 20
const turnMs = 2_000
/** The size of a log that is saved as a file. */
const savedBytesMax = 50 << 20

export class PodLogs {
  text = ''
  /** Lines with another text are not shown. */
  search = ''
  /** Whether the log of the container before the last restart is shown. */
  isPrevious = false
  /** Whether the log has ended: its container has, or the connection. */
  hasEnded = false
  failures: readonly string[] = []
  readonly #deps: PodLogsDeps
  #sources: readonly LogSource[] = []
  #key = ''
  #reading = new AbortController()

  constructor(deps: PodLogsDeps) {
    this.#deps = deps
  }

  /** Called whenever the logs are drawn. */
  follow(sources: readonly LogSource[]): void {
    const key = JSON.stringify([sources, this.isPrevious])
    if (key === this.#key) return
    this.#stop()
    this.#key = key
    this.#sources = sources.slice(0, logSourcesMax)
    this.#reading = new AbortController()
    const { signal } = this.#reading
    const [first, ...others] = this.#sources
    if (first === undefined) return
    void (others.length === 0 ? this.#followOne(first, signal) : this.#readInTurns(signal))
  }

  /** Reads them again from the start. */
  again(): void {
    this.#key = ''
    this.#deps.changed()
  }

  showPrevious(isPrevious: boolean): void {
    this.isPrevious = isPrevious
    this.#deps.changed()
  }

  setSearch(search: string): void {
    this.search = search
    this.#deps.changed()
  }

  /** Everything that is retained of one log; of several what is shown. */
  async whole(): Promise<string> {
    const { actions } = this.#deps.source
    const [first, ...others] = this.#sources
    if (actions === undefined || first === undefined || others.length > 0) return this.text
    const pieces: string[] = []
    const options = { isPrevious: this.isPrevious, limitBytes: savedBytesMax }
    await actions.readLog(first, options, (text) => pieces.push(text), this.#reading.signal)
    return pieces.join('')
  }

  /** Another object is shown. */
  close(): void {
    this.#stop()
    this.search = ''
    this.isPrevious = false
  }

  #stop(): void {
    this.#reading.abort()
    this.#key = ''
    this.#sources = []
    this.text = ''
    this.hasEnded = false
    this.failures = []
  }

  async #followOne(source: LogSource, signal: AbortSignal): Promise<void> {
    const { changed } = this.#deps
    const { isPrevious } = this
    const onText = (text: string): void => {
      if (signal.aborted) return
      this.text = `${this.text}${text}`.slice(-logCharsMax)
      changed()
    }
    try {
      await this.#deps.source.actions?.readLog(
        source,
        { isPrevious, tailLines, isFollowed: !isPrevious },
        onText,
        signal,
      )
    } catch (error) {
      if (signal.aborted) return
      this.failures = [(error as Error).message]
    }
    if (signal.aborted) return
    this.hasEnded = !isPrevious
    changed()
  }

  async #readInTurns(signal: AbortSignal): Promise<void> {
    const { source, sleep, changed } = this.#deps
    const { isPrevious } = this
    const merged = new MergedLog()
    const tail = Math.ceil((2 * tailLines) / this.#sources.length)
    do {
      const failures: string[] = []
      for (const each of this.#sources) {
        const label = labelOf(each, this.#sources)
        const since = merged.lastTime(label)
        const range = since === undefined ? { tailLines: tail } : { sinceTime: since }
        const pieces: string[] = []
        try {
          const options = { isPrevious, hasTimes: true, ...range }
          await source.actions?.readLog(each, options, (text) => pieces.push(text), signal)
        } catch (error) {
          if (signal.aborted) return
          failures.push(`${label}: ${(error as Error).message}`)
        }
        merged.add(label, pieces.join(''))
      }
      if (signal.aborted) return
      this.text = merged.text.slice(-logCharsMax)
      this.failures = failures
      changed()
      // It does not change any more.
      if (isPrevious) return
      await sleep(turnMs, signal).catch(() => undefined)
    } while (!signal.aborted)
  }
}

/** The names that differ between the logs. */
function labelOf({ pod, container }: LogSource, all: readonly LogSource[]): string {
  if (all.every((each) => each.pod === pod)) return `[${container}]`
  return all.every((each) => each.container === container) ? `[${pod}]` : `[${pod}/${container}]`
}
