// CertificateSigning: only users with the permission to sign for the request's signer may issue its certificate.
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../../api/certificates/v1/certificate-signing-request.ts'
import { equalValues } from '../../../schema/json/json-value.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'
import { requireSignerPermission } from './signer-permission.ts'

export const certificateSigning = defineAdmissionPlugin({
  name: 'CertificateSigning',
  handles: { operations: ['update'], kinds: [certificateSigningRequest], subresources: ['status'] },
  async validate(attributes, host) {
    const { status } = attributes.object as CertificateSigningRequest
    const { status: before } = attributes.old as CertificateSigningRequest
    const isSame =
      status.certificate === before.certificate && equalValues(status.conditions ?? [], before.conditions ?? [])
    if (!isSame) await requireSignerPermission(attributes, host, 'sign')
  },
})
