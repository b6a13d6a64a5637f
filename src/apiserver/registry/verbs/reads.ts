// GET, LIST and WATCH: served from the watch cache, as fresh as the request requires.
import type { Context } from '../../../base/observability/context.ts'
import { prefixEnd, type OrderedMap } from '../../../base/collections/ordered-map.ts'
import { Channel } from '../../../base/async/channel.ts'
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import { runInSlices, runToEnd, type Slice, type Sliced } from '../../../base/work/work-slice.ts'
import { objectKey } from '../../../api/meta/object.ts'
import { expired, notFound, StatusError } from '../../../api/errors/status-error.ts'
import type { ApiResponse, ListResponse } from '../../request/response.ts'
import type { StorageCodec } from '../../storage/storage-codec.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { Selection } from '../../watch-cache/selection.ts'
import { SelectorsTooLong } from '../../watch-cache/selector-limit.ts'
import type { InitialState, WatchRequest } from '../../watch-cache/watch-cache.ts'
import type { WatchEvent } from '../../watch-cache/watch-event.ts'
import { ContinueExpired, continueMsMax, inconsistentRevision, writeToken } from '../../request/continue-token.ts'
import { convertEvent } from '../resource/version-converter.ts'
import {
  listOptionsOf,
  revisionOf,
  watchOptionsOf,
  type ListOptions,
  type WatchOptions,
} from '../../request/list-options.ts'
import { inRequestVersion, type ResourceDeps } from '../resource/resource-deps.ts'
import { mapConverted, selectConverted, watchConverted, type SelectedPage } from '../resource/version-selection.ts'
import type { ResourceRequest } from '../../request/request.ts'
import { TooManyRequests } from '../../request/too-many-requests.ts'
import { ownerOf } from '../../request/user-names.ts'

export function get(deps: ResourceDeps, request: ResourceRequest): MaybePromise<StoredObject> {
  const { query, target, context } = request
  const requested = query.size === 0 ? undefined : revisionOf(query.get('resourceVersion') ?? '')
  const caughtUp = waitUntilFresh(deps, requested, context.signal)
  return caughtUp === undefined ? cached(deps, target, context) : caughtUp.then(() => cached(deps, target, context))
}

function cached(
  deps: ResourceDeps,
  { namespace, name }: ResourceRequest['target'],
  context: Context,
): MaybePromise<StoredObject> {
  const stored = deps.cache.get(objectKey(namespace, name))
  if (stored === undefined) throw notFound(deps.converter.kind, name)
  return inRequestVersion(deps, stored, context)
}

export async function list(deps: ResourceDeps, request: ResourceRequest): Promise<ListResponse> {
  const selection = selectionOf(deps, request)
  const options = listOptionsOf(request.query)
  const { limit, token } = options
  // The first page may be that of another API server, whose cache is ahead of this one.
  const continued = token?.revision === inconsistentRevision ? undefined : token?.revision
  await waitForList(deps, token === undefined ? options.revision : continued, request.context.signal)
  const nowMs = deps.clock.nowMs()
  const { state, revision } = stateFor(deps, options, nowMs)
  const prefix = selection.namespace === '' ? '' : `${selection.namespace}/`
  const end = prefix === '' ? '' : prefixEnd(prefix)
  const { isFiltered } = selection
  const range = rangeOf(deps, state, selection, token?.start ?? prefix, end)
  const { codec } = deps
  const { context } = request
  const selected = (slice: Slice) => selectStored(deps, range, selection, limit, slice)
  const page =
    codec === undefined
      ? runInSlices(selected, deps.clock, context.signal)
      : isFiltered
        ? selectConverted(codec, visitAll(deps, range), selection, limit, context)
        : showPage(codec, runToEnd(selected), context)
  const { items, nextStart } = page instanceof Promise ? await page : page
  const { counts } = deps.cache
  counts.lists++
  counts.returned += items.length
  const isPaged = nextStart !== ''
  return {
    kind: 'list',
    objectKind: deps.converter.kind,
    items,
    revision,
    continueToken: isPaged ? writeToken({ revision, start: nextStart, startMs: token?.startMs || nowMs }) : '',
    remaining: isPaged && !isFiltered ? state.count(nextStart, end) : undefined,
  }
}

function visitAll({ cache }: ResourceDeps, range: Iterable<[string, StoredObject]>): [string, StoredObject][] {
  const all = [...range]
  cache.counts.fetched += all.length
  return all
}

