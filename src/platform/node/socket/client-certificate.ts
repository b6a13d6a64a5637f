// Reads the identity of a client from its TLS certificate.
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { ClientAuthority, ClientCertificate, ListenTls } from '../../http/listener.ts'

/** The authority of each root certificate, by fingerprint. */
export type Roots = ReadonlyMap<string, ClientAuthority>

export const rootsOf = ({ clientAuthorities }: ListenTls): Roots =>
  new Map(
    (Object.entries(clientAuthorities) as [ClientAuthority, string][]).flatMap(([authority, bundle]) =>
      (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) => [
        new X509Certificate(pem).fingerprint256,
        authority,
      ]),
    ),
  )

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
    authority: socket.authorized ? roots.get(rootOf(peer).fingerprint256) : undefined,
    validToMs: Date.parse(peer.valid_to),
  }
}

function rootOf(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  const { issuerCertificate: issuer } = certificate
  return issuer === undefined || issuer === certificate ? certificate : rootOf(issuer)
}
