// Reads the identity of a client from its TLS certificate.
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import { getOrInsert } from '../../../base/collections/get-or-insert.ts'
import type { ClientAuthority, ClientCertificate, ListenTls } from '../../http/listener.ts'

/** For what each root certificate is trusted, by fingerprint. */
export type Roots = ReadonlyMap<string, readonly ClientAuthority[]>

export function rootsOf({ clientAuthorities }: ListenTls): Roots {
  const roots = new Map<string, ClientAuthority[]>()
  for (const [authority, bundle] of Object.entries(clientAuthorities) as [ClientAuthority, string][])
    for (const [pem] of bundle.matchAll(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g))
      getOrInsert(roots, new X509Certificate(pem).fingerprint256, () => []).push(authority)
  return roots
}

export const isExpired = ({ validToMs }: ClientCertificate, nowMs: number): boolean => validToMs < nowMs

/** Slow; called once for each connection. A resumed TLS session has the certificate of its first handshake. */
export function clientCertificate(socket: TLSSocket, roots: Roots): ClientCertificate | undefined {
  const peer = socket.getPeerCertificate(true)
  if (peer?.subject === undefined) return undefined
  const organizations: unknown = peer.subject.O
  return {
    commonName: String(peer.subject.CN ?? ''),
    organizations: organizations === undefined ? [] : [organizations].flat().map(String),
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    trustedFor: (socket.authorized ? roots.get(rootOf(peer).fingerprint256) : undefined) ?? [],
    validToMs: Date.parse(peer.valid_to),
  }
}

function rootOf(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  const { issuerCertificate: issuer } = certificate
  return issuer === undefined || issuer === certificate ? certificate : rootOf(issuer)
}
