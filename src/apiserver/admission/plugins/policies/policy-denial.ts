// Denial: a policy rejects a request. The first of several denials determines reason and code of the response.
import { forbidden, StatusError, type StatusReason } from '../../../../api/errors/status-error.ts'
import type { ApiObject } from '../../../../api/meta/object.ts'
import type { AdmissionAttributes, AdmissionHost } from '../../framework/admission-plugin.ts'
import { metadataOf } from '../../framework/subresource-object.ts'

export interface Denial {
  readonly message: string
  /** `Invalid` if empty. */
  readonly reason: string
}

/** Records the outcome of a policy in the flow of the request. */
export function recordPolicy(
  { cause, kind, namespace, name, reinvocation }: AdmissionAttributes,
  { flow }: AdmissionHost,
  what: string,
  policy: ApiObject,
  outcome: string,
): void {
  const again = what.startsWith('Mutating') && reinvocation.round > 0 ? ' once more' : ''
  const subject = { resource: kind.plural, namespace, name }
  const text = `${what} ${policy.metadata.name}${again}`
  flow.finish(flow.record('step', 'API Server', 'API Server', text, subject, 0, cause), outcome)
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 }

export function denialError({ kind, object, name }: AdmissionAttributes, { message, reason }: Denial): StatusError {
  const { message: text, details } = forbidden(kind, metadataOf(object).name ?? name, message)
  const why = (reason === '' ? 'Invalid' : reason) as StatusReason // validation allows only such
  return new StatusError(codes[why] ?? 422, why, text, { ...details, causes: [{ message }] })
}
