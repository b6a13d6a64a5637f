// The flag for the validity of certificates that the cluster signs.
import { durationMs } from '../../apiserver/config/config-reader.ts'

export const signingDurationFlag = {
  'cluster-signing-duration': {
    type: 'string',
    value: '<time>',
    help: 'how long signed certificates are valid (8760h)',
  },
} as const

const lifeDefault = '8760h'

export function signingDurationMs(text = lifeDefault): number {
  const ms = durationMs(text)
  if (ms === undefined || ms === 0)
    throw new Error(`--cluster-signing-duration: ${JSON.stringify(text)} is not a duration such as 24h`)
  return ms
}
