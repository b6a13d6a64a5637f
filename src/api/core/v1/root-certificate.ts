// The ConfigMap of each namespace with the authorities of API servers' certificates, from which pods get them.
import { objectKey } from '../../meta/object.ts'

export const rootCertificateName = 'kube-root-ca.crt'
/** The key of the one in kube-system: a server whose authorities are replaced changes it, and the others follow. */
export const firstRootCertificate = objectKey('kube-system', rootCertificateName)
