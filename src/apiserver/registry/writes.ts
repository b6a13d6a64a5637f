// Create and update: ingest, prepare, admit, validate, commit; again from the newest version when someone was faster.
import { rfc3339 } from '../../base/clock.ts'
import { newUid, nameSuffix } from '../../base/ids.ts'
import type { Kind } from '../../api/kind.ts'
import { validateMetadata, validateMetadataUpdate } from '../../api/metadata.ts'
import { objectKey, type ApiObject } from '../../api/object.ts'
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
import { equalValues, without } from '../../schema/json-value.ts'
import { validateFields } from '../../schema/validate.ts'
import { AdmissionNotes } from '../admission/notes.ts'
import type { AdmissionAttributes } from '../admission/plugin.ts'
import type { StrictErrors, User } from '../request.ts'
import { encodeObject, Stored } from '../stored.ts'
import { ingest, type FieldValidation } from './ingest.ts'
import { commitWrite, isDryRun, readStored, worldOf, type ResourceParts, type ResourceRequest } from './parts.ts'

export interface Written {
  readonly stored: Stored
  readonly warnings: readonly string[]
}

const generateNameTries = 8
const updateTries = 16
const nobody: User = { name: '', groups: [] }

export const fieldValidationOf = ({ query }: ResourceRequest): FieldValidation => {
  const asked = query.get('fieldValidation') ?? 'Warn'
  if (asked === 'Strict' || asked === 'Warn' || asked === 'Ignore') return asked
  throw badRequest(
    `fieldValidation: Unsupported value: ${JSON.stringify(asked)}: supported values: "Ignore", "Strict", "Warn"`,
  )
}

const strictErrorsOf = ({ body }: ResourceRequest): StrictErrors | undefined =>
  body.kind === 'value' ? body.strictErrors : undefined

export async function create(parts: ResourceParts, request: ResourceRequest, body: unknown): Promise<Written> {
  const { kind, strategy } = parts
  const { object: asSent, warnings: sentWarnings } = ingest(
    parts.face.kind,
    body,
    fieldValidationOf(request),
    strictErrorsOf(request),
  )
  const sent = parts.face.toStored(asSent)
  if (sent.metadata.resourceVersion) throw badRequest('resourceVersion should not be set on objects to be created')
  const base = asNew(parts, request, sent)
  for (let tries = 1; ; tries++) {
    const named = withName(parts, base)
    const attributes = attributesOf(parts, request, 'create', named, undefined)
    const admitted = withInitialStatus(kind, (await parts.admission.admit(attributes)) ?? named)
    const object = strategy?.prepareCreate?.(admitted, worldOf(parts, request)) ?? admitted
    refuseInvalid(kind, object, validateObject(kind, object))
    await parts.admission.validate({ ...attributes, object, name: object.metadata.name })
    const warnings = [...sentWarnings, ...attributes.notes.warnings]
    if (isDryRun(request)) return { stored: preview(object, 0), warnings }
    const stored = await commitWrite(
      parts,
      { operation: 'put', object, expected: 0 },
      request.context.cause,
      request.context.signal,
    )
    if (stored !== undefined) return { stored, warnings }
    if (base.metadata.name !== undefined || tries === generateNameTries) throw alreadyExists(kind, object.metadata.name)
  }
}

function asNew({ kind, clock, random }: ResourceParts, { target }: ResourceRequest, sent: ApiObject): ApiObject {
  const {
    namespace: sentNamespace,
    uid: _,
    creationTimestamp: __,
    deletionTimestamp: ___,
    deletionGracePeriodSeconds: ____,
    ...rest
  } = sent.metadata
  if (sentNamespace !== undefined && sentNamespace !== target.namespace)
    throw badRequest(`the namespace of the provided object does not match the namespace sent on the request`)
  const metadata = {
    ...without(rest, 'resourceVersion'),
    ...(kind.namespaced ? { namespace: target.namespace } : {}),
    uid: newUid(random),
    creationTimestamp: rfc3339(clock.nowMs()),
    ...(kind.countsGenerations ? { generation: 1 } : {}),
  } as unknown as ApiObject['metadata']
  return { ...sent, metadata }
}

/** The first status follows from what admission made of the object; one that is nearly empty has its structs and zeros. */
function withInitialStatus(kind: Kind, object: ApiObject): ApiObject {
  if (!kind.hasStatus) return object
  return withDefaults(kind.message, { ...object, status: kind.initialStatus?.(object) ?? {} } as ApiObject)
}

function withName({ random, kind }: ResourceParts, object: ApiObject): ApiObject {
  const { name, generateName } = object.metadata
  if (name !== undefined || generateName === undefined) return object
  const metadata = { ...object.metadata, name: generateName.slice(0, 58) + nameSuffix(random) }
  return kind.applyDefaults({ ...object, metadata })
}

/** What an update makes of the present version. It may run several times. */
export type Transform = (current: ApiObject) => unknown

