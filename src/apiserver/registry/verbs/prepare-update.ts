// prepareUpdate: merges what was sent into the current object, mutates and validates it.
import { thenMaybe, type MaybePromise } from '../../../base/async/maybe-promise.ts'
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import { validateMetadataUpdate } from '../../../api/validation/metadata-rules.ts'
import { equalValues, without } from '../../../schema/json/json-value.ts'
import type { FieldError } from '../../../schema/validation/field-error.ts'
import type { AdmissionAttributes } from '../../admission/framework/admission-plugin.ts'
import type { AdmissionRecorder } from '../../admission/framework/admission-recorder.ts'
import type { SubresourceObject } from '../../admission/framework/subresource-object.ts'
import { withPreservedMetadata } from '../../objects/preserved-metadata.ts'
import { withStatusUpdate } from '../../objects/status-update.ts'
import { concat, throwIfInvalid, validateObject, validateShape } from '../../objects/validate-object.ts'
import type { ResourceRequest } from '../../request/request.ts'
import { recordStage, strategyContextOf, type ResourceDeps } from '../resource/resource-deps.ts'
import { admissionAttributesOf } from './write-admission.ts'
import { step } from './step.ts'
import { checkName, withManagedFields } from './write.ts'
import { nextInt64 } from '../../../schema/scalar/int64.ts'

export interface UpdateOptions {
  /** What may change: the whole object, its status, or what a subresource takes from the object that was sent. */
  readonly part: 'object' | 'status' | ((sent: ApiObject, old: ApiObject) => ApiObject)
  /** What admission sees in place of the object. */
  readonly view?: SubresourceView
}

/** A subresource whose object is derived from the stored one, as a Scale is. */
export interface SubresourceView {
  readonly subresourceObject: SubresourceObject
  of(object: ApiObject): ApiObject
  applyTo(object: ApiObject, seen: ApiObject): ApiObject
}

export async function prepareUpdate(
  deps: ResourceDeps,
  request: ResourceRequest,
  sent: ApiObject,
  old: ApiObject,
  { part, view }: UpdateOptions,
  recorder: AdmissionRecorder,
): Promise<AdmissionAttributes & { readonly object: ApiObject }> {
  const { kind, admission } = deps
  checkName(sent.metadata, request)
  const requested = mergeSubresource(deps, sent, old, part)
  recordStage(deps, request, 'reading')
  const merged = view === undefined ? requested : await mutateView(deps, request, view, recorder, requested, old)
  const attributes = await step(deps, request, () => {
    const prepared = completed(deps, request, merged, old, part)
    const counted = part === 'object' && kind.countsGenerations ? withGeneration(kind, prepared, old) : prepared
    const requestAttributes = admissionAttributesOf(deps, request, 'update', counted, old, recorder)
    const mutating = view === undefined ? admission.admit(requestAttributes) : undefined
    return thenMaybe(mutating, (mutated) => ({ ...requestAttributes, object: mutated ?? counted }))
  })
  const { object } = attributes
  recordStage(deps, request, 'mutating')
  await step(deps, request, () =>
    thenMaybe(updateErrors(deps, object, old, part, request.context.signal), (errors) =>
      throwIfInvalid(kind, object, errors),
    ),
  )
  recordStage(deps, request, 'validation')
  const shown = view === undefined ? attributes : throughView(view, attributes, object, old)
  await step(deps, request, () => admission.validate(shown))
  recordStage(deps, request, 'validating')
  return attributes
}

/** The object as the kind's strategy completes it. */
function completed(
  deps: ResourceDeps,
  request: ResourceRequest,
  object: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
): ApiObject {
  const { strategy } = deps
  if (part === 'object' && strategy?.prepareUpdate !== undefined)
    return strategy.prepareUpdate(object, old, strategyContextOf(deps, request))
  if (part === 'status' && strategy?.prepareStatusUpdate !== undefined)
    return strategy.prepareStatusUpdate(object, old, strategyContextOf(deps, request))
  return object
}

function updateErrors(
  { kind, clock }: ResourceDeps,
  object: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
  signal: AbortSignal,
): MaybePromise<readonly FieldError[]> {
  const isChecked = part !== 'status' || !kind.validatesNoStatus
  const errors = isChecked ? validateObject(kind, object, old, clock, signal) : validateShape(kind, object)
  return thenMaybe(errors, (known) => {
    const metadataErrors = validateMetadataUpdate(object, old)
    // As upstream: the checks of all kinds and those of each kind both report them.
    const twice = concat(metadataErrors, metadataErrors)
    const all = kind.custom === undefined ? concat(known, twice) : concat(twice, known)
    if (part === 'object') return concat(all, kind.validateUpdate(object, old))
    if (part !== 'status' || kind.validateStatusUpdate === undefined) return all
    return concat(all, kind.validateStatusUpdate(object, old))
  })
}

const throughView = (
  view: SubresourceView,
  attributes: AdmissionAttributes,
  object: ApiObject,
  old: ApiObject,
): AdmissionAttributes => ({
  ...attributes,
  subresourceObject: view.subresourceObject,
  object: view.of(object),
  old: view.of(old),
})

async function mutateView(
  deps: ResourceDeps,
  request: ResourceRequest,
  view: SubresourceView,
  recorder: AdmissionRecorder,
  object: ApiObject,
  old: ApiObject,
): Promise<ApiObject> {
  const attributes = admissionAttributesOf(deps, request, 'update', object, old, recorder)
  const shown = throughView(view, attributes, object, old)
  const mutated = await deps.admission.admit(shown)
  return mutated === undefined || mutated === shown.object ? object : view.applyTo(object, mutated)
}

function mergeSubresource(
  { kind, statusRule }: ResourceDeps,
  sent: ApiObject,
  old: ApiObject,
  part: UpdateOptions['part'],
): ApiObject {
  if (typeof part === 'function') return withManagedFields(part(sent, old), sent.metadata.managedFields ?? [])
  const preserved = withPreservedFields(kind, kind.complete?.(sent) ?? sent, old)
  return part === 'status' ? withStatusUpdate(statusRule, preserved, sent, old) : preserved
}

/** Clients do not set the identity and times of an object, nor the status where it is a subresource. */
function withPreservedFields(kind: Kind, sent: ApiObject, old: ApiObject): ApiObject {
  const preserved = withPreservedMetadata(sent.metadata, old.metadata)
  const { uid } = sent.metadata
  // The uid that a client has sent for a custom object is validated.
  const metadata = kind.custom !== undefined && uid !== undefined && uid !== '' ? { ...preserved, uid } : preserved
  const object = { ...sent, metadata }
  return kind.hasStatus ? ({ ...object, status: (old as { status?: unknown }).status } as ApiObject) : object
}

function withGeneration(kind: Kind, object: ApiObject, old: ApiObject): ApiObject {
  const isCounted = kind.countsAnnotations && !equalValues(object.metadata.annotations, old.metadata.annotations)
  if (!isCounted && equalValues(contentOf(kind, object), contentOf(kind, old))) return object
  return { ...object, metadata: { ...object.metadata, generation: nextInt64(old.metadata.generation ?? 0) } }
}

/** The generation counts changes of the spec. If there is none, and of custom objects, it counts changes of all but metadata and status. */
function contentOf({ custom, hasStatus }: Kind, object: ApiObject): unknown {
  if ('spec' in object && custom === undefined) return object.spec
  // Without the subresource, the status of a custom object is a field as any other.
  if (custom !== undefined && !hasStatus) return without(object, 'metadata')
  return without(without(object as ApiObject & { status?: unknown }, 'metadata'), 'status')
}
