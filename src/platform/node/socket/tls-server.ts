// A server of Node.js that speaks TLS on the connections that it is given.
import { createServer, type Server } from 'node:tls'
import type { ListenTls } from '../../http/listener.ts'

export const createTlsServer = (tls: ListenTls): Server =>
  createServer({
    ...secureContextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    rejectUnauthorized: false, // who presents no certificate may still present a token
  })

export const secureContextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})
