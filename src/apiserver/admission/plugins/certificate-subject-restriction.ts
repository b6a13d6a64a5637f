// CertificateSubjectRestriction: a client certificate of the group system:masters cannot be requested.
import {
  certificateSigningRequest,
  type CertificateSigningRequest,
} from '../../../api/certificates/v1/certificate-signing-request.ts'
import { parseRequestSubject } from '../../../pki/parse-certificate-request.ts'
import { defineAdmissionPlugin, admissionForbidden } from '../framework/admission-plugin.ts'

const clientSigner = 'kubernetes.io/kube-apiserver-client'
const privilegedGroup = 'system:masters'

export const certificateSubjectRestriction = defineAdmissionPlugin({
  name: 'CertificateSubjectRestriction',
  handles: { operations: ['create'], kinds: [certificateSigningRequest] },
  validate(attributes) {
    const { spec } = attributes.object as CertificateSigningRequest
    if (spec.signerName !== clientSigner) return
    if (organizationsOf(spec.request).includes(privilegedGroup))
      throw admissionForbidden(attributes, `use of ${clientSigner} signer with ${privilegedGroup} group is not allowed`)
    function organizationsOf(request: string): readonly string[] {
      try {
        return parseRequestSubject(atob(request)).organizations
      } catch (error) {
        throw admissionForbidden(attributes, `failed to parse CSR: ${(error as Error).message}`)
      }
    }
  },
})
