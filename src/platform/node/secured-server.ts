// A server of Node.js that speaks TLS on the connections that it is given.
import { createServer, type Server } from 'node:tls'
import type { ListenTls } from '../listener.ts'

export const securedServer = (tls: ListenTls): Server =>
  createServer({
    ...contextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    rejectUnauthorized: false, // who presents no certificate may still present a token
  })

export const contextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})
