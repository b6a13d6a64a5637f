// Garbage collector: what has owners goes when the last of them is gone. Foreground deletion waits for the dependents,
// orphan deletion lets them go free. Level-triggered: every decision is made from what is there.
import { foregroundFinalizer, orphanFinalizer } from '../api/deletion-finalizers.ts'
import { storedKinds } from '../api/kinds.ts'
import { qualifiedResource, type Kind } from '../api/kind.ts'
import { isBeingDeleted, keyOf, namespaceOf, objectKey, type ApiObject } from '../api/object.ts'
import type { OwnerReference } from '../api/meta/v1/object-meta.ts'
import type { Context } from '../base/context.ts'
import { defineController, type ReconcileTools } from './controller.ts'

/** Events and leases come and go by themselves. */
const watched = storedKinds.filter(({ plural }) => plural !== 'events' && plural !== 'leases')
const byQualifiedName = new Map(watched.map((kind) => [qualifiedResource(kind), kind]))

const workKey = (kind: Kind, key: string): string => `${qualifiedResource(kind)}:${key}`

export const garbageCollector = defineController({
  name: 'garbage-collector',
  account: 'generic-garbage-collector',
  component: 'garbage-collector-controller',
  watches: watched,
  wakes(kind, { key, now, before }, { dependents }) {
    const object = now ?? before
    if (object === undefined) return []
    const isInteresting = isBeingDeleted(object) || (object.metadata.ownerReferences ?? []).length > 0
    const own = now !== undefined && isInteresting ? [workKey(kind, key)] : []
    const children =
      now === undefined || isBeingDeleted(now)
        ? dependents(object.metadata.uid).map((child) => workKey(child.kind, keyOf(child.object)))
        : []
    // A dependent that goes may be the last one that its owner waits for.
    const owners =
      now === undefined
        ? ownersOf(object).map(({ kind: ownerKind, key: ownerKey }) => workKey(ownerKind, ownerKey))
        : []
    return [...own, ...children, ...owners]
  },
  async reconcile(key, tools, context) {
    const colon = key.indexOf(':')
    const kind = byQualifiedName.get(key.slice(0, colon))
    if (kind === undefined) return undefined
    const object = tools.cached(kind, key.slice(colon + 1))
    if (object === undefined) return undefined
    if (isBeingDeleted(object)) await finishDeletion(kind, object, tools, context)
    else await collectIfOrphaned(kind, object, tools, context)
    return undefined
  },
})

/** Decides from the cache; the API server refuses when that was too old, and the next look knows more. */
async function collectIfOrphaned(
  kind: Kind,
  object: ApiObject,
  tools: ReconcileTools,
  context: Context,
): Promise<void> {
  const references = object.metadata.ownerReferences ?? []
  if (references.length === 0) return
  const states = await Promise.all(references.map((reference) => ownerState(reference, object, tools, context)))
  if (states.includes('alive')) {
    // References to owners that are gone or going are dropped: this object stays for those that stay.
    const dropped = references.filter((_, index) => states[index] !== 'alive').map(({ uid }) => uid)
    if (dropped.length > 0) await release(kind, object, dropped, tools, context)
    return
  }
  const dependents = tools.dependents(object.metadata.uid)
  const isWaitedFor = states.includes('waiting') && dependents.length > 0
  // Owners that wait for one another would wait for ever: whoever may be part of a circle stops blocking.
  if (isWaitedFor && dependents.some(({ object: each }) => isWaiting(each)) && blocksAny(object))
    return unblock(kind, object, tools, context)
  const { name, uid, resourceVersion } = object.metadata
  const propagationPolicy = isWaitedFor ? 'Foreground' : ownPolicy(object)
  await tools.client.of(kind).delete(name, namespaceOf(object), { uid, resourceVersion, propagationPolicy }, context)
}

/** What the object's finalizers ask for, should somebody have asked before. */
function ownPolicy(object: ApiObject): 'Orphan' | 'Foreground' | 'Background' {
  if (hasFinalizer(object, orphanFinalizer)) return 'Orphan'
  return hasFinalizer(object, foregroundFinalizer) ? 'Foreground' : 'Background'
}

type OwnerState = 'alive' | 'waiting' | 'gone'

async function ownerState(
  reference: OwnerReference,
  dependent: ApiObject,
  tools: ReconcileTools,
  context: Context,
): Promise<OwnerState> {
  const { apiVersion, kind: kindName, name, uid } = reference
  const { client, cached } = tools
  const kind = watched.find((candidate) => candidate.apiVersion === apiVersion && candidate.kind === kindName)
  if (kind === undefined) return 'alive' // a kind we cannot ask about is given the benefit of the doubt
  // An object of the whole cluster cannot have an owner in a namespace: which one would it be?
  if (kind.namespaced && namespaceOf(dependent) === '') {
    if (isKnown(kind, uid, tools)) await tellWrongNamespace(reference, dependent, tools, context)
    return 'alive'
  }
  // An owner in another namespace is none.
  const namespace = kind.namespaced ? namespaceOf(dependent) : ''
  const known = cached(kind, objectKey(namespace, name))
  // The cache may lag: only the API server's word counts for absence.
  const owner = known?.metadata.uid === uid ? known : await client.of(kind).find(name, namespace, context)
  if (owner !== undefined && owner.metadata.uid === uid) return isWaiting(owner) ? 'waiting' : 'alive'
  if (kind.namespaced && isKnown(kind, uid, tools)) await tellWrongNamespace(reference, dependent, tools, context)
  return 'gone'
}

