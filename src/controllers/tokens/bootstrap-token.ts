// Bootstrap tokens in Secrets of kube-system.
import { lookup } from '../../base/collections/lookup.ts'
import { secret, type Secret } from '../../api/core/v1/secret.ts'
import { keyOf, namespaceOf } from '../../api/meta/object.ts'
import type { ObjectIndex } from '../runtime/controller.ts'

export const tokenNamespace = 'kube-system'
const namePrefix = 'bootstrap-token-'

export const isBootstrapToken = (object: Secret): boolean =>
  namespaceOf(object) === tokenNamespace && object.type === 'bootstrap.kubernetes.io/token'

export const bootstrapTokens: ObjectIndex<Secret> = {
  kind: secret,
  name: 'bootstrap-token',
  valuesOf: (object) => (isBootstrapToken(object) ? [tokenNamespace] : []),
}

const valueOf = ({ data = {} }: Secret, name: string): string =>
  new TextDecoder().decode(Uint8Array.fromBase64(lookup(data, name) ?? ''))

/** When the token expires; Infinity without an expiration, -Infinity with an invalid one. */
export function expiryMsOf(object: Secret): number {
  const text = valueOf(object, 'expiration')
  if (text === '') return Infinity
  const ms = Date.parse(text)
  return Number.isNaN(ms) ? -Infinity : ms
}

export interface SigningToken {
  readonly id: string
  readonly secret: string
}

/** The token, if it is valid, not expired and usable for signing. */
export function signingToken(object: Secret, nowMs: number): SigningToken | undefined {
  const id = valueOf(object, 'token-id')
  const shown = valueOf(object, 'token-secret')
  const isWhole = /^[a-z0-9]{6}$/.test(id) && shown !== '' && keyOf(object) === `${tokenNamespace}/${namePrefix}${id}`
  if (!isWhole || expiryMsOf(object) <= nowMs || valueOf(object, 'usage-bootstrap-signing') !== 'true') return undefined
  return { id, secret: shown }
}
