// CertificateSubjectRestriction: nobody asks for a client certificate of the group that may do everything.
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../api/certificates/v1/certificate-signing-request.ts'
import { readRequestSubject } from '../../pki/read-request.ts'
import { defineAdmissionPlugin, refused } from './plugin.ts'

const clientSigner = 'kubernetes.io/kube-apiserver-client'
const privilegedGroup = 'system:masters'

export const certificateSubjectRestriction = defineAdmissionPlugin({
  name: 'CertificateSubjectRestriction',
  handles: { operations: ['create'], kinds: [certificateSigningRequest] },
  validate(attributes) {
    const { spec } = attributes.object as CertificateSigningRequest
    if (spec.signerName !== clientSigner) return
    if (organizationsOf(spec.request).includes(privilegedGroup))
      throw refused(attributes, `use of ${clientSigner} signer with ${privilegedGroup} group is not allowed`)
    function organizationsOf(request: string): readonly string[] {
      try {
        return readRequestSubject(atob(request)).organizations
      } catch (error) {
        throw refused(attributes, `failed to parse CSR: ${(error as Error).message}`)
      }
    }
  },
})
