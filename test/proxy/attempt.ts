// One connection or datagram to an address, and what became of it. Servers respond with their name and the client's
// address.
import { createSocket } from 'node:dgram'
import { connect, createServer } from 'node:net'
import { realClock } from '../../src/base/time/clock.ts'

export interface Attempt {
  readonly protocol: 'TCP' | 'UDP'
  readonly address: string
  readonly port: number
  /** How long to wait for a response. */
  readonly waitMs: number
}

/** `name address` of the server and of the client that it saw, `refused`, or `silent`. */
export type Outcome = string

export const attempt = (what: Attempt): Promise<Outcome> => (what.protocol === 'TCP' ? viaTcp(what) : viaUdp(what))

function viaTcp({ address, port, waitMs }: Attempt): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    let text = ''
    const end = (outcome: Outcome) => {
      timer.cancel()
      socket.destroy()
      resolve(outcome)
    }
    const timer = realClock.after(waitMs, () => end('silent'))
    socket.on('data', (bytes) => (text += bytes.toString()))
    socket.on('end', () => end(text))
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED' ? 'refused' : String(error)))
  })
}

function viaUdp({ address, port, waitMs }: Attempt): Promise<Outcome> {
  return new Promise((resolve) => {
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4')
    const end = (outcome: Outcome) => {
      timer.cancel()
      socket.close()
      resolve(outcome)
    }
    const timer = realClock.after(waitMs, () => end('silent'))
    socket.on('message', (bytes) => end(bytes.toString()))
    socket.on('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED' ? 'refused' : String(error)))
    // A connected socket reports ICMP errors.
    socket.connect(port, address, () => socket.send('?'))
  })
}

const plain = (address = '') => address.replace(/^::ffff:/, '')

/** Responds on all addresses of the machine, until the process ends; it does not keep the process running. */
export async function respond(name: string, port: number): Promise<void> {
  const tcp = createServer({ allowHalfOpen: false }, (socket) => {
    socket.on('error', () => {})
    socket.end(`${name} ${plain(socket.remoteAddress)}`)
  })
  const udp = createSocket('udp6')
  udp.on('message', (_bytes, { address, port: from }) => udp.send(`${name} ${plain(address)}`, from, address))
  await Promise.all([
    new Promise<void>((resolve) => void tcp.listen(port, '::', 511, resolve)),
    new Promise<void>((resolve) => void udp.bind(port, '::', resolve)),
  ])
  tcp.unref()
  udp.unref()
}
