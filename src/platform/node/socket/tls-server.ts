// A TLS server of Node.js for connections that were accepted elsewhere.
import { createSecureContext, createServer, type SecureContext, type Server } from 'node:tls'
import type { ListenTls } from '../../http/listener.ts'

/** `contextOf` returns the certificate for a name, if it has its own. */
export const createTlsServer = (tls: ListenTls, contextOf: (name: string) => SecureContext | undefined): Server =>
  createServer({
    ...secureContextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    SNICallback: (name, callback) => callback(null, contextOf(name)),
    requestCert: Object.keys(tls.clientAuthorities).length > 0,
    rejectUnauthorized: false, // a client without a certificate may authenticate with a token
  })

export const secureContextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})

/** The certificates by name. */
export function serverNameContexts(tls: ListenTls | undefined): (name: string) => SecureContext | undefined {
  const contexts = new Map<string, SecureContext>()
  for (const { name, certificate, key } of tls?.serverNames ?? [])
    contexts.set(name, createSecureContext({ cert: certificate, key, minVersion: 'TLSv1.2' }))
  return (name) => {
    const lower = name.toLowerCase()
    return contexts.get(lower) ?? contexts.get(`*${lower.slice(Math.max(lower.indexOf('.'), 0))}`)
  }
}
