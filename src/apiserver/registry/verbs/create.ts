// Create: decode, complete, mutate, validate, commit. A generated name that is taken is generated again.
import type { Context } from '../../../base/observability/context.ts'
import { rfc3339 } from '../../../base/time/clock.ts'
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import { yieldToPeers } from '../../../base/async/yield-to-peers.ts'
import { nameSuffix, newUid } from '../../../base/random/ids.ts'
import { alreadyExists, badRequest, conflict, forbidden, StatusError } from '../../../api/errors/status-error.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import { namespaceOf, type ApiObject } from '../../../api/meta/object.ts'
import { isJsonObject, without } from '../../../schema/json/json-value.ts'
import type { AdmissionAttributes } from '../../admission/framework/admission-plugin.ts'
import type { Reservation } from '../../admission/framework/reservation.ts'
import { decodeObject, type DecodedObject } from '../../objects/decode-object.ts'
import { initialEntries, managedFieldsAfterUpdate, type ManagedFields } from '../../objects/managed-fields.ts'
import { withUsedMetadata } from '../../objects/sent-metadata.ts'
import { concat, throwIfInvalid, validateObject } from '../../objects/validate-object.ts'
import { revisionProblem } from '../../request/list-options.ts'
import { isDryRun, type ResourceRequest } from '../../request/request.ts'
import { writeOptionsOf } from '../../request/write-options.ts'
import type { StoredObject } from '../../storage/stored-object.ts'
import { commitWrite, dryRunWrite } from './commit.ts'
import { fieldTrackingOf } from './field-tracking.ts'
import { ObjectVersions } from '../resource/object-versions.ts'
import { readStored, recordStage, strategyContextOf, type ResourceDeps } from '../resource/resource-deps.ts'
import { admissionAttributesOf } from './write-admission.ts'
import { step } from './step.ts'
import { checkName, strictErrorsOf, withManagedFields, type WriteInput, type WriteResult } from './write.ts'

const generateNameTries = 8

function createWhileTerminating(kind: Kind, { target }: ResourceRequest, { body }: WriteInput): StatusError {
  const { name } = (isJsonObject(body) && isJsonObject(body['metadata']) ? body['metadata'] : {}) as { name?: string }
  const detail = 'create not allowed while custom resource definition is terminating'
  return forbidden(kind, target.name || (name ?? ''), detail)
}

export async function create(deps: ResourceDeps, request: ResourceRequest, input: WriteInput): Promise<WriteResult> {
  const { kind } = deps
  if (deps.isTerminating()) throw createWhileTerminating(kind, request, input)
  await yieldToPeers()
  const decoded = decodeNew(deps, request, input)
  const { object: sent, warnings } = decoded instanceof Promise ? await decoded : decoded
  await yieldToPeers()
  const base = withServerMetadata(deps, request, kind.complete?.(sent) ?? sent)
  for (let tries = 1; ; tries++) {
    const attributes = await prepareCreate(deps, request, withName(deps, base))
    const { object, recorder } = attributes
    const allWarnings = concat(concat(warnings, recorder.warnings), kind.warnings?.(object) ?? [])
    await yieldToPeers()
    const stored = await deps.admission.reserving(attributes, (reserved) =>
      isDryRun(request) ? createDry(deps, object, request.context) : commitNew(deps, object, reserved, request.context),
    )
    if (stored !== undefined) return { stored, warnings: allWarnings }
    if (base.metadata.name !== undefined || tries === generateNameTries)
      throw await existsError(deps, object, request.context)
  }
}

/** Undefined where the name is taken. As upstream, the result has the revision that was sent. */
const createDry = async (deps: ResourceDeps, object: ApiObject, context: Context): Promise<StoredObject | undefined> =>
  (await readNamed(deps, object, context)) === undefined
    ? dryRunWrite(deps, object, sentRevision(object), context)
    : undefined

/** As upstream: only the write itself rejects a revision. Any other text is ignored. */
function commitNew(
  deps: ResourceDeps,
  object: ApiObject,
  reserved: readonly Reservation[],
  { cause, signal }: Context,
): Promise<StoredObject | undefined> {
  if (sentRevision(object) !== 0)
    throw new StatusError(500, '', 'resourceVersion should not be set on objects to be created')
  return commitWrite(deps, { operation: 'put', object, expected: 0, reserved }, cause, signal)
}

/** 0 without a resourceVersion, and where it is not a number. */
const sentRevision = ({ metadata: { resourceVersion } }: ApiObject): number =>
  resourceVersion && revisionProblem(resourceVersion) === undefined ? Number(resourceVersion) : 0

const readNamed = (deps: ResourceDeps, object: ApiObject, context: Context): Promise<StoredObject | undefined> =>
  readStored(deps, namespaceOf(object), object.metadata.name, context)

