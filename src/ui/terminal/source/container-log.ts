// followContainer: the lines of one container's log. A container that has not started yet is asked again.
import { StatusError } from '../../../api/errors/status-error.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { ObjectRef } from '../state/resources.ts'
import type { ListDeps } from './follow-list.ts'
import { targetOf } from './server-api.ts'

const tailLines = '500'
export const linesMax = 5_000
/** A longer line is shown as several. */
export const lineCharactersMax = 16_384
/** After so long, the log of a container that has not started is requested again. */
export const startPollMs = 1_000

/** The newest lines of all containers of a view. */
export class LogLines {
  readonly #text: (lines: readonly string[]) => void
  readonly #signal: AbortSignal
  #lines: readonly string[] = []

  constructor(text: (lines: readonly string[]) => void, signal: AbortSignal) {
    this.#text = text
    this.#signal = signal
  }

  add(more: readonly string[]): void {
    if (this.#signal.aborted) return
    this.#lines = [...this.#lines, ...more].slice(-linesMax)
    this.#text(this.#lines)
  }
}

export interface FollowedContainer {
  readonly pod: ObjectRef
  readonly container: string
  readonly isPrevious: boolean
  /** Before each line. */
  readonly prefix: string
}

export async function followContainer(
  followed: FollowedContainer,
  log: LogLines,
  { api, clock }: Pick<ListDeps, 'api' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const { isPrevious, prefix } = followed
  let reported = ''
  while (!signal.aborted)
    try {
      for await (const lines of linesOf(api.stream(logTarget(followed), '*/*', signal)))
        log.add(lines.map((line) => prefix + line))
      return log.add([`${prefix}(the log has ended)`])
    } catch (error) {
      const reason = errorText(error)
      if (reason !== reported) log.add([`${prefix}(no log: ${reason})`])
      reported = reason
      // Upstream's answer for a container that has not started is 400.
      if (isPrevious || !(error instanceof StatusError && error.code === 400)) return
      await clock.sleep(startPollMs, signal).catch(() => undefined)
    }
}

function logTarget({ pod: { resource, namespace, name }, container, isPrevious }: FollowedContainer): string {
  const query = {
    container,
    follow: isPrevious ? undefined : 'true',
    tailLines,
    previous: isPrevious ? 'true' : undefined,
  }
  return targetOf(resource, { namespace, name, subresource: 'log' }, query)
}

async function* linesOf(pieces: AsyncIterable<string>): AsyncGenerator<readonly string[]> {
  let rest = ''
  for await (const piece of pieces) {
    const complete = (rest + piece).split('\n')
    rest = complete.pop() ?? ''
    for (; rest.length > lineCharactersMax; rest = rest.slice(lineCharactersMax))
      complete.push(rest.slice(0, lineCharactersMax))
    if (complete.length > 0) yield complete.map(plain)
  }
  if (rest !== '') yield [plain(rest)]
}

/** Programs write colours also where there is no terminal, and some end lines with CR LF. */
// oxlint-disable-next-line no-control-regex -- the sequences of colours
const colors = /\x1b\[[\d;:]*m/g
const plain = (line: string): string => line.replace(colors, '').replace(/\r$/, '')
