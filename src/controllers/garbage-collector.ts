// Garbage collector: deletes objects whose owners are all gone. Foreground deletion waits for the dependents, orphan
// deletion removes their owner references. It is level-triggered: every decision depends only on the current state.
import { foregroundFinalizer, orphanFinalizer } from '../api/meta/deletion-finalizers.ts'
import { hasFinalizer } from '../api/meta/finalizers.ts'
import { qualifiedResource, type Kind } from '../api/kind/kind.ts'
import { isBeingDeleted, keyOf, namespaceOf, objectKey, type ApiObject } from '../api/meta/object.ts'
import type { OwnerReference } from '../api/meta/v1/object-meta.ts'
import type { Context } from '../base/observability/context.ts'
import { append } from '../base/collections/append.ts'
import { getOrInsert } from '../base/collections/get-or-insert.ts'
import { equalValues } from '../schema/json/json-value.ts'
import type { ServedKind } from '../client/discovery.ts'
import { RecentMap } from '../base/collections/recent-map.ts'
import { defineController, type ReconcileTools } from './runtime/controller.ts'

/** How soon an owner of an unknown kind is checked again. */
const unknownOwnerMs = 30_000

/** Owners that do not exist. An absent owner stays absent, since uids are not reused. */
type Absent = RecentMap<string, 'gone' | 'elsewhere'>
/** Cached absent owners. */
const absentMax = 4096
type Tools = ReconcileTools<Absent>

/** Events are not collected: they expire. */
const isCollected = ({ kind, verbs, isPreferred }: ServedKind): boolean =>
  isPreferred && kind.plural !== 'events' && ['delete', 'list', 'watch'].every((verb) => verbs.includes(verb))

const workKey = (kind: Kind, key: string): string => `${qualifiedResource(kind)}:${key}`

export const garbageCollector = defineController<Absent>({
  name: 'garbage-collector',
  account: 'generic-garbage-collector',
  component: 'garbage-collector-controller',
  watches: [],
  watchesDiscovered: isCollected,
  measureDiscoveryFailure: ({ garbageCollectorSyncErrors }) => garbageCollectorSyncErrors.add({}),
  state: () => new RecentMap(absentMax),
  enqueues(kind, { key, now, before }, { dependents, discovered }) {
    const object = now ?? before
    if (object === undefined) return []
    const own = now !== undefined && isInteresting(now, before) ? [workKey(kind, key)] : []
    if (now !== undefined && !isBeingDeleted(now)) return own
    const children = dependents(object.metadata.uid).map((child) => workKey(child.kind, keyOf(child.object)))
    // Its owner's foreground deletion may be waiting for this dependent only.
    const owners = now === undefined ? ownersOf(object, discovered) : []
    return [...own, ...children, ...owners]
  },
  async reconcile(key, tools, context) {
    const colon = key.indexOf(':')
    const kind = tools.discovered.resource(key.slice(0, colon))
    if (kind === undefined) return undefined
    const object = tools.cached(kind, key.slice(colon + 1))
    if (object === undefined) return undefined
    if (isBeingDeleted(object)) return finishDeletion(kind, object, tools, context)
    return collectIfOrphaned(kind, object, tools, context)
  },
})

/** Changes that affect neither deletion nor owner references, such as heartbeats, are ignored. */
function isInteresting(now: ApiObject, before: ApiObject | undefined): boolean {
  const { ownerReferences = [] } = now.metadata
  if (isBeingDeleted(now)) return true
  return ownerReferences.length > 0 && !equalValues(ownerReferences, before?.metadata.ownerReferences)
}

