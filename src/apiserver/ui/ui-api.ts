// The paths below /ui/api/: what the page needs beyond the Kubernetes API. Each is authorized by the objects it is about.
import { thenMaybe, type MaybePromise } from '../../base/async/maybe-promise.ts'
import { assert } from '../../base/assert.ts'
import { append } from '../../base/collections/append.ts'
import type { Clock } from '../../base/time/clock.ts'
import type { FlowEvent, FlowId, FlowObject, FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { WorkSlice } from '../../base/work/work-slice.ts'
import { badRequest, methodNotAllowed, pathNotFound, StatusError } from '../../api/errors/status-error.ts'
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import { resourceAttributes } from '../authorization/attributes.ts'
import { forbiddenAccess } from '../authorization/forbidden-access.ts'
import type { KindCatalogue } from '../kinds/kind-catalogue.ts'
import type { FlowRecords } from '../flow-endpoints/flow-records.ts'
import type { Registry } from '../registry/registry.ts'
import { internalRequest, type ApiRequest, type User } from '../request/request.ts'
import type { ApiResponse } from '../request/response.ts'
import { isPrivileged, serviceAccountUser } from '../request/user-names.ts'
import { eventsAbout } from './events-about.ts'
import { objectHistory } from './object-history.ts'
import { objectSearch } from './object-search.ts'
import { pastEvents } from './past-events.ts'
import { retainedRevisions } from './retained-revisions.ts'
import type { UiHandler } from './ui-endpoints.ts'
import { behindEventsMax, uiStream } from './ui-stream.ts'
import { visibleEvents } from './visible-events.ts'

/** An object that a request is about. */
export interface NamedSubject {
  readonly kind: Kind
  readonly namespace: string
  readonly name: string
}

/** What cluster/ computes from flow events, as the user. */
export interface UiExplanations {
  /** Why the object is not in its desired state; undefined if it does not exist. */
  why(subject: NamedSubject, events: readonly FlowEvent[], user: User, signal: AbortSignal): Promise<object | undefined>
  /** Whether a pod reaches a target; undefined if the pod does not exist. */
  reach(subject: NamedSubject, target: string, user: User, signal: AbortSignal): Promise<object | undefined>
  /** How many objects are well, and how much of the capacity is used; in one namespace if it is not empty. */
  overview(namespace: string, user: User, signal: AbortSignal): Promise<object>
  /** What is wrong, the most severe first; in one namespace if it is not empty. */
  problems(namespace: string, user: User, signal: AbortSignal): Promise<object>
  /** The graph of the object. All events are examined for it, so it is computed in slices. */
  flow(subject: FlowObject, events: readonly FlowEvent[], signal: AbortSignal): MaybePromise<object>
}

/** Virtual time: by a duration, or to the next timer that is due. */
export type StepClock = (ms: number | 'next') => Promise<number>

export interface UiApiDeps {
  readonly records: FlowRecords
  readonly clock: Clock
  readonly catalogue: KindCatalogue
  readonly registry: Registry
  readonly store: { readonly revision: number }
  /** Whether the request's session, if it has one, still exists. */
  readonly isOpen: (request: ApiRequest) => boolean
  /** Paces streams. */
  readonly streamClock: Clock
  readonly explanations: UiExplanations | undefined
  readonly stepClock: StepClock | undefined
}

const pastDefault = 5_000
const batchEventsMax = 200
const stepMsMax = 365 * 24 * 3_600_000

export function uiApi(deps: UiApiDeps): ReadonlyMap<string, UiHandler> {
  const { records, registry, store, explanations, stepClock } = deps
  const { authorize } = registry.policies
  const visible = (events: readonly FlowEvent[], { user, context }: ApiRequest) => {
    assert(user !== undefined, 'authentication comes first')
    return visibleEvents(events, user, { catalogue: deps.catalogue, authorize }, context.signal)
  }
  /** All events that the user may see. Other requests are handled meanwhile. */
  const allVisible = async (flow: FlowRecorder, request: ApiRequest): Promise<FlowEvent[]> => {
    const events: FlowEvent[] = []
    const slice = new WorkSlice(deps.clock)
    for (let at = flow.oldest; at <= flow.last; at = (at + batchEventsMax) as FlowId) {
      const ids = Array.from({ length: batchEventsMax }, (_, index) => (at + index) as FlowId)
      append(
        events,
        await visible(
          ids.flatMap((id) => flow.get(id) ?? []),
          request,
        ),
      )
      if (!slice.isUsedUp()) continue
      await slice.next()
      request.context.signal.throwIfAborted()
    }
    return events
  }
  const about = async (request: ApiRequest): Promise<NamedSubject & { readonly user: User }> => {
    const { user, query, context } = request
    const subject = subjectOf(query, deps.catalogue)
    const { kind, namespace, name } = subject
    assert(user !== undefined, 'authentication comes first')
    const scope = kind.plural === 'namespaces' ? name : namespace
    const named = { group: kind.group, version: kind.version, resource: kind.plural, namespace: scope, name }
    const attributes = resourceAttributes(user, 'get', named)
    const decision = await authorize(attributes, context.signal)
    if (decision.kind !== 'allowed') throw forbiddenAccess(attributes, decision.reason())
    return { ...subject, user }
  }
  /** A handler that reads the flow record. */
  const recorded = (handle: (request: ApiRequest, flow: FlowRecorder) => MaybePromise<ApiResponse>): UiHandler =>
    reads((request) => thenMaybe(records.read(request.context.signal), ({ flow }) => handle(request, flow)))
  return new Map<string, UiHandler>([
    ['stream', recorded((request, flow) => streamResponse(request, flow, deps, visible))],
    [
      'events',
      recorded((request, flow) => {
        const before = numberIn(request.query, 'before') ?? flow.last + 1
        const count = Math.min(numberIn(request.query, 'count') ?? pastDefault, behindEventsMax)
        return jsonLines(pastEvents(flow, { before, count }, (events) => visible(events, request)))
      }),
    ],
    [
      'history',
      recorded(async (request, flow) => {
        const subject = await about(request)
        const objectAt = (revision: number) => objectAtRevision(subject, revision, registry, request)
        return json(await objectHistory(flowObjectOf(subject), { flow, newest: store.revision, objectAt }))
      }),
    ],
    [
      'revisions',
      recorded(({ query }, flow) => {
        const at = numberIn(query, 'at')
        return json(retainedRevisions({ oldest: registry.oldestRevision, newest: store.revision }, flow, at))
      }),
    ],
    [
      'why',
      recorded(async (request, flow) => {
        const { user, ...subject } = await about(request)
        const events = await visible([...eventsAbout(flowObjectOf(subject), flow), ...refusals(subject, flow)], request)
        const why = await explanations?.why(subject, events, user, request.context.signal)
        if (why === undefined) throw pathNotFound()
        return json(why)
      }),
    ],
    [
      'flow',
      recorded(async (request, flow) => {
        const subject = await about(request)
        if (explanations === undefined) throw pathNotFound()
        const events = await allVisible(flow, request)
        return json(await explanations.flow(flowObjectOf(subject), events, request.context.signal))
      }),
    ],
    [
      'reach',
      reads(async (request) => {
        const { user, ...subject } = await about(request)
        if (subject.kind.plural !== 'pods') throw badRequest('resource: must be pods')
        const target = request.query.get('target') ?? ''
        const reached = await explanations?.reach(subject, target, user, request.context.signal)
        if (reached === undefined) throw pathNotFound()
        return json(reached)
      }),
    ],
    ['overview', reads((request) => summary('overview', request, deps))],
    ['problems', reads((request) => summary('problems', request, deps))],
    ['search', reads((request) => search(request, deps))],
    ['clock', (request) => (stepClock === undefined ? notVirtual() : step(request, stepClock, deps.clock))],
  ])
}

/** What is read as the user: what the user may not list is left out. */
async function summary(
  name: 'overview' | 'problems',
  { user, query, context }: ApiRequest,
  { explanations, clock }: UiApiDeps,
): Promise<ApiResponse> {
  assert(user !== undefined, 'authentication comes first')
  if (explanations === undefined) throw pathNotFound()
  const startMs = clock.monotonicMs()
  const value = await explanations[name](query.get('namespace') ?? '', user, context.signal)
  // The page reads it more rarely if it takes long.
  return json({ ...value, tookMs: Math.round(clock.monotonicMs() - startMs) })
}

const searchCharsMax = 253

async function search({ user, query, context }: ApiRequest, deps: UiApiDeps): Promise<ApiResponse> {
  const { registry, catalogue, clock } = deps
  assert(user !== undefined, 'authentication comes first')
  const text = query.get('text')?.trim() ?? ''
  if (text === '' || text.length > searchCharsMax)
    throw badRequest(`text: must have between 1 and ${searchCharsMax} characters`)
  const mayList = async ({ group, version, plural }: Kind, namespace: string): Promise<boolean> => {
    const attributes = resourceAttributes(user, 'list', { group, version, resource: plural, namespace })
    return (await registry.policies.authorize(attributes, context.signal)).kind === 'allowed'
  }
  const { list } = registry.lister
  const found = { text, namespace: query.get('namespace') ?? '' }
  return json(await objectSearch(found, { kinds: catalogue.kinds, list, mayList, clock }, context.signal))
}

/** The requests of a ServiceAccount that were refused. */
const refusals = ({ kind, namespace, name }: NamedSubject, flow: FlowRecorder): readonly FlowEvent[] =>
  kind.plural === 'serviceaccounts' ? flow.deniedTo(serviceAccountUser(namespace, name)) : []

const json = (value: object): ApiResponse => ({ kind: 'json', status: 200, value })

const notVirtual = (): never => {
  throw new StatusError(404, 'NotFound', 'the time of this cluster is not virtual')
}

const reads =
  (handle: UiHandler): UiHandler =>
  (request) => {
    if (request.target.verb !== 'get') throw methodNotAllowed()
    return handle(request)
  }

function streamResponse(
  request: ApiRequest,
  flow: FlowRecorder,
  { clock, streamClock, isOpen }: UiApiDeps,
  visible: (events: readonly FlowEvent[], request: ApiRequest) => Promise<readonly FlowEvent[]>,
): ApiResponse {
  const [past, recent] = [numberIn(request.query, 'past') ?? pastDefault, numberIn(request.query, 'recent') ?? 0].map(
    (count) => Math.min(count, behindEventsMax),
  ) as [number, number]
  const stream = {
    flow,
    nowMs: () => clock.nowMs(),
    clock: streamClock,
    visible: (events: readonly FlowEvent[]) => visible(events, request),
    isOpen: () => isOpen(request),
  }
  return jsonLines(uiStream(stream, { recent, past }, request.context.signal))
}

const jsonLines = (body: AsyncIterable<string>): ApiResponse => ({
  kind: 'wire',
  response: {
    status: 200,
    headers: { 'content-type': 'application/json-lines', 'cache-control': 'no-store' },
    body,
  },
})

/** Anyone who may do everything may also advance the time. */
async function step({ target, user, body }: ApiRequest, stepClock: StepClock, clock: Clock): Promise<ApiResponse> {
  if (target.verb === 'get') return json({ nowMs: clock.nowMs() })
  if (target.verb !== 'post') throw methodNotAllowed()
  if (user === undefined || !isPrivileged(user.groups))
    throw new StatusError(403, 'Forbidden', 'only administrators may advance the time')
  const { ms, to } = ((body.kind === 'value' ? body.value : undefined) ?? {}) as { ms?: unknown; to?: unknown }
  if (to === 'next') return json({ nowMs: await stepClock('next') })
  if (typeof ms !== 'number' || !(ms >= 0 && ms <= stepMsMax))
    throw badRequest('ms: must be the milliseconds to advance, or to: must be "next"')
  return json({ nowMs: await stepClock(ms) })
}

const flowObjectOf = ({ kind, namespace, name }: NamedSubject): FlowObject => ({
  resource: kind.plural,
  namespace,
  name,
})

function subjectOf(query: URLSearchParams, catalogue: KindCatalogue): NamedSubject {
  const [group, version, resource, namespace, name] = ['group', 'version', 'resource', 'namespace', 'name'].map(
    (each) => query.get(each) ?? '',
  ) as [string, string, string, string, string]
  const kind = catalogue.atPath(group === '' ? version : `${group}/${version}`, resource)
  if (kind === undefined || kind.computed !== undefined) throw badRequest('resource: is not stored by this server')
  if (name === '') throw badRequest('name: must not be empty')
  if (kind.namespaced === (namespace === ''))
    throw badRequest(`namespace: must ${kind.namespaced ? 'not ' : ''}be empty`)
  return { kind, namespace, name }
}

function numberIn(query: URLSearchParams, name: string): number | undefined {
  const text = query.get(name)
  if (text === null || text === '') return undefined
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${name}: must be a number`)
  return Number(text)
}

async function objectAtRevision(
  { kind, namespace, name }: NamedSubject,
  revision: number,
  registry: Registry,
  { context }: ApiRequest,
): Promise<ApiObject | undefined | 'lost'> {
  const target = { kind: 'resource', verb: 'list', resource: kind, subresource: '', namespace, name: '' } as const
  const query = new URLSearchParams({
    resourceVersion: String(revision),
    resourceVersionMatch: 'Exact',
    fieldSelector: `metadata.name=${name}`,
  })
  const handled: MaybePromise<ApiResponse> = registry.handle({ ...internalRequest(target, context), query })
  try {
    const response = await handled
    return response.kind === 'list' ? response.items[0]?.object : undefined
  } catch (error) {
    if (error instanceof StatusError && error.code === 410) return 'lost'
    throw error
  }
}
