// Rotation of a kubelet certificate before it expires. Every certificate has a new key, and both are written to the
// file before they are used.
import { rfc3339 } from '../../base/time/clock.ts'
import { errorText } from '../../base/observability/log.ts'
import type { Random } from '../../base/random/random.ts'
import { backoffMs, type Backoff } from '../../base/work/work-queue.ts'
import type { Identity } from '../../pki/authority.ts'
import { parseCertificate } from '../../pki/parse-certificate.ts'
import type { CertificateFile } from './certificate-file.ts'
import { requestCertificate, type CertificateTemplate, type SigningDeps } from './signing-request.ts'

export interface RotatingCertificateDeps extends SigningDeps {
  readonly random: Random
  readonly file: CertificateFile
  readonly template: CertificateTemplate
  /** Called with every new certificate after it was written to the file. */
  readonly onChange: (identity: Identity) => void
}

/** As upstream: the random share prevents nodes that were started together from renewing together. */
const renewalShare = { least: 0.7, most: 0.9 } as const
/** Minimum time between renewals, for certificates with a very short lifetime. */
const renewalMsMin = 5_000
const retryBackoff: Backoff = { initialMs: 2_000, maxMs: 300_000 }

/** The time at which a certificate is renewed: after 70 to 90 % of its lifetime. */
export function renewalMs(certificate: string, random: Random): number {
  const { notBeforeMs, notAfterMs } = parseCertificate(certificate)
  const share = renewalShare.least + random.fraction() * (renewalShare.most - renewalShare.least)
  return notBeforeMs + (notAfterMs - notBeforeMs) * share
}

export const isExpired = (certificate: string, nowMs: number): boolean =>
  nowMs >= parseCertificate(certificate).notAfterMs

/**
 * Renews the certificate until the signal is aborted; requests one immediately if there is none. Throws when a client
 * certificate has expired, because no request can be authenticated with it any more.
 */
export async function rotateCertificate(
  present: Identity | undefined,
  deps: RotatingCertificateDeps,
  signal: AbortSignal,
): Promise<void> {
  const { clock, log, random, file, template, crypto, onChange } = deps
  for (let current = present, failures = 0; ;) {
    if (current !== undefined && failures === 0)
      await clock.sleep(Math.max(renewalMsMin, renewalMs(current.certificate, random) - clock.nowMs()), signal)
    try {
      const key = crypto.generateKey()
      const certificate = await requestCertificate(template, key, deps, signal)
      current = { certificate, key: key.privateKey }
      await file.write(current)
      failures = 0
      onChange(current)
      log.info('a certificate was renewed', {
        file: file.path,
        until: rfc3339(parseCertificate(certificate).notAfterMs),
      })
    } catch (error) {
      signal.throwIfAborted()
      log.warn('a certificate could not be renewed', { file: file.path, error: errorText(error) })
      if (template.use === 'client' && current !== undefined && isExpired(current.certificate, clock.nowMs()))
        throw new Error(`the client certificate ${file.path} has expired`, { cause: error })
      await clock.sleep(backoffMs(retryBackoff, failures++), signal)
    }
  }
}
