// identityOptions: the options of Node.js with which a client verifies a server by its ServerIdentity.
import { X509Certificate } from 'node:crypto'
import type { ConnectionOptions, PeerCertificate } from 'node:tls'
import type { AlternativeName, ServerIdentity } from '../../http/server-identity.ts'

export const identityOptions = ({
  authority,
  serverName,
  names,
}: ServerIdentity): Pick<ConnectionOptions, 'ca' | 'checkServerIdentity' | 'servername'> => ({
  ca: authority,
  servername: serverName,
  checkServerIdentity: (_host: string, { raw }: PeerCertificate) => {
    const certificate = new X509Certificate(raw)
    if (names.some((name) => hasName(certificate, name))) return undefined
    const wanted = names.map((each) => (each.kind === 'dns' ? each.name : each.uri)).join(', ')
    return new Error(
      `the certificate of the server is valid for ${certificate.subjectAltName ?? 'no name'}, not for ${wanted}`,
    )
  },
})

function hasName(certificate: X509Certificate, wanted: AlternativeName): boolean {
  const own = alternativeNames(certificate.subjectAltName ?? '')
  if (wanted.kind === 'uri') return own.includes(`URI:${wanted.uri}`)
  if (!wanted.name.startsWith('*.')) return certificate.checkHost(wanted.name, { subject: 'never' }) !== undefined
  const suffix = wanted.name.slice(1).toLowerCase()
  return own.some((each) => each.startsWith('DNS:') && each.toLowerCase().endsWith(suffix))
}

/** Values with separators are quoted. */
function alternativeNames(text: string): readonly string[] {
  const found = text.matchAll(/(?:^|, )([A-Za-z ]+):("(?:[^"\\]|\\.)*"|[^,"]*)/g) // linear: parts begin differently
  return Array.from(found, ([, type = '', value = '']) => `${type}:${value.startsWith('"') ? unquoted(value) : value}`)
}

function unquoted(value: string): string {
  try {
    return String(JSON.parse(value))
  } catch {
    return ''
  }
}
