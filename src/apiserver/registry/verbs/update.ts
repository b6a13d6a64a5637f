// Update: transform the current version, decode, merge, mutate, validate, commit. It is repeated with the newest version when
// it was made with another one.
import { yieldToPeers } from '../../../base/async/yield-to-peers.ts'
import { conflict, invalidObject, modifiedConflict, StatusError } from '../../../api/errors/status-error.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { immutable, invalid } from '../../../schema/validation/field-error.ts'
import { equalExcept, isJsonObject } from '../../../schema/json/json-value.ts'
import type { AdmissionAttributes } from '../../admission/framework/admission-plugin.ts'
import { AdmissionRecorder } from '../../admission/framework/admission-recorder.ts'
import { decodeObject, type DecodedObject } from '../../objects/decode-object.ts'
import {
  equalExceptTimes,
  initialEntries,
  managedFieldsAfterUpdate,
  ownersAfterScaling,
  type ManagedFields,
} from '../../objects/managed-fields.ts'
import { checkObjectType } from '../../objects/object-type.ts'
import { withUsedMetadata } from '../../objects/sent-metadata.ts'
import { concat } from '../../objects/validate-object.ts'
import { numberProblem } from '../../request/list-options.ts'
import { isDryRun, type ResourceRequest, type ResourceTarget } from '../../request/request.ts'
import { writeOptionsOf } from '../../request/write-options.ts'
import { storeKey } from '../../storage/store-keys.ts'
import { StoredObject } from '../../storage/stored-object.ts'
import { commitWrite, dryRunWrite } from './commit.ts'
import { canBeRemoved } from './deletion.ts'
import { fieldTrackingOf } from './field-tracking.ts'
import { onNewestVersion, type Decision } from './on-newest-version.ts'
import { ObjectVersions } from '../resource/object-versions.ts'
import { prepareUpdate, type UpdateOptions } from './prepare-update.ts'
import { readCached, type ResourceDeps } from '../resource/resource-deps.ts'
import { step } from './step.ts'
import { checkName, strictErrorsOf, withManagedFields, type WriteInput, type WriteResult } from './write.ts'

/** What an update makes of the current version. It may run several times. `versions` is set for custom kinds. */
export type Transform = (current: ApiObject, versions: ObjectVersions | undefined) => WriteInput

export async function update(
  deps: ResourceDeps,
  request: ResourceRequest,
  transform: Transform,
  options: UpdateOptions,
): Promise<WriteResult> {
  const { target, context } = request
  await yieldToPeers()
  const cached = await readCached(deps, target.namespace, target.name, context)
  return onNewestVersion(deps, target, cached, context, (current) =>
    decideUpdate(deps, request, transform, options, current),
  )
}

async function decideUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  transform: Transform,
  options: UpdateOptions,
  current: StoredObject,
): Promise<Decision<WriteResult>> {
  const { kind } = deps
  const { object: sent, warnings } = await decodeUpdate(deps, request, transform, current, options)
  checkVersion(kind, sent, current, request, options)
  checkStaleness(kind, sent, current, request, options)
  await yieldToPeers()
  const recorder = new AdmissionRecorder(request.record)
  const attributes = await prepareUpdate(deps, request, sent, current.object, options, recorder)
  const { object } = attributes
  const kindWarnings = options.part === 'object' ? (kind.warnings?.(object, current.object) ?? []) : []
  const allWarnings = concat(warnings, concat(recorder.warnings, kindWarnings))
  if (isUnchanged(object, current.object) && !isOutdatedInStore(deps, current))
    return { kind: 'unchanged', result: { stored: current, warnings: allWarnings } }
  if (isDryRun(request)) {
    const dry = () => dryRunWrite(deps, object, current.revision, request.context)
    const stored = await deps.admission.reserving(attributes, dry)
    return { kind: 'unchanged', result: { stored, warnings: allWarnings } }
  }
  const commit = async () => {
    const stored = await commitUpdate(deps, request, attributes, current.revision)
    return stored && { stored, warnings: allWarnings }
  }
  return { kind: 'write', commit }
}

/** The object that the client requests, in the stored version, with the entries of its managers. */
async function decodeUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  transform: Transform,
  current: StoredObject,
  { part }: UpdateOptions,
): Promise<DecodedObject> {
  const { converter, codec } = deps
  const shown = converter.fromStored(current).object
  const versions = codec && new ObjectVersions(codec, request.context)
  const input = await step(deps, request, () =>
    versions === undefined ? transform(shown, versions) : versions.resolve(() => transform(shown, versions)),
  )
  await yieldToPeers()
  const decoded = await step(deps, request, () => {
    const { fieldValidation } = writeOptionsOf(request)
    if (request.target.verb === 'patch' && isJsonObject(input.body)) checkObjectType(converter.kind, input.body, true)
    const strictErrors = strictErrorsOf(request)
    return decodeObject(converter.kind, input.body, fieldValidation, strictErrors, shown, undefined, input)
  })
  const { object, warnings } = withUsedMetadata(decoded)
  const managedFields = await step(deps, request, () => {
    const computed = () => managedFieldsOfUpdate(deps, request, object, shown, part, versions)
    // As upstream: where the fields of other managers cannot be converted, an update leaves no field with an owner.
    return input.managedFields ?? (versions === undefined ? computed() : versions.resolve(computed, () => []))
  })
  return { object: withManagedFields(converter.toStored(object), managedFields), warnings }
}

