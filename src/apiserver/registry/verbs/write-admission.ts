// The attributes of a write that admission plugins get.
import type { Kind } from '../../../api/kind/kind.ts'
import type { ApiObject } from '../../../api/meta/object.ts'
import type { AdmissionAttributes } from '../../admission/framework/admission-plugin.ts'
import { AdmissionRecorder } from '../../admission/framework/admission-recorder.ts'
import { ReinvocationContext } from '../../admission/framework/reinvocation.ts'
import { isDryRun, userWithName, type ResourceRequest } from '../../request/request.ts'

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
