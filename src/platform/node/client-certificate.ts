// Who a client is by its certificate.
import { X509Certificate } from 'node:crypto'
import type { DetailedPeerCertificate, TLSSocket } from 'node:tls'
import type { ClientAuthority, ClientCertificate, ListenTls } from '../listener.ts'

/** Which authority a root certificate stands for, by its fingerprint. */
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

/** Slow, and the same while the connection lives. */
export function clientCertificate(socket: TLSSocket, roots: Roots): ClientCertificate | undefined {
  if (!socket.authorized) return undefined
  const peer = socket.getPeerCertificate(true)
  const authority = roots.get(rootOf(peer).fingerprint256)
  if (peer.subject === undefined || authority === undefined) return undefined
  const organizations: unknown = peer.subject.O
  return {
    commonName: String(peer.subject.CN ?? ''),
    organizations: organizations === undefined ? [] : [organizations].flat().map(String),
    fingerprint: peer.fingerprint256.replaceAll(':', '').toLowerCase(),
    authority,
  }
}

function rootOf(certificate: DetailedPeerCertificate): DetailedPeerCertificate {
  const { issuerCertificate: issuer } = certificate
  return issuer === undefined || issuer === certificate ? certificate : rootOf(issuer)
}
