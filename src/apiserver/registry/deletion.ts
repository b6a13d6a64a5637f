// Deletion: at once, after a grace period, or when the last finalizer is gone.
import { append } from '../../base/append.ts'
import { foregroundFinalizer, orphanFinalizer } from '../../api/deletion-finalizers.ts'
import { rfc3339 } from '../../base/clock.ts'
import { deleteOptions, type DeleteOptions } from '../../api/meta/v1/delete-options.ts'
import { objectKey, type ApiObject } from '../../api/object.ts'
import { conflict, hasReason, invalidObject, modifiedConflict, notFound } from '../../api/status-error.ts'
import { invalid, notSupported, type FieldError } from '../../schema/field-error.ts'
import type { ListAnswer } from '../answer.ts'
import { plainFace } from './face.ts'
import { decodeBody } from './ingest.ts'
import { dryRunErrors } from './list-options.ts'
import { booleanOf, integerOf } from '../query.ts'
import type { Stored } from '../stored.ts'
import { commitWrite, isDryRun, passed, readStored, type ResourceParts, type ResourceRequest } from './parts.ts'
import { list } from './reads.ts'
import { attributesOf } from './writes.ts'

export interface Deleted {
  readonly stored: Stored
  /** Whether the object is gone, or only marked. */
  readonly gone: boolean
}

const deleteTries = 16

export async function remove(
  parts: ResourceParts,
  request: ResourceRequest,
  body: unknown,
): Promise<Deleted & { readonly warnings: readonly string[] }> {
  const { namespace, name } = request.target
  const options = optionsOf(request, body)
  const deleted = await removeOne(parts, request, parts.cache.get(objectKey(namespace, name)), options)
  return { ...deleted, warnings: orphanWarnings(parts, options) }
}

/** Deletes for a request that admission has judged already, as an eviction. */
export async function removeAdmitted(parts: ResourceParts, request: ResourceRequest, body: unknown): Promise<Deleted> {
  const { namespace, name } = request.target
  const cached = parts.cache.get(objectKey(namespace, name))
  return removeOne(parts, request, cached, optionsOf(request, body), true)
}

/** So many objects of a collection are deleted at a time: their commits share the disk's. */
const collectionAtOnce = 64

/** Deletes what a list with the same parameters shows, page by page where a limit is given. */
export async function removeCollection(
  parts: ResourceParts,
  request: ResourceRequest,
  body: unknown,
): Promise<ListAnswer> {
  const options = optionsOf(request, body)
  const answer = await list({ ...parts, face: plainFace(parts.kind) }, request)
  const { items } = answer
  for (let start = 0; start < items.length; start += collectionAtOnce)
    await Promise.all(items.slice(start, start + collectionAtOnce).map((stored) => removeListed(stored)))
  const warnings = orphanWarnings(parts, options)
  return { ...answer, of: parts.face.kind, items: items.map((stored) => parts.face.shown(stored)), warnings }

  async function removeListed(stored: Stored): Promise<void> {
    const { name, namespace = '' } = stored.object.metadata
    const one = { ...request, target: { ...request.target, name, namespace } }
    await removeOne(parts, one, stored, options).catch((error: unknown) => {
      if (!hasReason(error, 'NotFound')) throw error
    })
  }
}

async function removeOne(
  parts: ResourceParts,
  request: ResourceRequest,
  cached: Stored | undefined,
  options: Partial<DeleteOptions>,
  isAdmitted = false,
): Promise<Deleted> {
  const { kind } = parts
  const { namespace, name } = request.target
  const { signal, cause } = request.context
  let current = cached
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(parts, namespace, name, signal)
    if (current === undefined) throw notFound(kind, name)
    checkPreconditions(parts, current, options)
    if (!isAdmitted) await admitDeletion(parts, request, current.object, options)
    const marked = mark(parts, current.object, options)
    const gone = marked === undefined
    if (isDryRun(request) || options.dryRun?.includes('All') || marked === current.object)
      return { stored: current, gone }
    const write = {
      operation: gone ? 'delete' : 'put',
      object: marked ?? current.object,
      expected: current.revision,
    } as const
    const stored = await commitWrite(parts, write, cause, signal)
    if (stored !== undefined) return { stored, gone }
    if (tries === deleteTries) throw modifiedConflict(kind, name)
  }
}

