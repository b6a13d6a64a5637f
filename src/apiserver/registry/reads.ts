// GET, LIST and WATCH: served from the watch cache, as fresh as the request asks for.
import { prefixEnd, type OrderedMap } from '../../base/ordered-map.ts'
import type { Soon } from '../../base/when-known.ts'
import { objectKey } from '../../api/object.ts'
import { expired, notFound } from '../../api/status-error.ts'
import type { Answer, ListAnswer } from '../answer.ts'
import type { Stored } from '../stored.ts'
import { Selection } from '../watch/selection.ts'
import { ContinueExpired, continueMsMax, inconsistentRevision, writeToken } from './continue-token.ts'
import { shownEvent } from './face.ts'
import { listOptionsOf, revisionOf, watchOptionsOf, type ListOptions, type WatchOptions } from './list-options.ts'
import type { ResourceParts, ResourceRequest } from './parts.ts'

export function get(parts: ResourceParts, request: ResourceRequest): Soon<Stored> {
  const { query, target, context } = request
  const asked = query.size === 0 ? undefined : revisionOf(query.get('resourceVersion') ?? '')
  const caughtUp = catchUp(parts, asked, context.signal)
  return caughtUp === undefined ? cached(parts, target) : caughtUp.then(() => cached(parts, target))
}

function cached({ cache, face }: ResourceParts, { namespace, name }: ResourceRequest['target']): Stored {
  const stored = cache.get(objectKey(namespace, name))
  if (stored === undefined) throw notFound(face.kind, name)
  return stored
}

export async function list(parts: ResourceParts, request: ResourceRequest): Promise<ListAnswer> {
  const selection = selectionOf(parts, request)
  const options = listOptionsOf(request.query)
  const { limit, token } = options
  if (token === undefined) await catchUp(parts, options.revision, request.context.signal)
  const nowMs = parts.clock.nowMs()
  const { state, revision } = stateFor(parts, options, nowMs)
  const prefix = selection.namespace === '' ? '' : `${selection.namespace}/`
  const end = prefix === '' ? '' : prefixEnd(prefix)
  const items: Stored[] = []
  let nextStart = ''
  const isFiltered = selection.isFiltered
  for (const [key, stored] of rangeOf(parts, state, selection, token?.start ?? prefix, end)) {
    if (isFiltered && !selection.matches(stored.object)) continue
    if (limit > 0 && items.length === limit) {
      nextStart = key
      break
    }
    items.push(parts.face.shown(stored))
  }
  const isPaged = nextStart !== ''
  return {
    kind: 'list',
    of: parts.face.kind,
    items,
    revision,
    continueToken: isPaged ? writeToken({ revision, start: nextStart, startedMs: token?.startedMs || nowMs }) : '',
    remaining: isPaged && !isFiltered ? state.count(nextStart, end) : undefined,
  }
}

/** Which version of the state a list shows, and the revision that it names. */
function stateFor(
  { cache }: ResourceParts,
  { token, match, revision: asked }: ListOptions,
  nowMs: number,
): { state: OrderedMap<Stored>; revision: number } {
  const revision = match === 'Exact' ? asked : token?.revision
  if (revision === undefined || revision === inconsistentRevision)
    return { state: cache.stateAt(undefined), revision: cache.revision }
  const isOverdue = token !== undefined && nowMs - token.startedMs > continueMsMax
  if (revision >= cache.oldest && !isOverdue) return { state: cache.stateAt(revision), revision }
  throw token === undefined
    ? expired('The resourceVersion for the provided list is too old.')
    : new ContinueExpired(token.start)
}

function* rangeOf(
  { cache }: ResourceParts,
  state: OrderedMap<Stored>,
  selection: Selection,
  start: string,
  end: string,
): Iterable<[string, Stored]> {
  const { onlyName, namespace, kind } = selection
  if (onlyName === undefined || (kind.namespaced && namespace === '')) {
    yield* state === cache.stateAt(undefined) ? cache.candidates(selection, start, end) : state.range(start, end)
    return
  }
  const key = objectKey(namespace, onlyName)
  const stored = state.get(key)
  if (stored !== undefined && key >= start) yield [key, stored]
}

export async function watch(parts: ResourceParts, request: ResourceRequest): Promise<Answer> {
  const { query, context, sender } = request
  const selection = selectionOf(parts, request)
  const options = watchOptionsOf(query)
  await catchUp(parts, options.revision, context.signal)
  const { face, cache } = parts
  const events = cache.watch(
    {
      selection,
      sender,
      bookmarks: options.bookmarks,
      initialEventsEnd: options.sendInitialEvents === true && options.bookmarks,
      from: beginningOf(options, cache.revision),
      lifeMs: lifeMsOf(parts, request, options),
    },
    context.signal,
  )
  const shown = face.kind === parts.kind ? events : events.map((event) => shownEvent(event, face))
  return { kind: 'watch', of: face.kind, events: shown }
}

/** `now` sends the state first; a revision sends what came after it. */
function beginningOf({ revision, sendInitialEvents }: WatchOptions, present: number): 'now' | number {
  const isAnywhere = revision === undefined || revision === 0
  if (sendInitialEvents === true || (sendInitialEvents === undefined && isAnywhere)) return 'now'
  return isAnywhere ? present : revision
}

/** As upstream: a watch that names no end is ended after half an hour to an hour, so that load moves between servers. */
const watchSecondsMin = 1_800

/** How long a watch lasts. Those of this process have no end: there is no other server for them. */
function lifeMsOf(
  { random }: ResourceParts,
  { credentials }: ResourceRequest,
  { timeoutSeconds }: WatchOptions,
): number | undefined {
  if (timeoutSeconds > 0) return timeoutSeconds * 1000
  return credentials.kind === 'asserted' ? undefined : watchSecondsMin * (1 + random.fraction()) * 1000
}

export const selectionOf = ({ kind, face }: ResourceParts, { target, query }: ResourceRequest): Selection => {
  const name = target.name === '' ? '' : `metadata.name=${target.name}`
  const fields = [query.get('fieldSelector') ?? '', name].filter((part) => part !== '').join(',')
  return new Selection(
    kind,
    target.namespace,
    query.get('labelSelector') ?? '',
    fields,
    face.kind.storedAs?.fieldLabels,
  )
}

/**
 * No version: as fresh as the store. 0: whatever there is. Another: not older than that.
 * Most of the time the cache is there already, and there is nothing to wait for.
 */
function catchUp({ store, cache }: ResourceParts, asked: number | undefined, signal: AbortSignal) {
  const reach = (revision: number) => (cache.revision < revision ? cache.waitFor(revision, signal) : undefined)
  if (asked === 0) return undefined
  const wanted = asked ?? store.freshRevision(signal)
  return wanted instanceof Promise ? wanted.then(reach) : reach(wanted)
}
