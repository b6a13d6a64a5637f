// Signer rules: which requests the built-in signers accept, and the messages with which they reject others.
import type { CertificateSigningRequestSpec } from '../../api/certificates/v1/certificate-signing-request.ts'
import type { RequestedCertificate } from '../../pki/parse-certificate-request.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

type Usages = readonly string[]
type RequestedNames = Pick<RequestedCertificate, 'subject' | 'altNames'>
/** Returns why a request is rejected; undefined when it is accepted. */
type Rule = (requested: RequestedNames, usages: Usages) => string | undefined

const nodeNamePrefix = 'system:node:'
const nodeGroup = 'system:nodes'

export const kubeletClientRejection: Rule = ({ subject, altNames }, usages) => {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes'
  if (altNames.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (altNames.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (altNames.addresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (altNames.uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!subject.commonName.startsWith(nodeNamePrefix)) return 'subject common name does not begin with system:node:'
  return usagesRejection(usages, 'client auth')
}

const kubeletServingRejection: Rule = ({ subject, altNames }, usages) => {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes'
  if (altNames.dnsNames.length + altNames.addresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (altNames.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (altNames.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const wrongUsages = usagesRejection(usages, 'server auth')
  if (wrongUsages !== undefined) return wrongUsages
  return subject.commonName.startsWith(nodeNamePrefix)
    ? undefined
    : 'subject common name does not begin with system:node:'
}

const clientRejection: Rule = (_, usages) => {
  const wrong = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

const isOfNodes = (organizations: readonly string[]): boolean =>
  organizations.length === 1 && organizations[0] === nodeGroup

/** Key encipherment is optional, since it applies to RSA keys only. */
function usagesRejection(usages: Usages, purpose: 'client auth' | 'server auth'): string | undefined {
  const wanted = ['digital signature', 'key encipherment', purpose].toSorted()
  const got = new Set([...usages, 'key encipherment'])
  const all = new Set(wanted)
  return got.size === all.size && got.isSubsetOf(all) ? undefined : `usages did not match [${wanted.join(' ')}]`
}

/** By signer name. The last one signs every approved request. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['kubernetes.io/kube-apiserver-client', clientRejection],
  [kubeletClientSigner, kubeletClientRejection],
  ['kubernetes.io/kubelet-serving', kubeletServingRejection],
  ['kubernetes.io/legacy-unknown', () => undefined],
])

export const isBuiltInSigner = (signerName: string): boolean => rules.has(signerName)

export const signerRejection = (
  { signerName, usages = [] }: CertificateSigningRequestSpec,
  requested: RequestedNames,
): string | undefined => rules.get(signerName)?.(requested, usages)
