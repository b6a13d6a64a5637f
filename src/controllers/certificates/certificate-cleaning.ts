// Certificate cleaning: deletes old certificate signing requests, decided or not.
import { leastOf } from '../../base/collections/extremes.ts'
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { ignoring } from '../../api/errors/status-error.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import { defineController } from '../runtime/controller.ts'
import { decision, isIssued } from './request-conditions.ts'

const decidedMs = 3_600_000
const pendingMs = 24 * 3_600_000

/** When the request may be deleted; Infinity while it is approved and not issued. */
export function deletionDueMs(object: CertificateSigningRequest): number {
  const [approved, denied, failed] = (['Approved', 'Denied', 'Failed'] as const).map((type) => decision(object, type))
  const ends = [denied, failed, isIssued(object) ? approved : undefined]
    .filter((condition) => condition !== undefined)
    .map(({ lastUpdateTime }) => Date.parse(lastUpdateTime ?? '') + decidedMs)
  if ((object.status.conditions ?? []).length === 0)
    ends.push(Date.parse(object.metadata.creationTimestamp ?? '') + pendingMs)
  if (approved !== undefined && isIssued(object)) ends.push(endOf(object.status.certificate ?? ''))
  return leastOf(ends.filter((each) => !Number.isNaN(each)))
}

/** When the certificate expires; Infinity if it cannot be parsed. */
function endOf(certificate: string): number {
  try {
    return parseCertificate(atob(certificate)).notAfterMs
  } catch {
    return Infinity
  }
}

export const certificateCleaningController = defineController({
  name: 'certificate-cleaning',
  account: 'certificate-controller',
  watches: [certificateSigningRequest],
  enqueues: (_, { key, now }) => (now === undefined ? [] : [key]),
  async reconcile(key, { client, cached, nowMs }, context) {
    const object = cached(certificateSigningRequest, key)
    if (object === undefined) return undefined
    const waitMs = deletionDueMs(object) - nowMs
    if (waitMs > 0) return waitMs === Infinity ? undefined : waitMs
    const { name, uid } = object.metadata
    const requests = client.of(certificateSigningRequest)
    await requests.delete(name, '', { uid }, context).catch(ignoring('NotFound', 'Conflict'))
    return undefined
  },
})
