// Deletion: immediately, after a grace period, or when the last finalizer is removed.
import { foregroundFinalizer, orphanFinalizer } from '../../../api/meta/deletion-finalizers.ts'
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import type { DeleteOptions } from '../../../api/meta/v1/delete-options.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { conflict, hasReason } from '../../../api/errors/status-error.ts'
import { equalValues, without } from '../../../schema/json/json-value.ts'
import type { ListResponse } from '../../request/response.ts'
import { identityConverter } from '../resource/version-converter.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import { readCached, recordStage, type ResourceDeps } from '../resource/resource-deps.ts'
import { deleteOptionsOf } from './delete-options.ts'
import { onNewestVersion } from './on-newest-version.ts'
import { list } from './reads.ts'
import { admissionAttributesOf } from './write-admission.ts'
import { internalRequest, type ResourceRequest } from '../../request/request.ts'
import { commitWrite } from './commit.ts'
import { nextInt64, secondsAsMs } from '../../../schema/scalar/int64.ts'

export interface Deleted {
  readonly stored: StoredObject
  /** False where the object is only marked for deletion. */
  readonly isGone: boolean
}

export async function remove(
  deps: ResourceDeps,
  request: ResourceRequest,
  body: unknown,
): Promise<Deleted & { readonly warnings: readonly string[] }> {
  const { namespace, name } = request.target
  const options = deleteOptionsOf(request, body)
  const cached = await readCached(deps, namespace, name, request.context)
  const deleted = await removeOne(deps, request, cached, options)
  return { ...deleted, warnings: orphanWarnings(deps, options) }
}

/** Deletes for a request that has passed admission already, such as an eviction. */
export async function removeWithoutAdmission(
  deps: ResourceDeps,
  request: ResourceRequest,
  body: unknown,
): Promise<Deleted> {
  const { namespace, name } = request.target
  const cached = await readCached(deps, namespace, name, request.context)
  return removeOne(deps, request, cached, deleteOptionsOf(request, body), true)
}

/** Deletes an object for the server itself. */
export async function removeInternally(deps: ResourceDeps, object: ApiObject, context: Context): Promise<void> {
  const { name, namespace = '' } = object.metadata
  const target = { kind: 'resource', verb: 'delete', resource: deps.kind, subresource: '', namespace, name } as const
  const request = internalRequest(target, context)
  const cached = await readCached(deps, namespace, name, context)
  await removeOne(deps, request, cached, {}, true).catch((error: unknown) => {
    if (!hasReason(error, 'NotFound')) throw error
  })
}

/** Objects of a collection that are deleted concurrently: their commits share disk writes. */
const collectionAtOnce = 64

/** Deletes the objects that a list with the same parameters returns, page by page where it has a limit. */
export async function removeCollection(
  deps: ResourceDeps,
  request: ResourceRequest,
  body: unknown,
): Promise<ListResponse> {
  const options = deleteOptionsOf(request, body)
  const response = await list({ ...deps, converter: identityConverter(deps.kind) }, request)
  const { items } = response
  for (let start = 0; start < items.length; start += collectionAtOnce)
    await Promise.all(items.slice(start, start + collectionAtOnce).map((stored) => removeListed(stored)))
  const warnings = orphanWarnings(deps, options)
  return {
    ...response,
    objectKind: deps.converter.kind,
    items: items.map((stored) => deps.converter.fromStored(stored)),
    warnings,
  }

  async function removeListed(stored: StoredObject): Promise<void> {
    const { name, namespace = '' } = stored.object.metadata
    const one = { ...request, target: { ...request.target, name, namespace } }
    await removeOne(deps, one, stored, options).catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
  }
}

async function removeOne(
  deps: ResourceDeps,
  request: ResourceRequest,
  cached: StoredObject | undefined,
  options: Partial<DeleteOptions>,
  isAdmitted = false,
): Promise<Deleted> {
  const { target, context } = request
  const { signal, cause } = context
  return onNewestVersion<Deleted>(deps, target, cached, context, async (current) => {
    checkPreconditions(deps, current, options)
    if (!isAdmitted) await admitDeletion(deps, request, current.object, options)
    const marked = markForDeletion(deps, current.object, options)
    const isGone = marked === undefined
    if (marked === current.object) return { kind: 'unchanged', result: { stored: current, isGone } }
    if (isDryRun(options)) {
      const stored = marked === undefined ? current : StoredObject.ofObject(marked, current.revision)
      return { kind: 'unchanged', result: { stored, isGone } }
    }
    const write = {
      operation: isGone ? 'delete' : 'put',
      object: marked ?? current.object,
      expected: current.revision,
    } as const
    const commit = async () => {
      const stored = await commitWrite(deps, write, cause, signal)
      return stored && { stored, isGone }
    }
    return { kind: 'write', commit }
  })
}

