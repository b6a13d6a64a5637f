// The thread that speaks TLS: it accepts connections, and passes on what clients say and what they are told.
import type { AddressInfo } from 'node:net'
import { parentPort, workerData } from 'node:worker_threads'
import { rootsOf, clientCertificate } from '../client-certificate.ts'
import { contextOf, securedServer } from '../secured-server.ts'
import { Link } from './link.ts'
import { numberOf, numbersMax, type FromThread, type ThreadStart, type ToThread } from './protocol.ts'
import { ThreadConnection } from './thread-connection.ts'

const { memory, host, port, tls } = workerData as ThreadStart
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

const server = securedServer(tls)
server.on('secureConnection', (socket) => {
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
})
server.once('listening', () => {
  const address = server.address() as AddressInfo
  post({ host: address.address, port: address.port })
})
server.once('error', ({ code = '', message }: NodeJS.ErrnoException) => post({ failed: { code, message } }))
server.listen(port, host)

parentPort?.on('message', (message: ToThread) => {
  if (message === 'wake') return link.woken()
  if (message === 'shut') return void server.close()
  server.setSecureContext(contextOf(message.renew))
  roots = rootsOf(message.renew)
  post('renewed')
})
link.woken()
