// Create and update: ingest, prepare, admit, validate, commit; again from the newest version when someone was faster.
import { abreast } from '../../base/abreast.ts'
import { rfc3339 } from '../../base/clock.ts'
import { newUid, nameSuffix } from '../../base/ids.ts'
import type { Kind } from '../../api/kind.ts'
import { validateMetadata, validateMetadataUpdate } from '../../api/metadata.ts'
import { namespaceOf, objectKey, type ApiObject } from '../../api/object.ts'
import type { StatusError } from '../../api/status-error.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  invalidObject,
  modifiedConflict,
  notFound,
} from '../../api/status-error.ts'
import type { FieldError } from '../../schema/field-error.ts'
import { withDefaults } from '../../schema/defaults.ts'
import { equalBut, equalValues, isJsonObject, without } from '../../schema/json-value.ts'
import { validateFields } from '../../schema/validate.ts'
import { AdmissionNotes } from '../admission/notes.ts'
import type { AdmissionAttributes } from '../admission/plugin.ts'
import type { Posted } from '../admission/posted.ts'
import { Reinvocation } from '../admission/reinvocation.ts'
import { userNamed, type StrictErrors } from '../request.ts'
import { Draft, Stored } from '../stored.ts'
import { storeKey } from './keys.ts'
import { ingest } from './ingest.ts'
import { withKeptMetadata } from './kept-metadata.ts'
import { afterUpdate, sameButTimes, startingEntries, type ManagedFields } from './managed-fields.ts'
import {
  commitWrite,
  isDryRun,
  passed,
  readStored,
  worldOf,
  type ResourceParts,
  type ResourceRequest,
} from './parts.ts'
import { withStatusOf } from './status-part.ts'
import { trackingOf } from './tracking.ts'
import { writeOptionsOf } from './write-options.ts'

export interface Written {
  readonly stored: Stored
  readonly warnings: readonly string[]
}

const generateNameTries = 8
const updateTries = 16
const nobody = userNamed('')

/** What a client asks for, and who will own which of its fields; without that it is worked out from what changes. */
export interface Asked {
  readonly body: unknown
  readonly managedFields?: ManagedFields
}

const strictErrorsOf = ({ body }: ResourceRequest): StrictErrors | undefined =>
  body.kind === 'value' ? body.strictErrors : undefined

/** A request that may hold the event loop for long waits for its turn before each step. */
const nextStep = ({ pace }: ResourceRequest): Promise<void> => pace?.() ?? abreast()

export async function create(parts: ResourceParts, request: ResourceRequest, asked: Asked): Promise<Written> {
  const { kind, strategy, face, loop, clock } = parts
  const { fieldValidation } = writeOptionsOf(request)
  await nextStep(request)
  const readMs = clock.monotonicMs()
  const { object: asSent, warnings: sentWarnings } = ingest(
    face.kind,
    asked.body,
    fieldValidation,
    strictErrorsOf(request),
    undefined,
    face.kind === kind ? parts.alike : undefined,
  )
  const managedFields = asked.managedFields ?? managedOfNew(parts, request, asSent)
  const sent = withManagedFields(face.toStored(asSent), managedFields)
  if (sent.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
  loop.stepDone(request, readMs, clock.monotonicMs())
  await nextStep(request)
  const base = asNew(parts, request, kind.complete?.(sent) ?? sent)
  for (let tries = 1; ; tries++) {
    const named = withName(parts, base)
    const attributes = attributesOf(parts, request, 'create', named, undefined)
    const admitMs = passed(parts, request, 'reading')
    const answer = parts.admission.admit(attributes)
    const changed = (answer instanceof Promise ? await answer : answer) ?? named
    const admitted = withInitialStatus(kind, parts.alike?.admitted(named, changed) ?? changed)
    const validateMs = passed(parts, request, 'mutating')
    if (!(answer instanceof Promise)) loop.stepDone(request, admitMs, validateMs)
    if (request.pace !== undefined) await request.pace()
    const object = strategy?.prepareCreate?.(admitted, worldOf(parts, request)) ?? admitted
    refuseInvalid(kind, object, validateObject(kind, object))
    const validatedMs = passed(parts, request, 'validation')
    loop.stepDone(request, validateMs, validatedMs)
    if (request.pace !== undefined) await request.pace()
    const final = { ...attributes, object, name: object.metadata.name }
    const verdict = parts.admission.validate(final)
    if (verdict instanceof Promise) await verdict
    const endMs = passed(parts, request, 'validating')
    if (!(verdict instanceof Promise)) loop.stepDone(request, validatedMs, endMs)
    const warnings = both(both(sentWarnings, attributes.notes.warnings), kind.warnings?.(object) ?? [])
    await nextStep(request)
    const stored = await parts.admission.reserving(final, (reserved) =>
      isDryRun(request)
        ? Promise.resolve(preview(object, 0))
        : commitWrite(
            parts,
            { operation: 'put', object, expected: 0, reserved },
            request.context.cause,
            request.context.signal,
          ),
    )
    if (stored !== undefined) return { stored, warnings }
    if (base.metadata.name !== undefined || tries === generateNameTries) throw alreadyExists(kind, object.metadata.name)
  }
}

/** An update of an object that does not exist. */
export function createByUpdate(parts: ResourceParts, request: ResourceRequest, body: unknown): Promise<Written> {
  const metadata = isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}
  const { uid } = metadata
  refuseOtherName(metadata, request)
  if (uid)
    throw conflict(
      parts.kind,
      request.target.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
    )
  return create(parts, request, { body: { ...(body as object), metadata: without(metadata, 'resourceVersion') } })
}