async function admitDeletion(
  deps: ResourceDeps,
  request: ResourceRequest,
  current: ApiObject,
  options: Partial<DeleteOptions>,
): Promise<void> {
  const attributes = {
    ...admissionAttributesOf(deps, request, 'delete', undefined, current),
    options,
    dryRun: isDryRun(options),
  }
  recordStage(deps, request, 'reading')
  await deps.admission.admit(attributes)
  recordStage(deps, request, 'mutating')
  await deps.admission.validate(attributes)
  recordStage(deps, request, 'validating')
}

/** Options in a body replace all options in the query. */
const isDryRun = ({ dryRun = [] }: Partial<DeleteOptions>): boolean => dryRun.includes('All')

/** The object marked for deletion; the same object where it is marked already; undefined where it can be removed. */
function markForDeletion(
  { strategy, clock }: ResourceDeps,
  object: ApiObject,
  options: Partial<DeleteOptions>,
): ApiObject | undefined {
  const graceSeconds = strategy?.graceSeconds?.(object, options) ?? 0
  const finalizers = withPropagation(
    object.metadata.finalizers ?? [],
    options,
    strategy?.orphansDependents !== undefined,
  )
  const isHeld = finalizers.length > 0 || (strategy?.isBlocked?.(object) ?? false)
  if (graceSeconds === 0 && !isHeld) return undefined
  const { deletionTimestamp, deletionGracePeriodSeconds: earlierSeconds, generation } = object.metadata
  // A second deletion can shorten the grace period, but not extend it.
  if (deletionTimestamp !== undefined && graceSeconds >= (earlierSeconds ?? 0))
    return strategy?.graceSeconds === undefined ? withFinalizers(object, finalizers) : object
  const metadata = {
    ...object.metadata,
    ...(finalizers.length === 0 ? {} : { finalizers }),
    deletionTimestamp: rfc3339(clock.nowMs() + secondsAsMs(graceSeconds)),
    deletionGracePeriodSeconds: graceSeconds,
    ...(generation === undefined || strategy?.keepsGenerationOnDelete ? {} : { generation: nextInt64(generation) }),
  }
  const marked = { ...object, metadata }
  return strategy?.markDeleted?.(marked) ?? marked
}

/** A second deletion can choose another propagation policy. */
function withFinalizers(object: ApiObject, finalizers: readonly string[]): ApiObject {
  if (equalValues(finalizers, object.metadata.finalizers ?? [])) return object
  const rest = without(object.metadata, 'finalizers')
  return { ...object, metadata: finalizers.length === 0 ? rest : { ...rest, finalizers } }
}

function withPropagation(
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: Partial<DeleteOptions>,
  orphansByDefault: boolean,
): readonly string[] {
  const others = finalizers.filter((name) => name !== foregroundFinalizer && name !== orphanFinalizer)
  if (propagationPolicy === 'Foreground') return [...others, foregroundFinalizer]
  if (propagationPolicy === 'Orphan' || orphanDependents === true) return [...others, orphanFinalizer]
  if (propagationPolicy !== undefined || orphanDependents === false) return others
  const isDecided = others.length < finalizers.length
  return isDecided || !orphansByDefault ? finalizers : [...finalizers, orphanFinalizer]
}

/** The warning for clients that did not choose a propagation policy. */
function orphanWarnings(
  { strategy }: ResourceDeps,
  { propagationPolicy, orphanDependents }: Partial<DeleteOptions>,
): readonly string[] {
  const { warning } = strategy?.orphansDependents ?? {}
  return warning === undefined || propagationPolicy !== undefined || orphanDependents !== undefined ? [] : [warning]
}

function checkPreconditions(
  { kind }: ResourceDeps,
  { object, revision }: StoredObject,
  { preconditions }: Partial<DeleteOptions>,
): void {
  const { name, uid } = object.metadata
  // As upstream: the message names the kind, not the resource.
  const failed = (what: string, wanted: string, is: string, why: string) =>
    conflict(
      { group: kind.group, plural: kind.kind },
      name,
      `the ${what} in the precondition (${wanted}) does not match the ${what} in record (${is}). The object might have been ${why}`,
    )
  if (preconditions?.uid !== undefined && preconditions.uid !== uid)
    throw failed('UID', preconditions.uid, uid, 'deleted and then recreated')
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== String(revision))
    throw failed('ResourceVersion', preconditions.resourceVersion, String(revision), 'modified')
}

/** The object was marked for deletion, and its last finalizer is gone. */
export function canBeRemoved({ strategy }: ResourceDeps, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined || finalizers.length > 0 || (deletionGracePeriodSeconds ?? 0) > 0) return false
  return !(strategy?.isBlocked?.(object) ?? false)
}
