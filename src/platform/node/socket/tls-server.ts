// A TLS server of Node.js for connections that were accepted elsewhere.
import { createServer, type Server } from 'node:tls'
import type { ListenTls } from '../../http/listener.ts'

export const createTlsServer = (tls: ListenTls): Server =>
  createServer({
    ...secureContextOf(tls),
    ALPNProtocols: ['h2', 'http/1.1'],
    requestCert: true,
    rejectUnauthorized: false, // a client without a certificate may authenticate with a token
  })

export const secureContextOf = ({ certificate, key, clientAuthorities }: ListenTls) => ({
  cert: certificate,
  key,
  ca: Object.values(clientAuthorities),
  minVersion: 'TLSv1.2' as const,
})