function managedOfNew(parts: ResourceParts, request: ResourceRequest, sent: ApiObject): ManagedFields {
  const entries = startingEntries([], sent.metadata.managedFields, '')
  return afterUpdate(entries, {}, sent, trackingOf(parts, request))
}

// Copying all but some fields is slow where copying all is not: it is done only where there is something to leave out.
function withManagedFields(object: ApiObject, managedFields: ManagedFields): ApiObject {
  const { metadata } = object
  if (managedFields.length > 0) return { ...object, metadata: { ...metadata, managedFields } }
  return metadata.managedFields === undefined ? object : { ...object, metadata: without(metadata, 'managedFields') }
}

/** What only the server gives. */
const givenFields = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function asNew({ kind, clock, random }: ResourceParts, { target }: ResourceRequest, sent: ApiObject): ApiObject {
  const { namespace } = sent.metadata
  if (namespace !== undefined && namespace !== target.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`)
  let rest: Partial<ApiObject['metadata']> = sent.metadata
  for (const name of givenFields) if (name in rest) rest = without(rest, name)
  const metadata: Record<string, unknown> = { ...rest }
  if (kind.namespaced) metadata['namespace'] = target.namespace
  metadata['uid'] = newUid(random)
  metadata['creationTimestamp'] = rfc3339(clock.nowMs())
  if (kind.countsGenerations) metadata['generation'] = 1
  return { ...sent, metadata } as unknown as ApiObject
}

/** The first status follows from what admission made of the object; one that is nearly empty has its structs and zeros. */
function withInitialStatus(kind: Kind, object: ApiObject): ApiObject {
  if (!kind.hasStatus) return object
  const initial = { status: kind.initialStatus?.(object) ?? {} }
  const { status } = withDefaults(kind.message, initial)
  return { ...object, status } as ApiObject
}

function withName({ random, kind }: ResourceParts, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata
  if (name !== undefined || generateName === undefined) return object
  const metadata = { ...object.metadata, name: generateName.slice(0, 58) + nameSuffix(random) }
  return kind.applyDefaults({ ...object, metadata })
}

/** What an update makes of the present version. It may run several times. */
export type Transform = (current: ApiObject) => Asked

export interface UpdateOptions {
  /** Which part may change: the whole object, its status alone, or what a subresource takes over. */
  readonly part: 'object' | 'status' | ((sent: ApiObject, old: ApiObject) => ApiObject)
  /** What admission sees in place of the object. */
  readonly lens?: Lens
}

export interface Lens {
  readonly posted: Posted
  of(object: ApiObject): ApiObject
  into(object: ApiObject, seen: ApiObject): ApiObject
}

export async function update(
  parts: ResourceParts,
  request: ResourceRequest,
  transform: Transform,
  options: UpdateOptions,
): Promise<Written> {
  const { kind, cache, face, loop, clock } = parts
  const { namespace, name } = request.target
  const { signal, cause } = request.context
  const { fieldValidation } = writeOptionsOf(request)
  await nextStep(request)
  let current = cache.get(objectKey(namespace, name))
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(parts, namespace, name, signal)
    if (current === undefined) throw notFound(kind, name)
    const changeMs = clock.monotonicMs()
    const shown = face.shown(current).object
    const asked = transform(shown)
    loop.stepDone(request, changeMs, clock.monotonicMs())
    await nextStep(request)
    const readMs = clock.monotonicMs()
    const { object: asSent, warnings: sentWarnings } = ingest(
      face.kind,
      asked.body,
      fieldValidation,
      strictErrorsOf(request),
      shown,
    )
    const managedFields = asked.managedFields ?? managedOfUpdate(parts, request, asSent, shown, options.part)
    const sent = withManagedFields(face.toStored(asSent), managedFields)
    const stale = staleness(kind, sent, current)
    if (stale !== undefined) {
      if (tries > 1) throw stale
      continue // the cache may lag behind what the client has seen
    }
    loop.stepDone(request, readMs, clock.monotonicMs())
    await nextStep(request)
    const notes = new AdmissionNotes(request.record)
    const attributes = await prepareUpdate(parts, request, sent, current.object, options, notes)
    const { object } = attributes
    const told = options.part === 'object' ? (kind.warnings?.(object, current.object) ?? []) : []
    const warnings = both(both(sentWarnings, notes.warnings), told)
    if (changesNothing(object, current.object) && !liesUnderOldKey(parts, current)) return { stored: current, warnings }
    const operation = isReleased(parts, object) ? 'delete' : 'put'
    const expected = current.revision
    const stored = await parts.admission.reserving(attributes, (reserved) =>
      isDryRun(request)
        ? Promise.resolve(preview(object, expected))
        : commitWrite(parts, { operation, object, expected, reserved }, cause, signal),
    )
    if (stored !== undefined) return { stored, warnings }
    if (tries === updateTries) throw modifiedConflict(kind, name)
  }
}

/** A write that changes nothing changes at least the key under which the object is encrypted. */
function liesUnderOldKey({ store, kind }: ResourceParts, { object, bytes }: Stored): boolean {
  return store.isStale?.(storeKey(kind, namespaceOf(object), object.metadata.name), bytes) ?? false
}

function managedOfUpdate(
  parts: ResourceParts,
  request: ResourceRequest,
  sent: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
): ManagedFields {
  const live = old.metadata.managedFields ?? []
  const entries = startingEntries(live, sent.metadata.managedFields, request.target.subresource)
  // An object without managers stays without, until somebody applies it.
  if (entries.length === 0) return []
  const next = typeof part === 'function' ? part(sent, old) : sent
  return afterUpdate(entries, old, next, trackingOf(parts, request))
}

/** Times alone are no change: a write that has no other keeps the version. */
const changesNothing = (object: ApiObject, old: ApiObject): boolean =>
  equalBut(object, old, 'metadata') &&
  equalBut(object.metadata, old.metadata, 'managedFields') &&
  sameButTimes(object.metadata.managedFields ?? [], old.metadata.managedFields ?? [])

function staleness(kind: Kind, sent: ApiObject, current: Stored): StatusError | undefined {
  const { resourceVersion, uid, name } = sent.metadata
  if (uid !== undefined && uid !== current.object.metadata.uid)
    return conflict(
      kind,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${current.object.metadata.uid}`,
    )
  if (resourceVersion !== undefined && resourceVersion !== '' && resourceVersion !== String(current.revision))
    return modifiedConflict(kind, name)
  return undefined
}