async function existsError(deps: ResourceDeps, object: ApiObject, context: Context): Promise<StatusError> {
  const error = alreadyExists(deps.kind, object.metadata.name)
  const existing = await readNamed(deps, object, context)
  return existing?.object.metadata.deletionTimestamp === undefined
    ? error
    : new StatusError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details)
}

/** The object that was sent, in the stored version, with the entries of its managers. */
function decodeNew(deps: ResourceDeps, request: ResourceRequest, input: WriteInput): MaybePromise<DecodedObject> {
  const { kind, converter, interning } = deps
  const decoded = step(deps, request, () =>
    decodeObject(
      converter.kind,
      input.body,
      writeOptionsOf(request).fieldValidation,
      strictErrorsOf(request),
      undefined,
      converter.kind === kind ? interning : undefined,
      input,
    ),
  )
  return thenMaybe(decoded, (known) =>
    step(deps, request, () => withManagers(deps, request, withUsedMetadata(known), input)),
  )
}

function withManagers(
  deps: ResourceDeps,
  request: ResourceRequest,
  { object: sent, warnings }: DecodedObject,
  input: WriteInput,
): MaybePromise<DecodedObject> {
  const { converter, codec } = deps
  const versions = codec && new ObjectVersions(codec, request.context)
  const computed = () => managedFieldsOfNew(deps, request, sent, versions)
  const managedFields =
    input.managedFields ?? (versions === undefined ? computed() : versions.resolve(computed, () => []))
  return thenMaybe(managedFields, (known) => ({
    object: withManagedFields(converter.toStored(sent), known),
    warnings,
  }))
}

/** Mutates and validates the object; returns it with the attributes of the admission request. */
async function prepareCreate(
  deps: ResourceDeps,
  request: ResourceRequest,
  named: ApiObject,
): Promise<AdmissionAttributes & { readonly object: ApiObject }> {
  const { kind, strategy, interning, admission, clock } = deps
  const attributes = admissionAttributesOf(deps, request, 'create', named, undefined)
  recordStage(deps, request, 'reading')
  const mutated = (await step(deps, request, () => admission.admit(attributes))) ?? named
  recordStage(deps, request, 'mutating')
  const object = await step(deps, request, () => {
    const admitted = withInitialStatus(kind, interning?.internAdmitted(named, mutated) ?? mutated)
    const prepared = strategy?.prepareCreate?.(admitted, strategyContextOf(deps, request)) ?? admitted
    const errors = validateObject(kind, prepared, undefined, clock, request.context.signal)
    return thenMaybe(errors, (known) => {
      throwIfInvalid(kind, prepared, known)
      return prepared
    })
  })
  recordStage(deps, request, 'validation')
  const final = { ...attributes, object, name: object.metadata.name }
  await step(deps, request, () => admission.validate(final))
  recordStage(deps, request, 'validating')
  return final
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

function managedFieldsOfNew(
  deps: ResourceDeps,
  request: ResourceRequest,
  sent: ApiObject,
  versions: ObjectVersions | undefined,
): ManagedFields {
  const entries = initialEntries([], sent.metadata.managedFields, '')
  return managedFieldsAfterUpdate(entries, {}, sent, fieldTrackingOf(deps, request, versions))
}

/** Only the server sets these. */
const serverFields = ['uid', 'creationTimestamp', 'deletionTimestamp', 'deletionGracePeriodSeconds'] as const

function withServerMetadata(
  { kind, clock, random }: ResourceDeps,
  { target }: ResourceRequest,
  sent: ApiObject,
): ApiObject {
  const { namespace } = sent.metadata
  if (kind.namespaced && namespace !== undefined && namespace !== target.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`)
  let rest: Partial<ApiObject['metadata']> = sent.metadata
  for (const name of serverFields) if (name in rest) rest = without(rest, name)
  if (!kind.namespaced && namespace !== undefined) rest = without(rest, 'namespace')
  const metadata: Record<string, unknown> = { ...rest }
  if (kind.namespaced) metadata['namespace'] = target.namespace
  metadata['uid'] = newUid(random)
  metadata['creationTimestamp'] = rfc3339(clock.nowMs())
  if (kind.countsGenerations) metadata['generation'] = 1
  return { ...sent, metadata } as unknown as ApiObject
}

/** The initial status is derived from the mutated object. What a client sent as the status is ignored. */
function withInitialStatus(kind: Kind, object: ApiObject): ApiObject {
  if (!kind.hasStatus) return object
  const status = kind.schema.newStatus(kind.initialStatus?.(object))
  return status === undefined
    ? without(object as ApiObject & { status?: unknown }, 'status')
    : ({ ...object, status } as ApiObject)
}

const generatedPrefixCharactersMax = 58

function withName({ random, kind }: ResourceDeps, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata
  if (name !== undefined || generateName === undefined) return object
  const prefix = generateName.slice(0, generatedPrefixCharactersMax)
  const metadata = { ...object.metadata, name: prefix + nameSuffix(random) }
  return kind.applyDefaults({ ...object, metadata })
}