/** Objects between two checks of the slice. Only filtered lists are interrupted; others do not examine the objects. */
const objectsPerCheck = 64

/** The range is that of one state, which later changes do not modify. */
function* selectStored(
  { converter, cache: { counts } }: ResourceDeps,
  range: Iterable<[string, StoredObject]>,
  selection: Selection,
  limit: number,
  slice: Slice,
): Sliced<SelectedPage> {
  const items: StoredObject[] = []
  const { isFiltered } = selection
  let examined = 0
  for (const [key, stored] of range) {
    counts.fetched++
    if (isFiltered && ++examined % objectsPerCheck === 0 && slice.isUsedUp()) yield
    if (isFiltered && !selection.matches(stored.object)) continue
    if (limit > 0 && items.length === limit) return { items, nextStart: key }
    items.push(converter.fromStored(stored))
  }
  return { items, nextStart: '' }
}

const showPage = async (codec: StorageCodec, page: SelectedPage, context: Context): Promise<SelectedPage> => ({
  ...page,
  items: await codec.fromStorage(page.items, context),
})

/** The state that a list shows, and its revision. */
function stateFor(
  { cache }: ResourceDeps,
  { token, match, revision: requested }: ListOptions,
  nowMs: number,
): { state: OrderedMap<StoredObject>; revision: number } {
  const revision = match === 'Exact' ? requested : token?.revision
  if (revision === undefined || revision === inconsistentRevision)
    return { state: cache.stateAt(undefined), revision: cache.revision }
  const isOverdue = token !== undefined && nowMs - token.startMs > continueMsMax
  if (revision >= cache.oldestRevision && !isOverdue) return { state: cache.stateAt(revision), revision }
  throw token === undefined
    ? expired('The resourceVersion for the provided list is too old.')
    : new ContinueExpired(token.start)
}

function rangeOf(
  { cache, codec }: ResourceDeps,
  state: OrderedMap<StoredObject>,
  selection: Selection,
  start: string,
  end: string,
): Iterable<[string, StoredObject]> {
  const { exactName, namespace, kind } = selection
  if (exactName === undefined || (kind.namespaced && namespace === '')) {
    const isIndexed = codec === undefined && state === cache.stateAt(undefined)
    return isIndexed ? cache.candidates(selection, start, end) : state.range(start, end)
  }
  const key = objectKey(namespace, exactName)
  const stored = state.get(key)
  return stored !== undefined && key >= start ? [[key, stored]] : []
}

export async function watch(deps: ResourceDeps, request: ResourceRequest): Promise<ApiResponse> {
  const { query, context, sender, credentials, user } = request
  const selection = selectionOf(deps, request)
  const options = watchOptionsOf(query)
  const { converter, codec } = deps
  const selectsConverted = codec !== undefined && selection.isFiltered
  const events = await startWatch(
    deps,
    options,
    {
      selection: selectsConverted ? selection.byNameOnly() : selection,
      withBefore: selectsConverted,
      sender,
      selectorChars: selection.selectorChars,
      owner: credentials.kind === 'asserted' || user === undefined ? undefined : ownerOf(user),
      bookmarks: options.bookmarks,
      initialEventsEnd: options.sendInitialEvents === true && options.bookmarks,
      timeoutMs: watchTimeoutMs(deps, request, options),
    },
    context.signal,
  )
  const shown = selectsConverted ? watchConverted(events, codec, selection, context) : inVersion(events, deps, context)
  return { kind: 'watch', objectKind: converter.kind, events: shown }
}

/** As upstream: a version that is too old, or that does not come in time, is an error in the stream. */
async function startWatch(
  deps: ResourceDeps,
  options: WatchOptions,
  request: Omit<WatchRequest, 'from'>,
  signal: AbortSignal,
): Promise<Channel<WatchEvent>> {
  const { cache } = deps
  try {
    // A watch without initial events begins at any version, also at a future one.
    if (!options.revision || options.sendInitialEvents === true) await waitUntilFresh(deps, options.revision, signal)
    const from = watchStart(options, cache.revision)
    const { selection } = request
    const selectsFirst = from === 'now' && selection.isFiltered && selection.exactName === undefined
    return cache.watch({ ...request, from: selectsFirst ? await initialState(deps, selection, signal) : from }, signal)
  } catch (error) {
    if (error instanceof SelectorsTooLong) throw new TooManyRequests('watch-selectors', error.message)
    if (!(error instanceof StatusError) || error.code === 429) throw error
    const failed = new Channel<WatchEvent>(1)
    failed.end(error)
    return failed
  }
}

