// YamlParser: parses YAML bodies outside of the event loop. The parser takes microseconds per byte, so three megabytes
// would block the event loop for half a minute.
import type { Clock } from '../../base/time/clock.ts'
import type { MaybePromise } from '../../base/async/maybe-promise.ts'
import { TooManyRequests } from '../request/too-many-requests.ts'
import { StatusError } from '../../api/errors/status-error.ts'
import { OffloadBusy, OffloadedFunction, OffloadExceeded } from '../../platform/process/offloaded-function.ts'
import { threadModule } from '../../platform/process/own-files.ts'
import type { Workers } from '../../platform/process/workers.ts'
import type { YamlAsJson } from './yaml-to-json.ts'
import { tooManyTokens } from './yaml-token-limit.ts'

export interface YamlParser {
  parse(text: string, signal: AbortSignal): MaybePromise<YamlAsJson>
  close(): Promise<void>
}

/** Shorter texts are parsed in the event loop, because a call to a thread takes longer. */
const inlineCharsMax = 2 << 10
/** Short texts have their own thread, so they never wait for a long one. */
const shortCharsMax = 64 << 10
/** The thread has a low priority, so on a busy machine a text may take several times as long as its processor time. */
const parseMsMax = 30_000
const waitingMax = 32

const parseInline = async (text: string): Promise<YamlAsJson> => {
  const { run } = await import('./yaml-to-json.ts')
  try {
    return run(text)
  } catch (error) {
    return rejectOverload(error)
  }
}

/** Parses in the event loop whatever the length: for servers with trusted clients, such as tests. */
export const inlineYaml: YamlParser = { parse: parseInline, close: async () => {} }

export function offloadedYaml(workers: Workers, clock: Clock): YamlParser {
  const module = threadModule('yaml-to-json', import.meta.url)
  const thread = () =>
    new OffloadedFunction<string, YamlAsJson>({ workers, clock, module, callsMax: waitingMax, callMsMax: parseMsMax })
  const short = thread()
  const long = thread()
  return {
    parse: (text, signal) =>
      text.length <= inlineCharsMax
        ? parseInline(text)
        : (text.length <= shortCharsMax ? short : long).call(text, text.length, signal).catch(rejectOverload),
    close: async () => void (await Promise.all([short.close(), long.close()])),
  }
}

function rejectOverload(error: unknown): never {
  if (error instanceof OffloadBusy)
    throw new TooManyRequests('yaml', 'Too many requests with bodies in YAML, please try again later.')
  if (error instanceof OffloadExceeded)
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: its YAML ${error.message}`)
  if (error instanceof Error && error.message === tooManyTokens)
    throw new StatusError(413, 'RequestEntityTooLarge', `Request entity too large: its YAML ${tooManyTokens}`)
  throw error
}
