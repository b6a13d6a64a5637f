// nodePodDialer: connections to pods over the host's network.
import { connect as connectPlain, type Socket } from 'node:net'
import { connect as connectSecure } from 'node:tls'
import type { Clock } from '../../base/time/clock.ts'
import type { Http2Provider } from '../../platform/http/http2-client.ts'
import { byteStreamOn } from '../../platform/node/socket/socket-byte-stream.ts'
import { unreachable } from '../../platform/node/http/outbound-errors.ts'
import { GrpcChannel, noMetadata } from '../../wire/grpc/grpc-channel.ts'
import { healthCheck } from './health-messages.ts'
import { authorityOf, type PodDialer } from './pod-dialer.ts'

export const nodePodDialer = (http2: Http2Provider, clock: Clock): PodDialer => ({
  connect: ({ host, port }, tls, signal) =>
    new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason as Error)
      const socket: Socket = tls
        ? connectSecure({ host, port, rejectUnauthorized: false })
        : connectPlain({ host, port })
      const abort = () => {
        socket.destroy()
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      socket.once('close', () => signal.removeEventListener('abort', abort))
      socket.once('error', (error) => reject(unreachable(authorityOf({ host, port }), error)))
      socket.once(tls ? 'secureConnect' : 'connect', () => resolve(byteStreamOn(socket)))
    }),
  async checkHealth(target, service, signal) {
    const channel = new GrpcChannel({ http2, clock, endpoint: `http://${authorityOf(target)}` })
    try {
      return (await channel.unary(healthCheck, { service }, noMetadata, signal)).status
    } finally {
      channel.close()
    }
  },
})
