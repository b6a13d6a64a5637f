// Checks whether a user may approve or sign for a signer, by the signer's name or by its domain with a wildcard.
import type { CertificateSigningRequest } from '../../../api/certificates/v1/certificate-signing-request.ts'
import { certificateSigningRequest } from '../../../api/certificates/v1/certificate-signing-request.ts'
import { admissionForbidden, type AdmissionAttributes, type AdmissionHost } from '../framework/admission-plugin.ts'

export async function requireSignerPermission(
  attributes: AdmissionAttributes,
  host: AdmissionHost,
  verb: 'approve' | 'sign',
): Promise<void> {
  const { signerName } = (attributes.old as CertificateSigningRequest).spec
  const { group, version } = certificateSigningRequest
  const names = [signerName, `${signerName.split('/')[0]}/*`]
  for (const name of names)
    if (await host.isAllowed(attributes.user, verb, { group, version, resource: 'signers', name }, attributes.signal))
      return
  throw admissionForbidden(
    attributes,
    `user not permitted to ${verb} requests with signerName ${JSON.stringify(signerName)}`,
  )
}