/** Selects what a watch sends first in slices. Changes since then are in the history, or the watch selects again at once. */
async function initialState(
  { cache, clock }: ResourceDeps,
  selection: Selection,
  signal: AbortSignal,
): Promise<'now' | InitialState> {
  const { revision } = cache
  const { namespace } = selection
  const prefix = namespace === '' ? '' : `${namespace}/`
  const range = cache.candidates(selection, prefix, prefix === '' ? '' : prefixEnd(prefix))
  const selected = await runInSlices((slice) => matching(range, selection, slice), clock, signal)
  return revision < cache.oldestRevision ? 'now' : { revision, selected }
}

function* matching(
  range: Iterable<[string, StoredObject]>,
  selection: Selection,
  slice: Slice,
): Sliced<readonly StoredObject[]> {
  const selected: StoredObject[] = []
  let examined = 0
  for (const [, stored] of range) {
    if (++examined % objectsPerCheck === 0 && slice.isUsedUp()) yield
    if (selection.matches(stored.object)) selected.push(stored)
  }
  return selected
}

/** The events with objects in the version of the request. */
function inVersion(events: Channel<WatchEvent>, deps: ResourceDeps, context: Context): Channel<WatchEvent> {
  const { kind, converter, codec } = deps
  if (codec !== undefined)
    return mapConverted(events, (event) =>
      thenMaybe(inRequestVersion(deps, event.stored, context), (stored) => ({ ...event, stored })),
    )
  return converter.kind === kind ? events : events.map((event) => convertEvent(event, converter))
}

/** `now` sends the present state first; a revision sends the changes after it. */
function watchStart({ revision, sendInitialEvents }: WatchOptions, present: number): 'now' | number {
  const isAnywhere = revision === undefined || revision === 0
  if (sendInitialEvents === true || (sendInitialEvents === undefined && isAnywhere)) return 'now'
  return isAnywhere ? present : revision
}

/** As upstream: a watch without a timeout ends after 30 to 60 minutes, so that load moves between servers. */
const watchSecondsMin = 1_800

/** The timeout of a watch. Watches of this process have none: there is no other server for them. */
function watchTimeoutMs(
  { random }: ResourceDeps,
  { credentials }: ResourceRequest,
  { timeoutSeconds }: WatchOptions,
): number | undefined {
  if (timeoutSeconds > 0) return timeoutSeconds * 1000
  return credentials.kind === 'asserted' ? undefined : watchSecondsMin * (1 + random.fraction()) * 1000
}

export const selectionOf = ({ kind, converter }: ResourceDeps, { target, query }: ResourceRequest): Selection => {
  const name = target.name === '' ? '' : `metadata.name=${target.name}`
  const fields = [query.get('fieldSelector') ?? '', name].filter((part) => part !== '').join(',')
  return new Selection(
    kind,
    target.namespace,
    query.get('labelSelector') ?? '',
    fields,
    converter.kind.storedAs?.fieldLabels,
  )
}

/** As waitUntilFresh; lists of the newest state are counted. */
function waitForList(
  deps: ResourceDeps,
  requested: number | undefined,
  signal: AbortSignal,
): Promise<void> | undefined {
  const { counts } = deps.cache
  const fresh = waitUntilFresh(deps, requested, signal)
  if (requested !== undefined) return fresh
  if (fresh !== undefined)
    return fresh.then(
      () => void counts.consistentLists++,
      (error: unknown) => {
        counts.staleLists++
        throw error
      },
    )
  counts.consistentLists++
  return undefined
}

/**
 * Without a version, the cache must be as fresh as the store; 0 accepts any state; another version is a minimum.
 * Usually the cache has it already, and this returns synchronously.
 */
export function waitUntilFresh(
  { store, cache }: Pick<ResourceDeps, 'store' | 'cache'>,
  requested: number | undefined,
  signal: AbortSignal,
): Promise<void> | undefined {
  const reach = (revision: number) => {
    if (cache.revision < revision) return cache.waitForRevision(revision, signal)
    cache.counts.freshReads++
    return undefined
  }
  if (requested === 0) return undefined
  const wanted = requested ?? store.freshRevision(signal)
  return wanted instanceof Promise ? wanted.then(reach) : reach(wanted)
}
