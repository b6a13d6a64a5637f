// The conditions of a CertificateSigningRequest.
import type {
  CertificateSigningRequest,
  CertificateSigningRequestCondition,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { rfc3339 } from '../../base/time/clock.ts'

type Decision = 'Approved' | 'Denied' | 'Failed'

export const decision = (
  { status }: CertificateSigningRequest,
  type: Decision,
): CertificateSigningRequestCondition | undefined =>
  status.conditions?.find((condition) => condition.type === type && condition.status === 'True')

export const isIssued = ({ status }: CertificateSigningRequest): boolean => (status.certificate ?? '') !== ''

export function withDecision(
  object: CertificateSigningRequest,
  type: Decision,
  reason: string,
  message: string,
  nowMs: number,
): CertificateSigningRequest {
  const now = rfc3339(nowMs)
  const condition = { type, status: 'True', reason, message, lastUpdateTime: now, lastTransitionTime: now }
  return { ...object, status: { ...object.status, conditions: [...(object.status.conditions ?? []), condition] } }
}

/** The request in PEM format. */
export const requestText = ({ spec }: CertificateSigningRequest): string => atob(spec.request)
