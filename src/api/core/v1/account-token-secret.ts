// Secrets that hold the token of a ServiceAccount: which they are, whose, and what is known of the token's use.
import { accountNameAnnotation } from './secret-rules.ts'
import type { Secret } from './secret.ts'

export const accountUidAnnotation = 'kubernetes.io/service-account.uid'
/** The day on which its token was last used. */
export const lastUsedLabel = 'kubernetes.io/legacy-token-last-used'
/** Says since when the use of tokens is noted. */
export const trackingConfigMap = 'kube-system/kube-apiserver-legacy-service-account-token-tracking'
/** The day since which its token is not taken any more. */
export const invalidSinceLabel = 'kubernetes.io/legacy-token-invalid-since'

export const isTokenSecret = ({ type }: Secret): boolean => type === 'kubernetes.io/service-account-token'

export const accountNameOf = ({ metadata }: Secret): string => metadata.annotations?.[accountNameAnnotation] ?? ''

export const tokenOf = ({ data = {} }: Secret): string =>
  new TextDecoder().decode(Uint8Array.fromBase64(data['token'] ?? ''))

export const tokenInvalidSince = ({ metadata }: Secret): string | undefined => metadata.labels?.[invalidSinceLabel]