export interface UpdateOptions {
  /** Which part may change: the whole object, its status alone, or what a subresource takes over. */
  readonly part: 'object' | 'status' | ((sent: ApiObject, old: ApiObject) => ApiObject)
  readonly fieldValidation: FieldValidation
}

export async function update(
  parts: ResourceParts,
  request: ResourceRequest,
  transform: Transform,
  options: UpdateOptions,
): Promise<Written> {
  const { kind, cache } = parts
  const { namespace, name } = request.target
  const { signal, cause } = request.context
  let current = cache.get(objectKey(namespace, name))
  for (let tries = 1; ; tries++) {
    if (current === undefined || tries > 1) current = await readStored(parts, namespace, name, signal)
    if (current === undefined) throw notFound(kind, name)
    const asked = transform(parts.face.shown(current).object)
    const { object: asSent, warnings: sentWarnings } = ingest(
      parts.face.kind,
      asked,
      options.fieldValidation,
      strictErrorsOf(request),
    )
    const sent = parts.face.toStored(asSent)
    const stale = staleness(kind, sent, current)
    if (stale !== undefined) {
      if (tries > 1) throw stale
      continue // the cache may lag behind what the client has seen
    }
    const notes = new AdmissionNotes()
    const object = await prepareUpdate(parts, request, sent, current.object, options.part, notes)
    const warnings = [...sentWarnings, ...notes.warnings]
    if (equalValues(object, current.object)) return { stored: current, warnings }
    if (isDryRun(request)) return { stored: preview(object, current.revision), warnings }
    const operation = isReleased(parts, object) ? 'delete' : 'put'
    const stored = await commitWrite(parts, { operation, object, expected: current.revision }, cause, signal)
    if (stored !== undefined) return { stored, warnings }
    if (tries === updateTries) throw modifiedConflict(kind, name)
  }
}

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
  part: UpdateOptions['part'],
  notes: AdmissionNotes,
): Promise<ApiObject> {
  const { kind, strategy } = parts
  const { name } = request.target
  if (sent.metadata.name !== undefined && sent.metadata.name !== name)
    throw badRequest(`the name of the object (${sent.metadata.name}) does not match the name on the URL (${name})`)
  const merged = mergedPart(kind, sent, old, part)
  const prepared =
    part === 'object' ? (strategy?.prepareUpdate?.(merged, old, worldOf(parts, request)) ?? merged) : merged
  const counted = part === 'object' && kind.countsGenerations ? withGeneration(prepared, old) : prepared
  const attributes = { ...attributesOf(parts, request, 'update', counted, old), notes }
  const object = (await parts.admission.admit(attributes)) ?? counted
  const errors = [
    ...validateObject(kind, object),
    ...validateMetadataUpdate(object, old),
    ...(part === 'object' ? kind.validateUpdate(object, old) : []),
  ]
  refuseInvalid(kind, object, errors)
  await parts.admission.validate({ ...attributes, object })
  return object
}

function mergedPart(kind: Kind, sent: ApiObject, old: ApiObject, part: UpdateOptions['part']): ApiObject {
  if (typeof part === 'function') return part(sent, old)
  if (part === 'status') return { ...old, status: (sent as { status?: unknown }).status } as ApiObject
  return withKeptParts(kind, sent, old)
}

// What the client does not decide: identity, times, and the status where it has a door of its own.
function withKeptParts(kind: Kind, sent: ApiObject, old: ApiObject): ApiObject {
  const {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    namespace,
    name,
    resourceVersion,
  } = old.metadata
  const kept = {
    uid,
    creationTimestamp,
    deletionTimestamp,
    deletionGracePeriodSeconds,
    generation,
    namespace,
    name,
    resourceVersion,
  }
  const present = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined))
  const metadata = { ...sent.metadata, ...present }
  const object = { ...sent, metadata }
  return kind.hasStatus ? ({ ...object, status: (old as { status?: unknown }).status } as ApiObject) : object
}

function withGeneration(object: ApiObject, old: ApiObject): ApiObject {
  if (equalValues(contentOf(object), contentOf(old))) return object
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

export const validateObject = (kind: Kind, object: ApiObject): FieldError[] => [
  ...validateMetadata(object, kind),
  ...validateFields(kind.message, object),
  ...kind.validate(object),
]

export function refuseInvalid(kind: Kind, object: ApiObject, errors: readonly FieldError[]): void {
  if (errors.length > 0) throw invalidObject(kind.group, kind.kind, object.metadata.name ?? '', errors)
}

export function attributesOf(
  { kind }: ResourceParts,
  request: ResourceRequest,
  operation: AdmissionAttributes['operation'],
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): AdmissionAttributes {
  const { target, user = nobody, context } = request
  const { namespace, subresource } = target
  return {
    operation,
    kind,
    namespace,
    name: object?.metadata.name ?? target.name,
    subresource,
    user,
    dryRun: isDryRun(request),
    object,
    old,
    notes: new AdmissionNotes(),
    signal: context.signal,
  }
}

/** An answer to a dry run: the object as it would be, without a new revision. */
const preview = (object: ApiObject, revision: number): Stored => new Stored(encodeObject(object), revision)