async function prepareUpdate(
  parts: ResourceParts,
  request: ResourceRequest,
  sent: ApiObject,
  old: ApiObject,
  { part, lens }: UpdateOptions,
  notes: AdmissionNotes,
): Promise<AdmissionAttributes & { readonly object: ApiObject }> {
  const { kind, strategy, loop } = parts
  refuseOtherName(sent.metadata, request)
  const asked = mergedPart(kind, sent, old, part)
  const admitMs = passed(parts, request, 'reading')
  const merged = lens === undefined ? asked : await admittedThrough(parts, request, lens, notes, asked, old)
  const prepared =
    part === 'object' ? (strategy?.prepareUpdate?.(merged, old, worldOf(parts, request)) ?? merged) : merged
  const counted = part === 'object' && kind.countsGenerations ? withGeneration(kind, prepared, old) : prepared
  const attributes = attributesOf(parts, request, 'update', counted, old, notes)
  const answer = lens === undefined ? parts.admission.admit(attributes) : undefined
  const object = (answer instanceof Promise ? await answer : answer) ?? counted
  const validateMs = passed(parts, request, 'mutating')
  if (lens === undefined && !(answer instanceof Promise)) loop.stepDone(request, admitMs, validateMs)
  if (request.pace !== undefined) await request.pace()
  refuseInvalid(kind, object, updateErrors(kind, object, old, part))
  const validatedMs = passed(parts, request, 'validation')
  loop.stepDone(request, validateMs, validatedMs)
  if (request.pace !== undefined) await request.pace()
  const final = { ...attributes, object }
  const verdict = parts.admission.validate(lens === undefined ? final : throughLens(lens, final, object, old))
  if (verdict instanceof Promise) await verdict
  const endMs = passed(parts, request, 'validating')
  if (!(verdict instanceof Promise)) loop.stepDone(request, validatedMs, endMs)
  return final
}

