// The TLS thread: accepts connections, and passes bytes between clients and the event loop.
import { parentPort, workerData } from 'node:worker_threads'
import type { TLSSocket } from 'node:tls'
import { every, realClock } from '../../../base/time/clock.ts'
import type { ShedReason } from '../../limits/listen-limits.ts'
import { TcpServer } from '../socket/tcp-server.ts'
import { rootsOf, clientCertificate } from '../socket/client-certificate.ts'
import { Link } from './link.ts'
import { connectionIdOf, connectionIdsMax, type FromThread, type ThreadStart, type ToThread } from './protocol.ts'
import { ThreadConnection } from './thread-connection.ts'

const { memory, host, port, tls, limits } = workerData as ThreadStart
const connections = new Map<number, ThreadConnection>()
/** Connections that are not read while the link is full. */
const held = new Set<ThreadConnection>()
let roots = rootsOf(tls)
let lastConnectionId = 0

const post = (message: FromThread) => parentPort?.postMessage(message)

const link = new Link(memory, {
  wakePeer: () => post('wake'),
  onFrame: (tag, bytes) => connections.get(connectionIdOf(tag))?.onFrame(tag, bytes),
  onRoom() {
    for (const connection of held) connection.release()
    held.clear()
  },
})

function newConnectionId(): number {
  do lastConnectionId = (lastConnectionId + 1) % connectionIdsMax
  while (connections.has(lastConnectionId))
  return lastConnectionId
}

/** Reported once a second, so that a flood of connections does not cause a flood of messages. */
const shed = new Map<ShedReason, number>()

function serve(socket: TLSSocket): void {
  const number = newConnectionId()
  const connection = new ThreadConnection(socket, number, link, held)
  connections.set(number, connection)
  socket.once('close', () => {
    connections.delete(number)
    held.delete(connection)
  })
  socket.setNoDelay(true)
  connection.open({
    remoteAddress: socket.remoteAddress ?? '',
    certificate: clientCertificate(socket, roots),
    isHttp2: socket.alpnProtocol === 'h2',
  })
}

const server = new TcpServer({
  tls,
  limits,
  clock: realClock,
  onShed: (reason, count) => void shed.set(reason, (shed.get(reason) ?? 0) + count),
  onConnection: (socket) => serve(socket as TLSSocket),
})
server.listen(port, host).then(
  ({ address, port: taken }) => post({ host: address, port: taken }),
  ({ code = '', message }: NodeJS.ErrnoException) => post({ failed: { code, message } }),
)
every(realClock, 1_000, () => {
  for (const connection of connections.values()) connection.tick()
  if (shed.size === 0) return
  post({ shed: [...shed] })
  shed.clear()
})

parentPort?.on('message', (message: ToThread) => {
  if (message === 'wake') return link.onWake()
  if (message === 'shut') return server.stopAccepting()
  server.renew(message.renew)
  roots = rootsOf(message.renew)
  post('renewed')
})
link.onWake()