/** Undefined where another writer was faster. */
function commitUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  attributes: AdmissionAttributes & { readonly object: ApiObject },
  expected: number,
): Promise<StoredObject | undefined> {
  const { object } = attributes
  const { cause, signal } = request.context
  const operation = canBeRemoved(deps, object) ? 'delete' : 'put'
  return deps.admission.reserving(attributes, (reserved) => {
    const committed = commitWrite(deps, { operation, object, expected, reserved }, cause, signal)
    // As upstream: the response to an update that removes the object has the last resourceVersion of the object.
    return operation === 'put'
      ? committed
      : committed.then((removed) => removed && StoredObject.ofObject(object, expected))
  })
}

/** A write that changes nothing still replaces an old encryption key, version or schema in the store. */
function isOutdatedInStore({ store, kind, codec }: ResourceDeps, stored: StoredObject): boolean {
  if (codec?.isConverted(stored)) return true
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
  versions: ObjectVersions | undefined,
): ManagedFields {
  const live = old.metadata.managedFields ?? []
  const entries = initialEntries(live, sent.metadata.managedFields, request.target.subresource)
  // An object without managers stays without until it is applied.
  if (entries.length === 0) return []
  const next = typeof part === 'function' ? part(sent, old) : sent
  const tracking = fieldTrackingOf(deps, request, versions)
  const after = managedFieldsAfterUpdate(entries, old, next, tracking)
  const { resource, subresource } = request.target
  if (subresource !== 'scale' || resource.scale === undefined) return after
  return ownersAfterScaling(entries, after, tracking.writer, resource.scale.replicas(next))
}

/** A write that changes only the times of managedFields keeps the version. */
const isUnchanged = (object: ApiObject, old: ApiObject): boolean =>
  equalExcept(object, old, 'metadata') &&
  equalExcept(object.metadata, old.metadata, 'managedFields') &&
  equalExceptTimes(object.metadata.managedFields ?? [], old.metadata.managedFields ?? [])

/** A custom object cannot be written without its version. A patch has the one that it was computed from, unless it removes it. */
function checkVersion(
  kind: Kind,
  sent: ApiObject,
  current: StoredObject,
  request: ResourceRequest,
  { part }: UpdateOptions,
): void {
  const { resourceVersion = '' } = sent.metadata as { readonly resourceVersion?: string }
  if (kind.updatesNeedVersion !== true || typeof part === 'function') return
  checkName(sent.metadata, request)
  if (request.target.verb === 'update' && hasOtherUid(sent, current)) return
  const problem = numberProblem(resourceVersion)
  if (problem !== undefined) throw new StatusError(500, '', problem)
  if (Number(resourceVersion) === 0) throw versionMissing(kind, request.target.name)
}

const hasOtherUid = ({ metadata: { uid } }: ApiObject, current: StoredObject): boolean =>
  uid !== undefined && uid !== current.object.metadata.uid

const versionMissing = ({ group, plural }: Kind, name: string): StatusError =>
  invalidObject(group, plural, name, [invalid('metadata.resourceVersion', 0, 'must be specified for an update')])

function checkStaleness(
  kind: Kind,
  sent: ApiObject,
  current: StoredObject,
  { target }: ResourceRequest,
  options: UpdateOptions,
): void {
  const { uid, name } = sent.metadata
  const isPart = options.view !== undefined
  // The uid in a patch of a custom object is validated with the rest of it.
  const isValidatedLater = kind.custom !== undefined && target.verb === 'patch' && !isPart
  if (uid !== undefined && hasOtherUid(sent, current) && !isValidatedLater) {
    throw target.verb === 'patch' && !isPart
      ? uidPatched(kind, name, uid)
      : uidConflict(kind, target, isPart, `${uid}, UID in object meta: ${current.object.metadata.uid}`)
  }
  const version = versionOf(sent)
  if (version !== 0 && version !== current.revision) throw modifiedConflict(kind, name)
}

/** The version that a client has sent; 0 is none. What is no number is the version of no object. */
function versionOf({ metadata }: ApiObject): number {
  // Clients may omit it.
  const { resourceVersion = '' } = metadata as { readonly resourceVersion?: string }
  return /^\d*$/.test(resourceVersion) ? Number(resourceVersion) : NaN
}

/** As upstream: the cause is reported twice. */
const uidPatched = ({ group, kind }: Kind, name: string, uid: string): StatusError =>
  invalidObject(group, kind, name, [immutable('metadata.uid', uid), immutable('metadata.uid', uid)])

/** As upstream: the message names the key, unless it is about the object of which a subresource is a part. */
function uidConflict(kind: Kind, { namespace, name }: ResourceTarget, isPart: boolean, uids: string): StatusError {
  const failed = `Precondition failed: UID in precondition: ${uids}`
  const key = storeKey(kind, namespace, name)
  return conflict(
    kind,
    name,
    isPart
      ? failed
      : `StorageError: invalid object, Code: 4, Key: ${key}, ResourceVersion: 0, AdditionalErrorMsg: ${failed}`,
  )
}
