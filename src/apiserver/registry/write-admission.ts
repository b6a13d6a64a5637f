// Admission of a write: the attributes that plugins get, and the mutating and validating steps with their measurement.
import type { Kind } from '../../api/kind/kind.ts'
import type { ApiObject } from '../../api/meta/object.ts'
import type { AdmissionAttributes } from '../admission/framework/admission-plugin.ts'
import { AdmissionRecorder } from '../admission/framework/admission-recorder.ts'
import { ReinvocationContext } from '../admission/framework/reinvocation.ts'
import { isDryRun, userWithName, type ResourceRequest } from '../request/request.ts'
import { recordStage, type ResourceDeps } from './resource-deps.ts'

const noUser = userWithName('')

export function admissionAttributesOf(
  { kind, converter }: { readonly kind: Kind; readonly converter: { readonly kind: Kind } },
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
    requestKind: converter.kind,
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

/** The object as the mutating plugins return it. */
export async function mutate(
  { admission, clock, loop }: ResourceDeps,
  request: ResourceRequest,
  attributes: AdmissionAttributes,
  startMs: number,
): Promise<ApiObject | undefined> {
  const mutating = admission.admit(attributes)
  const endMs = clock.monotonicMs()
  // Only the synchronous part blocks the event loop. It is reported after the wait, so that no rejection is left unhandled.
  const object = await mutating
  loop.stepDone(request, startMs, endMs)
  return object
}

/** Throws where a validating plugin rejects the object. */
export async function validateAdmission(
  deps: ResourceDeps,
  request: ResourceRequest,
  attributes: AdmissionAttributes,
  startMs: number,
): Promise<void> {
  const validating = deps.admission.validate(attributes)
  const endMs = deps.clock.monotonicMs()
  await validating
  deps.loop.stepDone(request, startMs, endMs)
  recordStage(deps, request, 'validating')
}