function updateErrors(
  kind: Kind,
  object: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
): readonly FieldError[] {
  const isChecked = part !== 'status' || !kind.validatesNoStatus
  const errors = both(
    isChecked ? validateObject(kind, object, old) : validateShape(kind, object),
    validateMetadataUpdate(object, old),
  )
  if (part === 'object') return both(errors, kind.validateUpdate(object, old))
  if (part !== 'status' || kind.validateStatusUpdate === undefined) return errors
  return both(errors, kind.validateStatusUpdate(object, old))
}

const throughLens = (lens: Lens, attributes: AdmissionAttributes, object: ApiObject, old: ApiObject) => ({
  ...attributes,
  posted: lens.posted,
  object: lens.of(object),
  old: lens.of(old),
})

async function admittedThrough(
  parts: ResourceParts,
  request: ResourceRequest,
  lens: Lens,
  notes: AdmissionNotes,
  object: ApiObject,
  old: ApiObject,
): Promise<ApiObject> {
  const attributes = attributesOf(parts, request, 'update', object, old, notes)
  const shown = throughLens(lens, attributes, object, old)
  const admitted = await parts.admission.admit(shown)
  return admitted === undefined || admitted === shown.object ? object : lens.into(object, admitted)
}

/** The object must be the one that the URL names. */
export function refuseOtherName(
  { name, namespace }: Partial<ApiObject['metadata']>,
  { target }: ResourceRequest,
): void {
  if (!name)
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`)
  if (name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`)
  if (target.resource.namespaced && namespace && namespace !== target.namespace)
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${target.namespace})`,
    )
}

function mergedPart(kind: Kind, sent: ApiObject, old: ApiObject, part: UpdateOptions['part']): ApiObject {
  if (typeof part === 'function') return withManagedFields(part(sent, old), sent.metadata.managedFields ?? [])
  const kept = withKeptParts(kind, kind.complete?.(sent) ?? sent, old)
  return part === 'status' ? withStatusOf(kind, kept, sent, old) : kept
}

// What the client does not decide: identity, times, and the status where it has a door of its own.
function withKeptParts(kind: Kind, sent: ApiObject, old: ApiObject): ApiObject {
  const metadata = withKeptMetadata(sent.metadata, old.metadata)
  const object = { ...sent, metadata }
  return kind.hasStatus ? ({ ...object, status: (old as { status?: unknown }).status } as ApiObject) : object
}

function withGeneration({ countsAnnotations }: Kind, object: ApiObject, old: ApiObject): ApiObject {
  const isCounted = countsAnnotations && !equalValues(object.metadata.annotations, old.metadata.annotations)
  if (!isCounted && equalValues(contentOf(object), contentOf(old))) return object
  return { ...object, metadata: { ...object.metadata, generation: (old.metadata.generation ?? 0) + 1 } }
}

/** What a generation counts the changes of: the spec, or all but metadata and status where there is none. */
function contentOf(object: ApiObject): unknown {
  if ('spec' in object) return object.spec
  return without(without(object as ApiObject & { status?: unknown }, 'metadata'), 'status')
}

/** Nothing holds the object any longer: the last finalizer is gone from one that was marked for deletion. */
function isReleased({ strategy }: ResourceParts, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined || finalizers.length > 0 || (deletionGracePeriodSeconds ?? 0) > 0) return false
  return !(strategy?.isHeld?.(object) ?? false)
}

export const validateObject = (kind: Kind, object: ApiObject, old?: ApiObject): readonly FieldError[] =>
  both(validateShape(kind, object), kind.validate(object, old))

const validateShape = (kind: Kind, object: ApiObject): readonly FieldError[] =>
  both(validateMetadata(object, kind), validateFields(kind.message, object))

/** Most of the time there is nothing to say, and nothing to put together. */
const both = <T>(some: readonly T[], more: readonly T[]): readonly T[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more]

export function refuseInvalid(kind: Kind, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
}

export function attributesOf(
  { kind, face }: { readonly kind: Kind; readonly face: { readonly kind: Kind } },
  request: ResourceRequest,
  operation: AdmissionAttributes['operation'],
  object: ApiObject | undefined,
  old: ApiObject | undefined,
  notes = new AdmissionNotes(request.record),
): AdmissionAttributes {
  const { target, user = nobody, context } = request
  const { namespace, subresource } = target
  return {
    operation,
    kind,
    requested: face.kind,
    namespace,
    name: object?.metadata.name ?? target.name,
    subresource,
    user,
    dryRun: isDryRun(request),
    posted: undefined,
    options: request.query,
    object,
    old,
    notes,
    reinvocation: new Reinvocation(),
    signal: context.signal,
    cause: context.cause,
  }
}

/** An answer to a dry run: the object as it would be, without a new revision. */
const preview = (object: ApiObject, revision: number): Stored => new Stored(new Draft(object), revision)
