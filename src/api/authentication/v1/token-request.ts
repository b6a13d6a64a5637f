// TokenRequest: requests a token of a ServiceAccount. It is the body of a subresource, not a resource.
import type { Infer } from '../../../schema/descriptor/infer.ts'
import { int64, list, message, string, struct, time } from '../../../schema/descriptor/field.ts'
import { invalid, required, type FieldError } from '../../../schema/validation/field-error.ts'
import { objectMeta } from '../../meta/v1/object-meta.ts'

export const boundObjectReference = message('io.k8s.api.authentication.v1.BoundObjectReference', {
  kind: string(1),
  apiVersion: string(2),
  name: string(3),
  uid: string(4),
})
export interface BoundObjectReference extends Infer<typeof boundObjectReference> {}

export const tokenRequestSpec = message('io.k8s.api.authentication.v1.TokenRequestSpec', {
  audiences: list(1, 'string', { listType: 'atomic', keepEmpty: true }),
  boundObjectRef: struct(3, boundObjectReference, { pointer: true, keepEmpty: true }),
  expirationSeconds: int64(4, { pointer: true, default: 3600, fitsDouble: true }),
})
export interface TokenRequestSpec extends Infer<typeof tokenRequestSpec> {}

export const tokenRequestStatus = message('io.k8s.api.authentication.v1.TokenRequestStatus', {
  token: string(1, { keepEmpty: true }),
  expirationTimestamp: time(2, { keepEmpty: true }),
})

export const tokenRequest = message('io.k8s.api.authentication.v1.TokenRequest', {
  metadata: struct(1, objectMeta),
  spec: struct(2, tokenRequestSpec),
  status: struct(3, tokenRequestStatus),
})
export interface TokenRequest extends Infer<typeof tokenRequest> {}

const secondsMin = 600
const secondsMax = 2 ** 32

export function validateTokenRequest({ expirationSeconds, audiences }: TokenRequestSpec): FieldError[] {
  const reject = (detail: string) => invalid('spec.expirationSeconds', expirationSeconds, detail)
  return [
    ...(expirationSeconds < secondsMin ? [reject('may not specify a duration less than 10 minutes')] : []),
    ...(expirationSeconds > secondsMax ? [reject('may not specify a duration larger than 2^32 seconds')] : []),
    ...(audiences ?? []).flatMap((audience, index) => (audience === '' ? [required(`spec.audiences[${index}]`)] : [])),
  ]
}
