// The thread that speaks TLS: it accepts connections, and passes on what clients say and what they are told.
import { parentPort, workerData } from 'node:worker_threads'
import type { TLSSocket } from 'node:tls'
import { every, realClock } from '../../../base/clock.ts'
import type { ShedReason } from '../../listen-limits.ts'
import { Acceptor } from '../acceptor.ts'
import { rootsOf, clientCertificate } from '../client-certificate.ts'
import { Link } from './link.ts'
import { numberOf, numbersMax, type FromThread, type ThreadStart, type ToThread } from './protocol.ts'
import { ThreadConnection } from './thread-connection.ts'

const { memory, host, port, tls, limits } = workerData as ThreadStart
const connections = new Map<number, ThreadConnection>()
/** They are not read while there is no room for what they say. */
const held = new Set<ThreadConnection>()
let roots = rootsOf(tls)
let lastNumber = 0

const post = (message: FromThread) => parentPort?.postMessage(message)

const link = new Link(memory, {
  wake: () => post('wake'),
  onFrame: (tag, bytes) => connections.get(numberOf(tag))?.onFrame(tag, bytes),
  onRoom() {
    for (const connection of held) connection.release()
    held.clear()
  },
})

function newNumber(): number {
  do lastNumber = (lastNumber + 1) % numbersMax
  while (connections.has(lastNumber))
  return lastNumber
}

/** Told once a second: a flood of connections is not a flood of messages. */
const shed = new Map<ShedReason, number>()

function serve(socket: TLSSocket): void {
  const number = newNumber()
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

const acceptor = new Acceptor({
  tls,
  limits,
  clock: realClock,
  onShed: (reason, count) => void shed.set(reason, (shed.get(reason) ?? 0) + count),
  onConnection: (socket) => serve(socket as TLSSocket),
})
acceptor.listen(port, host).then(
  ({ address, port: taken }) => post({ host: address, port: taken }),
  ({ code = '', message }: NodeJS.ErrnoException) => post({ failed: { code, message } }),
)
every(realClock, 1_000, () => {
  for (const connection of connections.values()) connection.look()
  if (shed.size === 0) return
  post({ shed: [...shed] })
  shed.clear()
})

parentPort?.on('message', (message: ToThread) => {
  if (message === 'wake') return link.woken()
  if (message === 'shut') return acceptor.shut()
  acceptor.renew(message.renew)
  roots = rootsOf(message.renew)
  post('renewed')
})
link.woken()
