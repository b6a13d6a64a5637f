// A TLS server of Node.js for connections that were accepted elsewhere.
import { createSecureContext, createServer, type SecureContext, type Server } from 'node:tls'
import { RecentMap } from '../../../base/collections/recent-map.ts'
import type { KeyPair, ListenTls } from '../../http/listener.ts'

/** `contextOf` returns the certificate for a name, if it has its own. */
export const createTlsServer = (tls: ListenTls, contextOf: (name: string) => SecureContext | undefined): Server =>
  createServer({
    ...secureContextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    SNICallback: (name, callback) => {
      try {
        callback(null, contextOf(name))
      } catch (error) {
        callback(error as Error)
      }
    },
    requestCert: Object.keys(tls.clientAuthorities).length > 0,
    rejectUnauthorized: false, // a client without a certificate may authenticate with a token
  })

export const secureContextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})

/** Contexts that are kept. One takes 30 KiB and a millisecond to make, so they are made when clients ask for them. */
const contextsMax = 1_000

/** The contexts by name. */
export function serverNameContexts(tls: ListenTls | undefined): (name: string) => SecureContext | undefined {
  const contexts = new RecentMap<KeyPair, SecureContext>(contextsMax)
  return (name) => {
    const pair = tls?.certificateOf?.(name.toLowerCase())
    if (pair === undefined) return undefined
    const known = contexts.get(pair)
    if (known !== undefined) return known
    const made = createSecureContext({ cert: pair.certificate, key: pair.key, minVersion: 'TLSv1.2' })
    contexts.set(pair, made)
    return made
  }
}