/** Decides from the cache. If the cache is stale the API server rejects the write, and the retry has newer data. */
async function collectIfOrphaned(
  kind: Kind,
  object: ApiObject,
  tools: Tools,
  context: Context,
): Promise<number | undefined> {
  const references = object.metadata.ownerReferences ?? []
  if (references.length === 0) return undefined
  const states = await ownerStates(references, object, tools, context)
  // The kind of an owner is not known now. Nothing is decided until it is.
  if (states.includes('unknown')) return unknownOwnerMs
  if (states.includes('alive')) {
    // The object stays for its remaining owners. References to the others are removed.
    const dropped = references.filter((_, index) => states[index] !== 'alive').map(({ uid }) => uid)
    if (dropped.length > 0) await release(kind, object, dropped, tools, context)
    return undefined
  }
  const dependents = tools.dependents(object.metadata.uid)
  const isWaitedFor = states.includes('waiting') && dependents.length > 0
  // Owners in a cycle would wait for one another forever, so an object that may be part of one stops blocking.
  if (isWaitedFor && dependents.some(({ object: each }) => isWaiting(each)) && blocksAny(object))
    return unblock(kind, object, tools, context)
  const { name, uid, resourceVersion } = object.metadata
  const propagationPolicy = isWaitedFor ? 'Foreground' : ownPolicy(object)
  await tools.client.of(kind).delete(name, namespaceOf(object), { uid, resourceVersion, propagationPolicy }, context)
  return undefined
}

/** Owners that are looked up at a time. An object may have tens of thousands of them. */
const ownersAtOnceMax = 64

async function ownerStates(
  references: readonly OwnerReference[],
  object: ApiObject,
  tools: Tools,
  context: Context,
): Promise<readonly OwnerState[]> {
  const states: OwnerState[] = []
  const isKnown = knownUids(tools)
  for (let start = 0; start < references.length; start += ownersAtOnceMax) {
    const some = references.slice(start, start + ownersAtOnceMax)
    append(states, await Promise.all(some.map((each) => ownerState(each, object, isKnown, tools, context))))
    const pause = tools.pause()
    if (pause !== undefined) await pause
  }
  return states
}

/** The policy of an earlier deletion request, which the finalizers show. */
function ownPolicy(object: ApiObject): 'Orphan' | 'Foreground' | 'Background' {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan'
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
}

type OwnerState = 'alive' | 'waiting' | 'gone' | 'unknown'

async function ownerState(
  reference: OwnerReference,
  dependent: ApiObject,
  isKnown: (kind: Kind, uid: string) => boolean,
  tools: Tools,
  context: Context,
): Promise<OwnerState> {
  const { apiVersion, kind: kindName, name, uid } = reference
  const kind = tools.discovered.kindFor(apiVersion, kindName)
  if (kind === undefined) return 'unknown'
  // A cluster-scoped object cannot have a namespaced owner: the reference does not name a namespace.
  if (kind.namespaced && namespaceOf(dependent) === '') {
    if (isKnown(kind, uid)) recordWrongNamespace(reference, dependent, tools, context)
    return 'alive'
  }
  // An owner is in the same namespace as its dependents.
  const namespace = kind.namespaced ? namespaceOf(dependent) : ''
  const known = tools.cached(kind, objectKey(namespace, name))
  if (known?.metadata.uid === uid) return isWaiting(known) ? 'waiting' : 'alive'
  const absentKey = `${qualifiedResource(kind)} ${namespace} ${name} ${uid}`
  let absent = tools.state.get(absentKey)
  if (absent === undefined) {
    // The cache may lag: only the API server's word counts for absence.
    const owner = await tools.client.metadataOf(kind).find(name, namespace, context)
    if (owner?.metadata.uid === uid) return isWaiting(owner) ? 'waiting' : 'alive'
    absent = kind.namespaced && isKnown(kind, uid) ? 'elsewhere' : 'gone'
    tools.state.set(absentKey, absent)
  }
  if (absent === 'elsewhere') recordWrongNamespace(reference, dependent, tools, context)
  return 'gone'
}

