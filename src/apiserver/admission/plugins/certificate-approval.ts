// CertificateApproval: only users with the permission to approve for its signer may approve or deny a request.
import { certificateSigningRequest } from '../../../api/certificates/v1/certificate-signing-request.ts'
import { defineAdmissionPlugin } from '../framework/admission-plugin.ts'
import { requireSignerPermission } from './signer-permission.ts'

export const certificateApproval = defineAdmissionPlugin({
  name: 'CertificateApproval',
  handles: { operations: ['update'], kinds: [certificateSigningRequest], subresources: ['approval'] },
  validate: (attributes, host) => requireSignerPermission(attributes, host, 'approve'),
})
