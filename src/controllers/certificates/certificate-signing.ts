// Certificate signing: what was approved for one of the built-in signers is signed, or has failed and says why.
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { errorText } from '../../base/log.ts'
import { base64Text } from '../../pki/pem.ts'
import { readRequest, type AskedCertificate } from '../../pki/read-request.ts'
import type { CertificateSigner } from '../../pki/signer.ts'
import { defineController } from '../controller.ts'
import { decision, isIssued, requestText, withDecision } from './request-conditions.ts'
import { isBuiltInSigner, signerRefusal } from './signer-rules.ts'

/** Nobody gets more, unless `--cluster-signing-duration` says otherwise. */
const lifeMsDefault = 365 * 86_400_000
const lifeMsMin = 600_000

export const lifeMsOf = (expirationSeconds: number | undefined, lifeMsMax = lifeMsDefault): number =>
  expirationSeconds === undefined ? lifeMsMax : Math.min(lifeMsMax, Math.max(lifeMsMin, expirationSeconds * 1000))

export const certificateSigningController = defineController({
  name: 'certificate-signing',
  account: 'certificate-controller',
  watches: [certificateSigningRequest],
  wakes: (_, { key, now }) => (now === undefined ? [] : [key]),
  async reconcile(key, { client, cached, nowMs, settings }, context) {
    const object = cached(certificateSigningRequest, key)
    const { signer, certificateLifeMs } = settings
    if (object === undefined || signer === undefined || !isDue(object)) return undefined
    const asked = askedBy(object, signer)
    const refusal = typeof asked === 'string' ? asked : signerRefusal(object.spec, asked)
    const next =
      typeof asked === 'string' || refusal !== undefined
        ? withDecision(object, 'Failed', 'SignerValidationFailure', refusal ?? '', nowMs)
        : issued(
            object,
            signer.sign(asked, object.spec.usages ?? [], lifeMsOf(object.spec.expirationSeconds, certificateLifeMs)),
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

/** What it asks for, or why that cannot be said. */
function askedBy(object: CertificateSigningRequest, signer: CertificateSigner): AskedCertificate | string {
  const text = requestText(object)
  try {
    const asked = readRequest(text)
    return signer.isSignedByItsKey(text) ? asked : 'unable to verify certificate request signature'
  } catch (error) {
    return `unable to parse csr ${JSON.stringify(object.metadata.name)}: ${errorText(error)}`
  }
}

const issued = (object: CertificateSigningRequest, certificate: string): CertificateSigningRequest => ({
  ...object,
  status: { ...object.status, certificate: base64Text(certificate) },
})
