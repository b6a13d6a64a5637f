// runChanges: writes the changes of a plan, registers expectations for them, and records events.
// The number of concurrent creates starts at one and doubles, so that a rejected create does not cause thousands more.
import { controllerReference, namespaceOf, type ApiObject } from '../../api/meta/object.ts'
import { hasReason, StatusError } from '../../api/errors/status-error.ts'
import type { Context } from '../../base/observability/context.ts'
import type { Client } from '../../client/client.ts'
import type { EventRecorder } from '../../client/events/event-recorder.ts'
import type { Change } from './controller.ts'

/** Concurrent changes of one plan. */
const changesAtOnceMax = 64

export interface ChangeRunnerDeps {
  readonly client: Client
  readonly events: EventRecorder
  /** Called with each object that was written, or whose deletion was requested. */
  readonly expect: (change: Change, made: ApiObject) => void
  /** Called with each change that failed. */
  readonly onFailure: (change: Change) => void
}

/** The namespace is terminating: nothing can be created in it, so a retry is pointless. */
class NamespaceEnds extends Error {}

/** Writes the changes; returns the first failure. The creates after a failed one are left to the next plan. */
export async function runChanges(
  owner: ApiObject,
  changes: readonly Change[],
  deps: ChangeRunnerDeps,
  context: Context,
): Promise<Error | undefined> {
  const creates = changes.filter(({ kind }) => kind === 'create')
  const others = changes.filter(({ kind }) => kind !== 'create')
  let failure: Error | undefined
  for (let start = 0; start < others.length; start += changesAtOnceMax)
    failure ??= await runBatch(owner, others.slice(start, start + changesAtOnceMax), deps, context)
  let size = 1
  for (let start = 0; start < creates.length && failure === undefined; start += size, size = grown(size))
    failure = await runBatch(owner, creates.slice(start, start + size), deps, context)
  return failure instanceof NamespaceEnds ? undefined : failure
}

const grown = (size: number): number => Math.min(size * 2, changesAtOnceMax)

async function runBatch(
  owner: ApiObject,
  batch: readonly Change[],
  deps: ChangeRunnerDeps,
  context: Context,
): Promise<Error | undefined> {
  const failures = await Promise.all(batch.map((change) => runChange(owner, change, deps, context)))
  return failures.find((failure) => failure !== undefined)
}

async function runChange(
  owner: ApiObject,
  change: Change,
  deps: ChangeRunnerDeps,
  context: Context,
): Promise<Error | undefined> {
  try {
    const made = await send(owner, change, deps.client, context)
    deps.expect(change, made)
    if (change.event !== undefined) deps.events.record(owner, change.event(made), context)
    return undefined
  } catch (error) {
    if (context.signal.aborted || !(error instanceof Error)) throw error
    if (change.kind === 'delete' && hasReason(error, 'NotFound')) return undefined
    deps.onFailure(change)
    if (change.kind === 'create' && isNamespaceEnding(error)) return new NamespaceEnds()
    if (change.failureEvent !== undefined && !hasReason(error, 'AlreadyExists'))
      deps.events.record(owner, change.failureEvent(error), context)
    return error
  }
}

async function send(owner: ApiObject, change: Change, client: Client, context: Context): Promise<ApiObject> {
  const resource = client.of(change.of)
  switch (change.kind) {
    case 'create':
      return resource.create(withOwner(change.object as ApiObject, owner), namespaceOf(owner), context)
    case 'update':
      return change.through === 'status'
        ? resource.updateStatus(change.object, context)
        : resource.update(change.object, context)
    case 'patch': {
      const { name } = change.object.metadata
      return resource.patch(name, namespaceOf(change.object), change.patch, 'strategic', context)
    }
    case 'delete': {
      const { name, uid } = change.object.metadata
      await resource.delete(name, namespaceOf(change.object), { uid, propagationPolicy: 'Background' }, context)
      return change.object
    }
    default:
      return change satisfies never
  }
}

/** The namespace is being deleted, so nothing can be created in it. */
export const isNamespaceEnding = (error: unknown): boolean =>
  error instanceof StatusError && (error.details?.causes ?? []).some(({ reason }) => reason === 'NamespaceTerminating')

/** A created object is owned by the planned object, unless the plan sets owner references. */
const withOwner = (object: ApiObject, owner: ApiObject): ApiObject =>
  'ownerReferences' in object.metadata
    ? object
    : { ...object, metadata: { ...object.metadata, ownerReferences: [controllerReference(owner)] } }
