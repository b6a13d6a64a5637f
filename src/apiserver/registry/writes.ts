// Create and update: ingest, prepare, admit, validate, commit; again from the newest version when someone was faster.
import { yieldToPeers } from '../../base/async/yield-to-peers.ts'
import { rfc3339 } from '../../base/time/clock.ts'
import { newUid, nameSuffix } from '../../base/random/ids.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { validateMetadata, validateMetadataUpdate } from '../../api/validation/metadata-rules.ts'
import { objectKey, type ApiObject } from '../../api/meta/object.ts'
import type { StatusError } from '../../api/errors/status-error.ts'
import {
  alreadyExists,
  badRequest,
  conflict,
  invalidObject,
  modifiedConflict,
  notFound,
} from '../../api/errors/status-error.ts'
import type { FieldError } from '../../schema/validation/field-error.ts'
import { withDefaults } from '../../schema/decoding/defaults.ts'
import { equalExcept, equalValues, isJsonObject, without } from '../../schema/json/json-value.ts'
import { validateFields } from '../../schema/validation/validate.ts'
import { AdmissionRecorder } from '../admission/framework/admission-recorder.ts'
import type { AdmissionAttributes } from '../admission/framework/admission-plugin.ts'
import type { SubresourceObject } from '../admission/framework/subresource-object.ts'
import { ReinvocationContext } from '../admission/framework/reinvocation.ts'
import { userWithName, type StrictErrors } from '../request/request.ts'
import { StoredObject } from '../storage/stored-object.ts'
import { storeKey } from '../storage/store-keys.ts'
import { decodeObject } from '../objects/decode-object.ts'
import { withPreservedMetadata } from '../objects/preserved-metadata.ts'
import {
  managedFieldsAfterUpdate,
  equalExceptTimes,
  initialEntries,
  type ManagedFields,
} from '../objects/managed-fields.ts'
import {
  commitWrite,
  isDryRun,
  recordStage,
  readStored,
  strategyContextOf,
  type ResourceDeps,
  type ResourceRequest,
} from './resource-deps.ts'
import { withStatusUpdate } from '../objects/status-update.ts'
import { fieldTrackingOf } from './field-tracking.ts'
import { writeOptionsOf } from '../request/write-options.ts'

export interface WriteResult {
  readonly stored: StoredObject
  readonly warnings: readonly string[]
}

const generateNameTries = 8
const updateTries = 16
const noUser = userWithName('')

/** What a client asks for, and who will own which of its fields; without that it is worked out from what changes. */
export interface WriteInput {
  readonly body: unknown
  readonly managedFields?: ManagedFields
}

const strictErrorsOf = ({ body }: ResourceRequest): StrictErrors | undefined =>
  body.kind === 'value' ? body.strictErrors : undefined

/** A request that may hold the event loop for long waits for its turn before each step. */
const nextStep = ({ pace }: ResourceRequest): Promise<void> => pace?.() ?? yieldToPeers()

