// Creates X.509 certificates (version 3).
import { ipBytes, mappedIpv4 } from '../base/net/ip-bytes.ts'
import type { Random } from '../base/random/random.ts'
import type { CryptoProvider, KeyPair } from '../platform/crypto/crypto.ts'
import * as der from './der.ts'
import { keyUsageOf, purposesOf } from './key-usages.ts'
import { encodePem } from './pem.ts'

export interface Subject {
  readonly commonName: string
  readonly organizations: readonly string[]
}

/** Subject alternative names. */
export interface AltNames {
  readonly dnsNames: readonly string[]
  /** Four or sixteen bytes each. */
  readonly addresses: readonly Uint8Array[]
  readonly emails: readonly string[]
  readonly uris: readonly string[]
}

export interface CertificateTemplate {
  /** DER of the subject's name. */
  readonly name: Uint8Array
  readonly isAuthority: boolean
  /** By the names of the CertificateSigningRequest API, such as `client auth`. */
  readonly usages: readonly string[]
  readonly altNames: AltNames
  readonly notBeforeMs: number
  readonly notAfterMs: number
  readonly publicKey: Uint8Array
}

export interface Issuer {
  /** DER of the authority's name, as in its certificate. */
  readonly name: Uint8Array
  readonly keyId: Uint8Array
  readonly key: KeyPair
}

/** Returns the signed certificate as PEM. */
export function signCertificate(
  request: CertificateTemplate,
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
    request.name,
    request.publicKey,
    der.explicit(3, der.sequence(...extensions(request, issuer, crypto))),
  )
  return encodePem('CERTIFICATE', der.sequence(body, algorithm, der.bitString(issuer.key.sign(body))))
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
} as const

export const encodeName = ({ commonName, organizations }: Subject): der.Der =>
  encodeNameAttributes([
    ...organizations.map((organization) => [oid.organization, organization] as const),
    [oid.commonName, commonName],
  ])

export const encodeNameAttributes = (attributes: readonly (readonly [id: string, value: string])[]): der.Der =>
  der.sequence(
    ...attributes.map(([id, value]) => der.set(der.sequence(der.objectIdentifier(id), der.utf8String(value)))),
  )

function extensions(request: CertificateTemplate, issuer: Issuer, crypto: CryptoProvider): der.Der[] {
  const { isAuthority, usages } = request
  const keyUsage = keyUsageOf(usages)
  const purposes = purposesOf(usages)
  const names = encodeAltNames(request.altNames)
  return [
    ...(keyUsage === undefined ? [] : [extension(oid.keyUsage, true, keyUsage)]),
    extension(oid.basicConstraints, true, isAuthority ? der.sequence(der.boolean(true)) : der.sequence()),
    extension(oid.subjectKeyId, false, der.octetString(keyIdOf(request.publicKey, crypto))),
    extension(oid.authorityKeyId, false, der.sequence(der.implicit(0, issuer.keyId))),
    ...(purposes.length === 0
      ? []
      : [extension(oid.extendedKeyUsage, false, der.sequence(...purposes.map(der.objectIdentifier)))]),
    ...(names === undefined ? [] : [extension(oid.subjectAltName, false, names)]),
  ]
}

/** The value of the subjectAltName extension; undefined when there are no names. */
export function encodeAltNames({ dnsNames, addresses, emails, uris }: AltNames): der.Der | undefined {
  const text = (tag: number) => (value: string) => der.implicit(tag, new TextEncoder().encode(value))
  const names = [
    ...dnsNames.map(text(2)),
    ...emails.map(text(1)),
    ...addresses.map((address) => der.implicit(7, address)),
    ...uris.map(text(6)),
  ]
  return names.length === 0 ? undefined : der.sequence(...names)
}

export const extension = (id: string, critical: boolean, value: der.Der): der.Der =>
  der.sequence(der.objectIdentifier(id), ...(critical ? [der.boolean(true)] : []), der.octetString(value))

export const keyIdOf = (publicKey: Uint8Array, crypto: CryptoProvider): Uint8Array =>
  crypto.sha256(publicKey).subarray(0, 20)

function positive(bytes: Uint8Array): Uint8Array {
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40
  return bytes
}

/** The bytes of an IPv4 or IPv6 address. IPv4 in IPv6 notation is IPv4, as in Go. */
export function encodeAddress(address: string): Uint8Array {
  const bytes = ipBytes(address)
  if (bytes === undefined) throw new Error(`${JSON.stringify(address)} is not an IP address`)
  return mappedIpv4(bytes) ?? bytes
}
