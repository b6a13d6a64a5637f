// Reads the identity of a client from its TLS certificate.
import { X509Certificate } from 'node:crypto'
import type { TLSSocket } from 'node:tls'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { ClientAuthority, ClientCertificate, ListenTls } from '../../http/listener.ts'

interface Root {
  readonly certificate: X509Certificate
  readonly authority: ClientAuthority
}

/** The root certificates, and for what each is trusted, by the names of their subjects. */
export type Roots = ReadonlyMap<string, readonly Root[]>

/** Longer paths are not followed, as in OpenSSL. */
const pathMax = 100

export function rootsOf({ clientAuthorities }: ListenTls): Roots {
  const roots = new Map<string, Root[]>()
  for (const [authority, bundle] of Object.entries(clientAuthorities) as [ClientAuthority, string][])
    for (const [pem] of bundle.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g)) {
      const certificate = new X509Certificate(pem)
      getOrInsert(roots, certificate.subject, () => []).push({ certificate, authority })
    }
  return roots
}

export const isExpired = ({ validToMs }: ClientCertificate, nowMs: number): boolean => validToMs < nowMs

/** Slow; called once for each connection. A resumed TLS session has the certificate of its first handshake. */
export function clientCertificate(socket: TLSSocket, roots: Roots): ClientCertificate | undefined {
  const peer = socket.getPeerCertificate()
  const certificate = socket.getPeerX509Certificate()
  if (peer?.subject === undefined || certificate === undefined) return undefined
  const organizations: unknown = peer.subject.O
  return {
    commonName: String(peer.subject.CN ?? ''),
    organizations: organizations === undefined ? [] : [organizations].flat().map(String),
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    trustedFor: socket.authorized ? trustedFor(certificate, roots) : [],
    validToMs: Date.parse(peer.valid_to),
  }
}

/**
 * What the roots are trusted for that have signed the certificate, or one that has signed it. A client may show any certificates beside its
 * own, so each step is verified: OpenSSL has found a path to some root, and not necessarily this one.
 */
function trustedFor(certificate: X509Certificate, roots: Roots): readonly ClientAuthority[] {
  let current = certificate
  for (let length = 0; length < pathMax; length++) {
    const own = (roots.get(current.subject) ?? []).filter((root) => root.certificate.raw.equals(current.raw))
    const signing = (roots.get(current.issuer) ?? []).filter((root) => isSignedBy(current, root.certificate))
    const trusted = [...own, ...signing]
    if (trusted.length > 0) return [...new Set(trusted.map(({ authority }) => authority))]
    const { issuerCertificate: issuer } = current
    if (issuer?.ca !== true || !isSignedBy(current, issuer)) return []
    current = issuer
  }
  return []
}

const isSignedBy = (certificate: X509Certificate, issuer: X509Certificate): boolean =>
  certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey)
