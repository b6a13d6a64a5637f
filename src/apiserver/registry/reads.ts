// GET, LIST and WATCH: served from the watch cache, as fresh as the request asks for.
import { prefixEnd } from '../../base/ordered-map.ts'
import { objectKey } from '../../api/object.ts'
import { badRequest, notFound } from '../../api/status-error.ts'
import type { Answer, ListAnswer } from '../answer.ts'
import type { Stored } from '../stored.ts'
import { Selection } from '../watch/selection.ts'
import { shownEvents } from './face.ts'
import type { ResourceParts, ResourceRequest } from './parts.ts'

export async function get(parts: ResourceParts, request: ResourceRequest): Promise<Stored> {
  const { namespace, name } = request.target
  await catchUp(parts, request)
  const stored = parts.cache.get(objectKey(namespace, name))
  if (stored === undefined) throw notFound(parts.kind, name)
  return stored
}

/** A page of a list: where it goes on, at which revision. */
interface ContinueToken {
  readonly v: 'meta.k8s.io/v1'
  readonly rv: number
  readonly start: string
}

export async function list(parts: ResourceParts, request: ResourceRequest): Promise<ListAnswer> {
  const { cache } = parts
  const { query, target } = request
  const selection = selectionOf(parts, request)
  const token = query.get('continue') ? parseToken(query.get('continue') ?? '') : undefined
  const limit = Number(query.get('limit') ?? 0)
  await catchUp(parts, request)
  const exact = query.get('resourceVersionMatch') === 'Exact' ? Number(query.get('resourceVersion')) : token?.rv
  const revision = exact ?? cache.revision
  const state = cache.stateAt(exact)
  const prefix = target.namespace === '' ? '' : `${target.namespace}/`
  const start = token?.start ?? prefix
  const end = prefix === '' ? '' : prefixEnd(prefix)
  const items: Stored[] = []
  let nextStart = ''
  for (const [key, stored] of rangeOf(state, selection, start, end)) {
    if (limit > 0 && items.length === limit) {
      nextStart = key
      break
    }
    if (selection.matches(stored.object)) items.push(stored)
  }
  const isPaged = nextStart !== ''
  const isFiltered = selection.labels.length > 0 || selection.fields.length > 0
  return {
    kind: 'list',
    of: parts.face.kind,
    items: items.map((stored) => parts.face.shown(stored)),
    revision,
    continueToken: isPaged ? writeToken({ v: 'meta.k8s.io/v1', rv: revision, start: nextStart }) : '',
    remaining: isPaged && !isFiltered ? state.count(nextStart, end) : undefined,
  }
}

function* rangeOf(
  state: ReturnType<ResourceParts['cache']['stateAt']>,
  selection: Selection,
  start: string,
  end: string,
): Iterable<[string, Stored]> {
  const { onlyName, namespace, kind } = selection
  if (onlyName === undefined || (kind.namespaced && namespace === '')) {
    yield* state.range(start, end)
    return
  }
  const key = objectKey(namespace, onlyName)
  const stored = state.get(key)
  if (stored !== undefined && key >= start) yield [key, stored]
}

export async function watch(parts: ResourceParts, request: ResourceRequest): Promise<Answer> {
  const { query, context, sender } = request
  const selection = selectionOf(parts, request)
  const asked = query.get('resourceVersion') ?? ''
  const sendInitial = query.get('sendInitialEvents')
  if (sendInitial !== null && query.get('resourceVersionMatch') !== 'NotOlderThan')
    throw badRequest('sendInitialEvents requires setting resourceVersionMatch to NotOlderThan')
  await catchUp(parts, request)
  const isFromState = sendInitial === 'true' || asked === '' || asked === '0'
  const seconds = Number(query.get('timeoutSeconds') ?? 0)
  const signal = seconds > 0 ? withTimeout(parts, seconds * 1000, context.signal) : context.signal
  const bookmarks = query.get('allowWatchBookmarks') === 'true'
  const events = parts.cache.watch(
    {
      selection,
      sender,
      bookmarks,
      initialEventsEnd: sendInitial === 'true' && bookmarks,
      from: isFromState ? 'now' : Number(asked),
    },
    signal,
  )
  const { face } = parts
  return { kind: 'watch', of: face.kind, events: face.kind === parts.kind ? events : shownEvents(events, face) }
}

function withTimeout({ clock }: ResourceParts, ms: number, outer: AbortSignal): AbortSignal {
  const controller = new AbortController()
  const timer = clock.after(ms, () => controller.abort())
  outer.addEventListener('abort', () => timer.cancel(), { once: true })
  return AbortSignal.any([outer, controller.signal])
}

export const selectionOf = ({ kind }: ResourceParts, { target, query }: ResourceRequest): Selection => {
  const name = target.name === '' ? '' : `metadata.name=${target.name}`
  const fields = [query.get('fieldSelector') ?? '', name].filter((part) => part !== '').join(',')
  return new Selection(kind, target.namespace, query.get('labelSelector') ?? '', fields)
}

// No version: as fresh as the store. 0: whatever there is. Another: not older than that.
async function catchUp({ store, cache }: ResourceParts, { query, context, target }: ResourceRequest): Promise<void> {
  const asked = query.get('resourceVersion') ?? ''
  if (asked === '0' || query.get('continue')) return
  if (asked !== '' && !/^\d+$/.test(asked))
    throw badRequest(
      `resourceVersion: Invalid value: ${JSON.stringify(asked)}: strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`,
    )
  if (asked !== '' || target.verb !== 'watch') {
    const revision = asked === '' ? await store.freshRevision(context.signal) : Number(asked)
    await cache.waitFor(revision, context.signal)
  }
}

const writeToken = (token: ContinueToken): string =>
  new TextEncoder().encode(JSON.stringify(token)).toBase64({ alphabet: 'base64url', omitPadding: true })

function parseToken(text: string): ContinueToken {
  try {
    const token = JSON.parse(
      new TextDecoder().decode(Uint8Array.fromBase64(text, { alphabet: 'base64url' })),
    ) as ContinueToken
    if (token.v === 'meta.k8s.io/v1' && Number.isInteger(token.rv) && typeof token.start === 'string') return token
  } catch {
    // falls through to the one error for every broken token
  }
  throw badRequest('continue key is not valid')
}