function isKnown(kind: Kind, uid: string, { all }: ReconcileTools): boolean {
  for (const { metadata } of all(kind)) if (metadata.uid === uid) return true
  return false
}

/** The owner is there, in another namespace: whoever wrote the reference should hear why it counts for nothing. */
function tellWrongNamespace(
  { apiVersion, kind, name, uid }: OwnerReference,
  dependent: ApiObject,
  { tell }: ReconcileTools,
  context: Context,
): Promise<void> {
  const namespace = namespaceOf(dependent)
  const reference = `[${apiVersion}/${kind}, namespace: ${namespace}, name: ${name}, uid: ${uid}]`
  const message = `ownerRef ${reference} does not exist in namespace ${JSON.stringify(namespace)}`
  return tell(dependent, { type: 'Warning', reason: 'OwnerRefInvalidNamespace', message }, context)
}

/** In foreground deletion: it goes when its dependents are gone. */
const isWaiting = (object: ApiObject): boolean => isBeingDeleted(object) && hasFinalizer(object, foregroundFinalizer)

async function finishDeletion(kind: Kind, object: ApiObject, tools: ReconcileTools, context: Context): Promise<void> {
  const children = tools.dependents(object.metadata.uid)
  if (hasFinalizer(object, orphanFinalizer)) {
    for (const child of children) await release(child.kind, child.object, [object.metadata.uid], tools, context)
    return removeFinalizer(kind, object, orphanFinalizer, tools, context)
  }
  if (!hasFinalizer(object, foregroundFinalizer)) return
  const blocking = children.filter(({ object: child }) => blocks(child, object.metadata.uid))
  if (blocking.length === 0) return removeFinalizer(kind, object, foregroundFinalizer, tools, context)
  for (const { kind: childKind, object: child } of blocking)
    if (!isBeingDeleted(child)) await collectIfOrphaned(childKind, child, tools, context)
}

const blocks = (child: ApiObject, ownerUid: string): boolean =>
  child.metadata.ownerReferences?.some(
    ({ uid, blockOwnerDeletion }) => uid === ownerUid && blockOwnerDeletion === true,
  ) ?? false

const blocksAny = ({ metadata: { ownerReferences = [] } }: ApiObject): boolean =>
  ownerReferences.some(({ blockOwnerDeletion }) => blockOwnerDeletion === true)

async function unblock(kind: Kind, object: ApiObject, { client }: ReconcileTools, context: Context): Promise<void> {
  const { ownerReferences = [] } = object.metadata
  const free = ownerReferences.map((reference) => ({ ...reference, blockOwnerDeletion: false }))
  await client.of(kind).update({ ...object, metadata: { ...object.metadata, ownerReferences: free } }, context)
}

const hasFinalizer = (object: ApiObject, name: string): boolean => object.metadata.finalizers?.includes(name) ?? false

async function release(
  kind: Kind,
  child: ApiObject,
  ownerUids: readonly string[],
  { client }: ReconcileTools,
  context: Context,
): Promise<void> {
  const { ownerReferences: references = [], ...metadata } = child.metadata
  const kept = references.filter(({ uid }) => !ownerUids.includes(uid))
  await client
    .of(kind)
    .update({ ...child, metadata: { ...metadata, ...(kept.length === 0 ? {} : { ownerReferences: kept }) } }, context)
}

async function removeFinalizer(
  kind: Kind,
  object: ApiObject,
  name: string,
  { client }: ReconcileTools,
  context: Context,
): Promise<void> {
  const { finalizers = [], ...metadata } = object.metadata
  const kept = finalizers.filter((finalizer) => finalizer !== name)
  await client
    .of(kind)
    .update({ ...object, metadata: { ...metadata, ...(kept.length === 0 ? {} : { finalizers: kept }) } }, context)
}

function ownersOf(object: ApiObject): { kind: Kind; key: string }[] {
  return (object.metadata.ownerReferences ?? []).flatMap(({ apiVersion, kind: kindName, name }) => {
    const kind = watched.find((candidate) => candidate.apiVersion === apiVersion && candidate.kind === kindName)
    return kind === undefined ? [] : [{ kind, key: objectKey(kind.namespaced ? namespaceOf(object) : '', name) }]
  })
}