async function admitDeletion(
  parts: ResourceParts,
  request: ResourceRequest,
  current: ApiObject,
  options: Partial<DeleteOptions>,
): Promise<void> {
  const dryRun = isDryRun(request) || (options.dryRun?.includes('All') ?? false)
  const attributes = { ...attributesOf(parts, request, 'delete', undefined, current), options, dryRun }
  passed(parts, request, 'reading')
  await parts.admission.admit(attributes)
  passed(parts, request, 'mutating')
  await parts.admission.validate(attributes)
  passed(parts, request, 'validating')
}

/** The object with its deletion mark; the same object when it is marked already; undefined when it can go now. */
function mark(
  { strategy, clock }: ResourceParts,
  object: ApiObject,
  options: Partial<DeleteOptions>,
): ApiObject | undefined {
  const graceSeconds = strategy?.graceSeconds?.(object, options) ?? 0
  const finalizers = withPropagation(
    object.metadata.finalizers ?? [],
    options,
    strategy?.orphansDependents !== undefined,
  )
  const isHeld = finalizers.length > 0 || (strategy?.isHeld?.(object) ?? false)
  if (graceSeconds === 0 && !isHeld) return undefined
  const { deletionTimestamp, deletionGracePeriodSeconds: earlierSeconds } = object.metadata
  // A second deletion may shorten the grace, never lengthen it.
  if (deletionTimestamp !== undefined && graceSeconds >= (earlierSeconds ?? 0)) return object
  const metadata = {
    ...object.metadata,
    ...(finalizers.length === 0 ? {} : { finalizers }),
    deletionTimestamp: rfc3339(clock.nowMs() + graceSeconds * 1000),
    deletionGracePeriodSeconds: graceSeconds,
    ...(object.metadata.generation === undefined ? {} : { generation: object.metadata.generation + 1 }),
  }
  const marked = { ...object, metadata }
  return strategy?.markDeleted?.(marked) ?? marked
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

/** What a client that did not say what becomes of dependents is told. */
function orphanWarnings(
  { strategy }: ResourceParts,
  { propagationPolicy, orphanDependents }: Partial<DeleteOptions>,
): readonly string[] {
  const { warning } = strategy?.orphansDependents ?? {}
  return warning === undefined || propagationPolicy !== undefined || orphanDependents !== undefined ? [] : [warning]
}

function checkPreconditions(
  { kind }: ResourceParts,
  { object, revision }: Stored,
  { preconditions }: Partial<DeleteOptions>,
): void {
  const { name, uid } = object.metadata
  const failed = (what: string, wanted: string, is: string) =>
    conflict(kind, name, `Precondition failed: ${what} in precondition: ${wanted}, ${what} in object meta: ${is}`)
  if (preconditions?.uid !== undefined && preconditions.uid !== uid) throw failed('UID', preconditions.uid, uid)
  if (preconditions?.resourceVersion !== undefined && preconditions.resourceVersion !== String(revision))
    throw failed('ResourceVersion', preconditions.resourceVersion, String(revision))
}

/** The options of the body, or without one those of the query. */
function optionsOf({ query }: ResourceRequest, body: unknown): Partial<DeleteOptions> {
  const options = body === undefined ? optionsInQuery(query) : decodeBody(deleteOptions, 'DeleteOptions', body)
  const { propagationPolicy, orphanDependents, dryRun = [] } = options
  const errors: FieldError[] = []
  if (propagationPolicy !== undefined && orphanDependents !== undefined)
    errors.push(
      invalid('propagationPolicy', propagationPolicy, 'orphanDependents and deletionPropagation cannot be both set'),
    )
  if (propagationPolicy !== undefined && !policies.includes(propagationPolicy))
    errors.push(notSupported('propagationPolicy', propagationPolicy, [...policies, 'nil']))
  append(errors, dryRunErrors(dryRun))
  if (errors.length > 0) throw invalidObject('meta.k8s.io', 'DeleteOptions', '', errors)
  return options
}

const policies = ['Foreground', 'Background', 'Orphan']

function optionsInQuery(query: URLSearchParams): Partial<DeleteOptions> {
  const grace = query.get('gracePeriodSeconds')
  const propagationPolicy = query.get('propagationPolicy')
  return {
    ...(grace === null ? {} : { gracePeriodSeconds: integerOf(grace) }),
    ...(propagationPolicy === null ? {} : { propagationPolicy }),
    ...(query.has('orphanDependents') ? { orphanDependents: booleanOf(query, 'orphanDependents') } : {}),
    ...(query.has('dryRun') ? { dryRun: query.getAll('dryRun') } : {}),
  }
}
