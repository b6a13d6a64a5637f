// X.509 certificates (version 3): what a cluster's authority signs.
import type { Random } from '../base/random.ts'
import type { CryptoProvider, KeyPair } from '../platform/crypto.ts'
import * as der from './der.ts'
import { pem } from './pem.ts'

export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

export type CertificateUse = 'authority' | 'client' | 'server'

export interface CertificateRequest {
  readonly subject: Subject
  readonly uses: readonly CertificateUse[]
  readonly dnsNames: readonly string[]
  readonly addresses: readonly string[]
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly publicKey: Uint8Array
}

export interface Issuer {
  /** The name of the authority, as its certificate writes it. */
  readonly name: Uint8Array
  readonly keyId: Uint8Array
  readonly key: KeyPair
}

/** The signed certificate as PEM. */
export function signCertificate(
  request: CertificateRequest,
  issuer: Issuer,
  random: Random,
  crypto: CryptoProvider,
): string {
  const algorithm = signatureAlgorithm[issuer.key.kind]
  const body = der.sequence(
    der.explicit(0, der.integer(Uint8Array.of(2))),
    der.integer(positive(random.bytes(16))),
    algorithm,
    issuer.name,
    der.sequence(der.time(request.notBeforeMs), der.time(request.notAfterMs)),
    nameOf(request.subject),
    request.publicKey,
    der.explicit(3, der.sequence(...extensions(request, issuer, crypto))),
  )
  return pem('CERTIFICATE', der.sequence(body, algorithm, der.bitString(issuer.key.sign(body))))
}

const signatureAlgorithm = {
  EC: der.sequence(der.objectIdentifier('1.2.840.10045.4.3.2')),
  RSA: der.sequence(der.objectIdentifier('1.2.840.113549.1.1.11'), der.tagged(0x05, new Uint8Array())),
} as const
const oid = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const

export function nameOf({ commonName, organizations }: Subject): der.Der {
  const attribute = (type: string, value: string) =>
    der.set(der.sequence(der.objectIdentifier(type), der.utf8String(value)))
  return der.sequence(
    ...organizations.map((organization) => attribute(oid.organization, organization)),
    attribute(oid.commonName, commonName),
  )
}

function extensions(request: CertificateRequest, issuer: Issuer, crypto: CryptoProvider): der.Der[] {
  const isAuthority = request.uses.includes('authority')
  // Bits from the left: digitalSignature 0, keyEncipherment 2, keyCertSign 5, cRLSign 6.
  const keyUsage = isAuthority
    ? der.bitString(Uint8Array.of(0b1000_0110), 1)
    : der.bitString(Uint8Array.of(0b1010_0000), 5)
  const all = [
    extension(oid.keyUsage, true, keyUsage),
    extension(oid.basicConstraints, true, isAuthority ? der.sequence(der.boolean(true)) : der.sequence()),
    extension(oid.subjectKeyId, false, der.octetString(keyIdOf(request.publicKey, crypto))),
    extension(oid.authorityKeyId, false, der.sequence(der.implicit(0, issuer.keyId))),
  ]
  const purposes = [
    ...(request.uses.includes('server') ? [oid.serverAuth] : []),
    ...(request.uses.includes('client') ? [oid.clientAuth] : []),
  ]
  if (purposes.length > 0)
    all.push(extension(oid.extendedKeyUsage, false, der.sequence(...purposes.map(der.objectIdentifier))))
  const names = [
    ...request.dnsNames.map((dnsName) => der.implicit(2, new TextEncoder().encode(dnsName))),
    ...request.addresses.map((address) => der.implicit(7, addressBytes(address))),
  ]
  if (names.length > 0) all.push(extension(oid.subjectAltName, false, der.sequence(...names)))
  return all
}

const extension = (id: string, critical: boolean, value: der.Der): der.Der =>
  der.sequence(der.objectIdentifier(id), ...(critical ? [der.boolean(true)] : []), der.octetString(value))

export const keyIdOf = (publicKey: Uint8Array, crypto: CryptoProvider): Uint8Array =>
  crypto.sha256(publicKey).subarray(0, 20)

function positive(bytes: Uint8Array): Uint8Array {
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

/** The bytes of an IPv4 or IPv6 address. */
export function addressBytes(address: string): Uint8Array {
  if (!address.includes(':')) return Uint8Array.from(address.split('.').map(Number))
  const [head = '', tail = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [left, right] = [groups(head), groups(tail)]
  const all = [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right]
  return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 0xff]))
}
