// Certificate signing: signs approved requests for the built-in signers, or sets the condition Failed with the reason.
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { errorText } from '../../base/observability/log.ts'
import { base64Text } from '../../pki/pem.ts'
import { parseCertificateRequest, type RequestedCertificate } from '../../pki/parse-certificate-request.ts'
import type { CertificateSigner } from '../../pki/certificate-signer.ts'
import { defineController } from '../runtime/controller.ts'
import { decision, isIssued, requestText, withDecision } from './request-conditions.ts'
import { isBuiltInSigner, signerRejection } from './signer-rules.ts'

/** The longest lifetime, unless `--cluster-signing-duration` sets another. */
const lifetimeMsDefault = 365 * 86_400_000
const lifetimeMsMin = 600_000

export const lifetimeMs = (expirationSeconds: number | undefined, lifetimeMsMax = lifetimeMsDefault): number =>
  expirationSeconds === undefined
    ? lifetimeMsMax
    : Math.min(lifetimeMsMax, Math.max(lifetimeMsMin, expirationSeconds * 1000))

export const certificateSigningController = defineController({
  name: 'certificate-signing',
  account: 'certificate-controller',
  watches: [certificateSigningRequest],
  enqueues: (_, { key, now }) => (now === undefined ? [] : [key]),
  async reconcile(key, { client, cached, nowMs, settings }, context) {
    const object = cached(certificateSigningRequest, key)
    const { signer, certificateLifetimeMs } = settings
    if (object === undefined || signer === undefined || !isDue(object)) return undefined
    const requested = requestedCertificate(object, signer)
    const rejection = typeof requested === 'string' ? requested : signerRejection(object.spec, requested)
    const next =
      typeof requested === 'string' || rejection !== undefined
        ? withDecision(object, 'Failed', 'SignerValidationFailure', rejection ?? '', nowMs)
        : issued(
            object,
            signer.sign(
              requested,
              object.spec.usages ?? [],
              lifetimeMs(object.spec.expirationSeconds, certificateLifetimeMs),
            ),
          )
    await client.of(certificateSigningRequest).updateStatus(next, context)
    return undefined
  },
})

const isDue = (object: CertificateSigningRequest): boolean =>
  isBuiltInSigner(object.spec.signerName) &&
  !isIssued(object) &&
  decision(object, 'Approved') !== undefined &&
  decision(object, 'Denied') === undefined &&
  decision(object, 'Failed') === undefined

/** The requested certificate, or why the request is invalid. */
function requestedCertificate(
  object: CertificateSigningRequest,
  signer: CertificateSigner,
): RequestedCertificate | string {
  const text = requestText(object)
  try {
    const requested = parseCertificateRequest(text)
    return signer.verifyRequest(text) ? requested : 'unable to verify certificate request signature'
  } catch (error) {
    return `unable to parse csr ${JSON.stringify(object.metadata.name)}: ${errorText(error)}`
  }
}

const issued = (object: CertificateSigningRequest, certificate: string): CertificateSigningRequest => ({
  ...object,
  status: { ...object.status, certificate: base64Text(certificate) },
})