/** Whether an object with the uid exists in any namespace. The uids of a kind are collected once. */
function knownUids({ all }: Tools): (kind: Kind, uid: string) => boolean {
  const ofKinds = new Map<Kind, ReadonlySet<string>>()
  const uidsOf = (kind: Kind) => new Set([...all(kind)].map(({ metadata }) => metadata.uid))
  return (kind, uid) => getOrInsert(ofKinds, kind, () => uidsOf(kind)).has(uid)
}

/** Records an event: the owner exists in another namespace, so the reference is ignored. */
function recordWrongNamespace(
  { apiVersion, kind, name, uid }: OwnerReference,
  dependent: ApiObject,
  { recordEvent }: Tools,
  context: Context,
): void {
  const namespace = namespaceOf(dependent)
  const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
  const message = `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`
  recordEvent(dependent, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message }, context)
}

/** In foreground deletion, waiting for its dependents. */
const isWaiting = (object: ApiObject): boolean => isBeingDeleted(object) && hasFinalizer(object, foregroundFinalizer)

async function finishDeletion(
  kind: Kind,
  object: ApiObject,
  tools: Tools,
  context: Context,
): Promise<number | undefined> {
  const children = tools.dependents(object.metadata.uid)
  if (hasFinalizer(object, orphanFinalizer)) {
    for (const child of children) await release(child.kind, child.object, [object.metadata.uid], tools, context)
    return removeFinalizer(kind, object, orphanFinalizer, tools, context)
  }
  if (!hasFinalizer(object, foregroundFinalizer)) return undefined
  const blocking = children.filter(({ object: child }) => blocks(child, object.metadata.uid))
  if (blocking.length === 0) return removeFinalizer(kind, object, foregroundFinalizer, tools, context)
  for (const { kind: childKind, object: child } of blocking)
    if (!isBeingDeleted(child)) await collectIfOrphaned(childKind, child, tools, context)
  return undefined
}

const blocks = (child: ApiObject, ownerUid: string): boolean =>
  child.metadata.ownerReferences?.some(
    ({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true,
  ) ?? false

const blocksAny = ({ metadata: { ownerReferences = [] } }: ApiObject): boolean =>
  ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)

async function unblock(kind: Kind, object: ApiObject, tools: Tools, context: Context): Promise<undefined> {
  const { ownerReferences = [] } = object.metadata
  const free = ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
  return change(kind, object, { ownerReferences: free }, tools, context)
}

function release(
  kind: Kind,
  child: ApiObject,
  ownerUids: readonly string[],
  tools: Tools,
  context: Context,
): Promise<undefined> {
  const released = new Set(ownerUids)
  const kept = (child.metadata.ownerReferences ?? []).filter(({ uid }) => !released.has(uid))
  return change(kind, child, { ownerReferences: kept.length === 0 ? null : kept }, tools, context)
}

function removeFinalizer(
  kind: Kind,
  object: ApiObject,
  name: string,
  tools: Tools,
  context: Context,
): Promise<undefined> {
  const kept = (object.metadata.finalizers ?? []).filter((finalizer) => finalizer !== name)
  return change(kind, object, { finalizers: kept.length === 0 ? null : kept }, tools, context)
}

/** A patch, since only the metadata of most objects is cached; the resourceVersion is a precondition. */
async function change(
  kind: Kind,
  { metadata }: ApiObject,
  part: object,
  { client }: Tools,
  context: Context,
): Promise<undefined> {
  const { name, namespace = '', uid, resourceVersion } = metadata
  await client.of(kind).patch(name, namespace, { metadata: { uid, resourceVersion, ...part } }, 'merge', context)
}

const ownersOf = (object: ApiObject, { kindFor }: Tools['discovered']): string[] =>
  (object.metadata.ownerReferences ?? []).flatMap(({ apiVersion, kind: kindName, name }) => {
    const kind = kindFor(apiVersion, kindName)
    return kind === undefined ? [] : [workKey(kind, objectKey(kind.namespaced ? namespaceOf(object) : '', name))]
  })
