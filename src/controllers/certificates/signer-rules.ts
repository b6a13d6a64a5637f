// Signer rules: what each of the built-in signers gives a certificate for, and what it says of the rest.
import type { CertificateSigningRequestSpec } from '../../api/certificates/v1/certificate-signing-request.ts'
import type { AskedCertificate } from '../../pki/read-request.ts'

export const kubeletClientSigner = 'kubernetes.io/kube-apiserver-client-kubelet'

type Usages = readonly string[]
type Asked = Pick<AskedCertificate, 'subject' | 'altNames'>
/** What is wrong with a request; undefined when nothing is. */
type Rule = (asked: Asked, usages: Usages) => string | undefined

const nodeNamePrefix = 'system:node:'
const nodeGroup = 'system:nodes'

export const kubeletClientRefusal: Rule = ({ subject, altNames }, usages) => {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes'
  if (altNames.dnsNames.length > 0) return 'DNS subjectAltNames are not allowed'
  if (altNames.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (altNames.addresses.length > 0) return 'IP subjectAltNames are not allowed'
  if (altNames.uris.length > 0) return 'URI subjectAltNames are not allowed'
  if (!subject.commonName.startsWith(nodeNamePrefix)) return 'subject common name does not begin with system:node:'
  return usagesRefusal(usages, 'client auth')
}

const kubeletServingRefusal: Rule = ({ subject, altNames }, usages) => {
  if (!isOfNodes(subject.organizations)) return 'subject organization is not system:nodes'
  if (altNames.dnsNames.length + altNames.addresses.length === 0) return 'DNS or IP subjectAltName is required'
  if (altNames.emails.length > 0) return 'Email subjectAltNames are not allowed'
  if (altNames.uris.length > 0) return 'URI subjectAltNames are not allowed'
  const wrongUsages = usagesRefusal(usages, 'server auth')
  if (wrongUsages !== undefined) return wrongUsages
  return subject.commonName.startsWith(nodeNamePrefix)
    ? undefined
    : 'subject common name does not begin with system:node:'
}

const clientRefusal: Rule = (_, usages) => {
  const wrong = usages.find((usage) => !['digital signature', 'key encipherment', 'client auth'].includes(usage))
  if (wrong !== undefined) return `invalid usage for client certificate: ${wrong}`
  return usages.includes('client auth') ? undefined : 'missing required usage for client certificate: client auth'
}

const isOfNodes = (organizations: readonly string[]): boolean =>
  organizations.length === 1 && organizations[0] === nodeGroup

/** Key encipherment is for RSA keys only, and may be left out. */
function usagesRefusal(usages: Usages, purpose: 'client auth' | 'server auth'): string | undefined {
  const wanted = ['digital signature', 'key encipherment', purpose].toSorted()
  const [got, all] = [new Set([...usages, 'key encipherment']), new Set(wanted)]
  return got.size === all.size && got.isSubsetOf(all) ? undefined : `usages did not match [${wanted.join(' ')}]`
}

/** By the name of the signer. The last one signs whatever was approved. */
const rules: ReadonlyMap<string, Rule> = new Map([
  ['kubernetes.io/kube-apiserver-client', clientRefusal],
  [kubeletClientSigner, kubeletClientRefusal],
  ['kubernetes.io/kubelet-serving', kubeletServingRefusal],
  ['kubernetes.io/legacy-unknown', () => undefined],
])

export const isBuiltInSigner = (signerName: string): boolean => rules.has(signerName)

export const signerRefusal = (
  { signerName, usages = [] }: CertificateSigningRequestSpec,
  asked: Asked,
): string | undefined => rules.get(signerName)?.(asked, usages)
