// followList: lists objects in pages, then watches them, until the signal is aborted. A watch that ends is continued; when
// its revision is too old, or after an error, the objects are listed again.
import { StatusError } from '../../../api/errors/status-error.ts'
import { errorText } from '../../../base/observability/log.ts'
import type { Random } from '../../../base/random/random.ts'
import type { Clock } from '../../../base/time/clock.ts'
import { RetryBackoff } from '../../../client/informer/retry-backoff.ts'
import { lineReader } from '../../page/source/json-lines.ts'
import type { ServerApi } from './server-api.ts'

export interface ListDeps {
  readonly api: ServerApi
  readonly clock: Clock
  readonly random: Random
}

export interface ListPage {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string }
}

export interface WatchEvent {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'
  readonly object: unknown
}

export interface ListObserver<Page extends ListPage> {
  /** All objects. */
  listed(pages: readonly Page[]): void
  changed(events: readonly WatchEvent[]): void
  failed(reason: string): void
}

export interface FollowedList {
  /** The target with the parameters. */
  target(query: Readonly<Record<string, string | undefined>>): string
  readonly accept: string
  readonly isWatchable: boolean
  /** After so long the objects are listed again; for lists whose cells contain durations. */
  readonly listEverySeconds?: (pages: readonly ListPage[]) => number | undefined
}

const pageObjects = '500'
/** A watch that ends sooner is repeated only after a delay. */
const watchMsMin = 1_000

export async function followList<Page extends ListPage>(
  list: FollowedList,
  observer: ListObserver<Page>,
  { api, clock, random }: ListDeps,
  signal: AbortSignal,
): Promise<void> {
  const backoff = new RetryBackoff(random)
  while (!signal.aborted)
    try {
      const pages = await readPages<Page>(list, api, signal)
      observer.listed(pages)
      if (!list.isWatchable) return
      const seconds = list.listEverySeconds?.(pages)
      let revision: string | undefined = pages.at(-1)?.metadata?.resourceVersion ?? ''
      while (revision !== undefined && !signal.aborted) {
        const startedMs = clock.monotonicMs()
        const hasLasted = (): boolean => clock.monotonicMs() - startedMs >= watchMsMin
        let next: string
        try {
          next = await watch(list, revision, seconds, observer, api, signal)
        } finally {
          if (hasLasted()) backoff.reset()
        }
        if (!hasLasted()) await clock.sleep(backoff.nextMs(), signal)
        revision = seconds === undefined ? next : undefined
      }
    } catch (error) {
      if (signal.aborted) return
      // An old revision is not a failure: the objects are listed again.
      if (!(error instanceof StatusError && error.code === 410)) observer.failed(errorText(error))
      await clock.sleep(backoff.nextMs(), signal).catch(() => undefined)
    }
}

async function readPages<Page extends ListPage>(
  list: FollowedList,
  api: ServerApi,
  signal: AbortSignal,
): Promise<Page[]> {
  const pages: Page[] = []
  let token: string | undefined
  do {
    const page = (await api.read(list.target({ limit: pageObjects, continue: token }), list.accept, signal)) as Page
    pages.push(page)
    token = page.metadata?.continue || undefined
  } while (token !== undefined)
  return pages
}

/** Returns the revision from which to continue. */
async function watch<Page extends ListPage>(
  { target, accept }: FollowedList,
  from: string,
  seconds: number | undefined,
  observer: ListObserver<Page>,
  api: ServerApi,
  signal: AbortSignal,
): Promise<string> {
  let revision = from
  const lines = lineReader((values) => {
    const events: WatchEvent[] = []
    for (const value of values as { type: WatchEvent['type'] | 'BOOKMARK' | 'ERROR'; object: object }[]) {
      const { type, object } = value
      if (type === 'ERROR') throw StatusError.fromStatus(object, 500)
      revision = revisionIn(object) ?? revision
      if (type !== 'BOOKMARK') events.push({ type, object })
    }
    if (events.length > 0) observer.changed(events)
  })
  const query = { watch: '1', allowWatchBookmarks: 'true', resourceVersion: from, timeoutSeconds: seconds?.toString() }
  for await (const text of api.stream(target(query), accept, signal)) lines(text)
  return revision
}

/** The revision of an object, or of the object in a table. */
function revisionIn(object: object): string | undefined {
  const { metadata, rows } = object as {
    readonly metadata?: { readonly resourceVersion?: string }
    readonly rows?: readonly { readonly object?: object }[]
  }
  const row = rows?.[0]?.object
  return (row === undefined ? undefined : revisionIn(row)) ?? (metadata?.resourceVersion || undefined)
}
