// Secrets that contain a ServiceAccount token: which Secrets these are, their account, and the recorded use of the token.
import { accountNameAnnotation } from './secret-rules.ts'
import type { Secret } from './secret.ts'

export const accountUidAnnotation = 'kubernetes.io/service-account.uid'
/** The label with the day on which the token was last used. */
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
/** The ConfigMap that records since when the use of tokens is tracked. */
export const trackingConfigMap = 'kube-system/kube-apiserver-legacy-service-account-token-tracking'
/** The label with the day since which the token is invalid. */
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'

export const accountTokenType = 'kubernetes.io/service-account-token'

export const isTokenSecret = ({ type }: Secret): boolean => type === accountTokenType

export const accountNameOf = ({ metadata }: Secret): string => metadata.annotations?.[accountNameAnnotation] ?? ''

export const tokenOf = ({ data = {} }: Secret): string =>
  new TextDecoder().decode(Uint8Array.fromBase64(data['token'] ?? ''))

export const tokenInvalidSince = ({ metadata }: Secret): string | undefined => metadata.labels?.[invalidSinceLabel]
