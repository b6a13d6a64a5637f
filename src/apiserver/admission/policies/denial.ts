// Denial: a policy's no. Of several the first counts, with the reason and code that the policy asks for.
import { forbidden, StatusError, type StatusReason } from '../../../api/status-error.ts'
import type { AdmissionAttributes } from '../plugin.ts'
import { metadataOf } from '../posted.ts'

export interface Denial {
  readonly message: string
  /** Invalid when empty. */
  readonly reason: string
}

const codes: Readonly<Record<string, number>> = { Unauthorized: 401, Forbidden: 403, RequestEntityTooLarge: 413 }

export function refusal({ kind, object, name }: AdmissionAttributes, { message, reason }: Denial): StatusError {
  const { message: text, details } = forbidden(kind, metadataOf(object).name ?? name, message)
  const why = (reason === '' ? 'Invalid' : reason) as StatusReason // validation allows only such
  return new StatusError(codes[why] ?? 422, why, text, { ...details, causes: [{ reason: '', message }] })
}