export async function create(deps: ResourceDeps, request: ResourceRequest, asked: WriteInput): Promise<WriteResult> {
  const { kind, strategy, converter: face, loop, clock } = deps
  const { fieldValidation } = writeOptionsOf(request)
  await nextStep(request)
  const readMs = clock.monotonicMs()
  const { object: asSent, warnings: sentWarnings } = decodeObject(
    face.kind,
    asked.body,
    fieldValidation,
    strictErrorsOf(request),
    undefined,
    face.kind === kind ? deps.interning : undefined,
  )
  const managedFields = asked.managedFields ?? managedFieldsOfNew(deps, request, asSent)
  const sent = withManagedFields(face.toStored(asSent), managedFields)
  if (sent.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
  loop.stepDone(request, readMs, clock.monotonicMs())
  await nextStep(request)
  const base = withServerMetadata(deps, request, kind.complete?.(sent) ?? sent)
  for (let tries = 1; ; tries++) {
    const named = withName(deps, base)
    const attributes = admissionAttributesOf(deps, request, 'create', named, undefined)
    const admitMs = recordStage(deps, request, 'reading')
    const answer = deps.admission.admit(attributes)
    const changed = (answer instanceof Promise ? await answer : answer) ?? named
    const admitted = withInitialStatus(kind, deps.interning?.internAdmitted(named, changed) ?? changed)
    const validateMs = recordStage(deps, request, 'mutating')
    if (!(answer instanceof Promise)) loop.stepDone(request, admitMs, validateMs)
    if (request.pace !== undefined) await request.pace()
    const object = strategy?.prepareCreate?.(admitted, strategyContextOf(deps, request)) ?? admitted
    throwIfInvalid(kind, object, validateObject(kind, object))
    const validatedMs = recordStage(deps, request, 'validation')
    loop.stepDone(request, validateMs, validatedMs)
    if (request.pace !== undefined) await request.pace()
    const final = { ...attributes, object, name: object.metadata.name }
    const verdict = deps.admission.validate(final)
    if (verdict instanceof Promise) await verdict
    const endMs = recordStage(deps, request, 'validating')
    if (!(verdict instanceof Promise)) loop.stepDone(request, validatedMs, endMs)
    const warnings = concat(concat(sentWarnings, attributes.recorder.warnings), kind.warnings?.(object) ?? [])
    await nextStep(request)
    const stored = await deps.admission.reserving(final, (reserved) =>
      isDryRun(request)
        ? Promise.resolve(dryRunResult(object, 0))
        : commitWrite(
            deps,
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
export function createByUpdate(deps: ResourceDeps, request: ResourceRequest, body: unknown): Promise<WriteResult> {
  const metadata = isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}
  const { uid } = metadata
  checkName(metadata, request)
  if (uid)
    throw conflict(
      deps.kind,
      request.target.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: `,
    )
  return create(deps, request, { body: { ...(body as object), metadata: without(metadata, 'resourceVersion') } })
}

function managedFieldsOfNew(deps: ResourceDeps, request: ResourceRequest, sent: ApiObject): ManagedFields {
  const entries = initialEntries([], sent.metadata.managedFields, '')
  return managedFieldsAfterUpdate(entries, {}, sent, fieldTrackingOf(deps, request))
}

// Copying all but some fields is slow where copying all is not: it is done only where there is something to leave out.
function withManagedFields(object: ApiObject, managedFields: ManagedFields): ApiObject {
  const { metadata } = object
  if (managedFields.length > 0) return { ...object, metadata: { ...metadata, managedFields } }
  return metadata.managedFields === undefined ? object : { ...object, metadata: without(metadata, 'managedFields') }
}

/** What only the server gives. */
const serverFields = [
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const

function withServerMetadata(
  { kind, clock, random }: ResourceDeps,
  { target }: ResourceRequest,
  sent: ApiObject,
): ApiObject {
  const { namespace } = sent.metadata
  if (namespace !== undefined && namespace !== target.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`)
  let rest: Partial<ApiObject['metadata']> = sent.metadata
  for (const name of serverFields) if (name in rest) rest = without(rest, name)
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

function withName({ random, kind }: ResourceDeps, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata
  if (name !== undefined || generateName === undefined) return object
  const metadata = { ...object.metadata, name: generateName.slice(0, 58) + nameSuffix(random) }
  return kind.applyDefaults({ ...object, metadata })
}

/** What an update makes of the present version. It may run several times. */
export type Transform = (current: ApiObject) => WriteInput

export interface UpdateOptions {
  /** Which part may change: the whole object, its status alone, or what a subresource takes over. */
  readonly part: 'object' | 'status' | ((sent: ApiObject, old: ApiObject) => ApiObject)
  /** What admission sees in place of the object. */
  readonly view?: SubresourceView
}

export interface SubresourceView {
  readonly posted: SubresourceObject
  of(object: ApiObject): ApiObject
  applyTo(object: ApiObject, seen: ApiObject): ApiObject
}

export async function update(
  deps: ResourceDeps,
  request: ResourceRequest,
  transform: Transform,
  options: UpdateOptions,
): Promise<WriteResult> {
  const { kind, cache, converter: face, loop, clock } = deps
  const { namespace, name } = request.target
  const { signal, cause } = request.context
  const { fieldValidation } = writeOptionsOf(request)
  await nextStep(request)
  let current = cache.get(objectKey(namespace, name))
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(deps, namespace, name, signal)
    if (current === undefined) throw notFound(kind, name)
    const changeMs = clock.monotonicMs()
    const shown = face.fromStored(current).object
    const asked = transform(shown)
    loop.stepDone(request, changeMs, clock.monotonicMs())
    await nextStep(request)
    const readMs = clock.monotonicMs()
    const { object: asSent, warnings: sentWarnings } = decodeObject(
      face.kind,
      asked.body,
      fieldValidation,
      strictErrorsOf(request),
      shown,
    )
    const managedFields = asked.managedFields ?? managedFieldsOfUpdate(deps, request, asSent, shown, options.part)
    const sent = withManagedFields(face.toStored(asSent), managedFields)
    const stale = stalenessError(kind, sent, current)
    if (stale !== undefined) {
      if (tries > 1) throw stale
      continue // the cache may lag behind what the client has seen
    }
    loop.stepDone(request, readMs, clock.monotonicMs())
    await nextStep(request)
    const recorder = new AdmissionRecorder(request.record)
    const attributes = await prepareUpdate(deps, request, sent, current.object, options, recorder)
    const { object } = attributes
    const told = options.part === 'object' ? (kind.warnings?.(object, current.object) ?? []) : []
    const warnings = concat(concat(sentWarnings, recorder.warnings), told)
    if (isUnchanged(object, current.object) && !isEncryptedWithOldKey(deps, current))
      return { stored: current, warnings }
    const operation = canBeRemoved(deps, object) ? 'delete' : 'put'
    const expected = current.revision
    const stored = await deps.admission.reserving(attributes, (reserved) =>
      isDryRun(request)
        ? Promise.resolve(dryRunResult(object, expected))
        : commitWrite(deps, { operation, object, expected, reserved }, cause, signal),
    )
    if (stored !== undefined) return { stored, warnings }
    if (tries === updateTries) throw modifiedConflict(kind, name)
  }
}

/** A write that changes nothing changes at least the key under which the object is encrypted. */
function isEncryptedWithOldKey({ store, kind }: ResourceDeps, stored: StoredObject): boolean {
  if (store.isStale === undefined) return false
  const { metadata } = stored.object
  return store.isStale(storeKey(kind, metadata.namespace ?? '', metadata.name), stored.bytes)
}

function managedFieldsOfUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  sent: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
): ManagedFields {
  const live = old.metadata.managedFields ?? []
  const entries = initialEntries(live, sent.metadata.managedFields, request.target.subresource)
  // An object without managers stays without, until somebody applies it.
  if (entries.length === 0) return []
  const next = typeof part === 'function' ? part(sent, old) : sent
  return managedFieldsAfterUpdate(entries, old, next, fieldTrackingOf(deps, request))
}

/** Times alone are no change: a write that has no other keeps the version. */
const isUnchanged = (object: ApiObject, old: ApiObject): boolean =>
  equalExcept(object, old, 'metadata') &&
  equalExcept(object.metadata, old.metadata, 'managedFields') &&
  equalExceptTimes(object.metadata.managedFields ?? [], old.metadata.managedFields ?? [])

function stalenessError(kind: Kind, sent: ApiObject, current: StoredObject): StatusError | undefined {
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
  deps: ResourceDeps,
  request: ResourceRequest,
  sent: ApiObject,
  old: ApiObject,
  { part, view: lens }: UpdateOptions,
  recorder: AdmissionRecorder,
): Promise<AdmissionAttributes & { readonly object: ApiObject }> {
  const { kind, strategy, loop } = deps
  checkName(sent.metadata, request)
  const asked = mergeSubresource(kind, sent, old, part)
  const admitMs = recordStage(deps, request, 'reading')
  const merged = lens === undefined ? asked : await admittedThrough(deps, request, lens, recorder, asked, old)
  const prepared =
    part === 'object' ? (strategy?.prepareUpdate?.(merged, old, strategyContextOf(deps, request)) ?? merged) : merged
  const counted = part === 'object' && kind.countsGenerations ? withGeneration(kind, prepared, old) : prepared
  const attributes = admissionAttributesOf(deps, request, 'update', counted, old, recorder)
  const answer = lens === undefined ? deps.admission.admit(attributes) : undefined
  const object = (answer instanceof Promise ? await answer : answer) ?? counted
  const validateMs = recordStage(deps, request, 'mutating')
  if (lens === undefined && !(answer instanceof Promise)) loop.stepDone(request, admitMs, validateMs)
  if (request.pace !== undefined) await request.pace()
  throwIfInvalid(kind, object, updateErrors(kind, object, old, part))
  const validatedMs = recordStage(deps, request, 'validation')
  loop.stepDone(request, validateMs, validatedMs)
  if (request.pace !== undefined) await request.pace()
  const final = { ...attributes, object }
  const verdict = deps.admission.validate(lens === undefined ? final : throughLens(lens, final, object, old))
  if (verdict instanceof Promise) await verdict
  const endMs = recordStage(deps, request, 'validating')
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
  const errors = concat(
    isChecked ? validateObject(kind, object, old) : validateShape(kind, object),
    validateMetadataUpdate(object, old),
  )
  if (part === 'object') return concat(errors, kind.validateUpdate(object, old))
  if (part !== 'status' || kind.validateStatusUpdate === undefined) return errors
  return concat(errors, kind.validateStatusUpdate(object, old))
}

const throughLens = (view: SubresourceView, attributes: AdmissionAttributes, object: ApiObject, old: ApiObject) => ({
  ...attributes,
  subresourceObject: view.posted,
  object: view.of(object),
  old: view.of(old),
})

async function admittedThrough(
  deps: ResourceDeps,
  request: ResourceRequest,
  view: SubresourceView,
  recorder: AdmissionRecorder,
  object: ApiObject,
  old: ApiObject,
): Promise<ApiObject> {
  const attributes = admissionAttributesOf(deps, request, 'update', object, old, recorder)
  const shown = throughLens(view, attributes, object, old)
  const admitted = await deps.admission.admit(shown)
  return admitted === undefined || admitted === shown.object ? object : view.applyTo(object, admitted)
}

/** The object must be the one that the URL names. */
export function checkName({ name, namespace }: Partial<ApiObject['metadata']>, { target }: ResourceRequest): void {
  if (!name)
    throw badRequest(`the name of the object (${target.name} based on URL) was undeterminable: name must be provided`)
  if (name !== target.name)
    throw badRequest(`the name of the object (${name}) does not match the name on the URL (${target.name})`)
  if (target.resource.namespaced && namespace && namespace !== target.namespace)
    throw badRequest(
      `the namespace of the object (${namespace}) does not match the namespace on the request (${target.namespace})`,
    )
}

function mergeSubresource(kind: Kind, sent: ApiObject, old: ApiObject, part: UpdateOptions['part']): ApiObject {
  if (typeof part === 'function') return withManagedFields(part(sent, old), sent.metadata.managedFields ?? [])
  const kept = withPreservedFields(kind, kind.complete?.(sent) ?? sent, old)
  return part === 'status' ? withStatusUpdate(kind, kept, sent, old) : kept
}

// What the client does not decide: identity, times, and the status where it has a door of its own.
function withPreservedFields(kind: Kind, sent: ApiObject, old: ApiObject): ApiObject {
  const metadata = withPreservedMetadata(sent.metadata, old.metadata)
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
function canBeRemoved({ strategy }: ResourceDeps, object: ApiObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds, finalizers = [] } = object.metadata
  if (deletionTimestamp === undefined || finalizers.length > 0 || (deletionGracePeriodSeconds ?? 0) > 0) return false
  return !(strategy?.isBlocked?.(object) ?? false)
}

export const validateObject = (kind: Kind, object: ApiObject, old?: ApiObject): readonly FieldError[] =>
  concat(validateShape(kind, object), kind.validate(object, old))

const validateShape = (kind: Kind, object: ApiObject): readonly FieldError[] =>
  concat(validateMetadata(object, kind), validateFields(kind.message, object))

/** Most of the time there is nothing to say, and nothing to put together. */
const concat = <T>(some: readonly T[], more: readonly T[]): readonly T[] =>
  some.length === 0 ? more : more.length === 0 ? some : [...some, ...more]

export function throwIfInvalid(kind: Kind, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
}

export function admissionAttributesOf(
  { kind, converter: face }: { readonly kind: Kind; readonly converter: { readonly kind: Kind } },
  request: ResourceRequest,
  operation: AdmissionAttributes['operation'],
  object: ApiObject | undefined,
  old: ApiObject | undefined,
  recorder = new AdmissionRecorder(request.record),
): AdmissionAttributes {
  const { target, user = noUser, context } = request
  const { namespace, subresource } = target
  return {
    operation,
    kind,
    requestKind: face.kind,
    namespace,
    name: object?.metadata.name ?? target.name,
    subresource,
    user,
    dryRun: isDryRun(request),
    subresourceObject: undefined,
    options: request.query,
    object,
    old,
    recorder,
    reinvocation: new ReinvocationContext(),
    signal: context.signal,
    cause: context.cause,
  }
}

/** An answer to a dry run: the object as it would be, without a new revision. */
const dryRunResult = (object: ApiObject, revision: number): StoredObject => StoredObject.ofObject(object, revision)
