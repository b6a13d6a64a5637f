// The client of the test, in a network namespace of its own. It sends requests over HTTPS at a given rate until its input
// ends, most of them on connections that are kept, and prints what it saw. It also tries to reach pods without
// the proxy, which no policy allows.
import { connect } from 'node:net'
import { createSecureContext } from 'node:tls'
import { every, realClock } from '../../../src/base/time/clock.ts'
import { HttpsConnection } from './https-connection.ts'

export interface ClientOrder {
  readonly host: string
  readonly port: number
  readonly ca: string
  readonly requestsPerSecond: number
  /** Addresses of pods. */
  readonly closed: readonly string[]
}

export interface Seen {
  /** How many requests ended with each status or error. */
  readonly outcomes: Readonly<Record<string, number>>
  readonly certificates: number
  readonly seconds: number
  /** Requests that were not sent at their time, because too many were waiting for their responses. */
  readonly late: number
}

const pendingMax = 512
/** Every fiftieth request has a connection of its own, which shows the new certificate. */
const newConnectionEvery = 50
const connectionsMax = 128

const { host, port, ca, requestsPerSecond, closed } = JSON.parse(process.argv[2] ?? '') as ClientOrder
const outcomes = new Map<string, number>()
const certificates = new Set<string>()
const options = {
  host,
  port,
  serverName: 'web.example.com',
  secureContext: createSecureContext({ ca }),
  onCertificate: (serialNumber: string) => void certificates.add(serialNumber),
}
const idle: HttpsConnection[] = []
const startMs = realClock.monotonicMs()
let pending = 0
let sent = 0
let late = 0
/** How many connections are kept, and how many requests wait for one. */
let kept = 0
let waiting = 0

function sendOne(): void {
  pending++
  if (sent++ % newConnectionEvery !== 0) waiting++
  else exchange(new HttpsConnection(options), (connection) => connection.end())
}

function sendWaiting(): void {
  for (; waiting > 0; waiting--) {
    const connection = keptConnection()
    if (connection === undefined) return
    exchange(connection, keep)
  }
}

function exchange(connection: HttpsConnection, onDone: (connection: HttpsConnection) => void): void {
  connection.send((outcome) => {
    pending--
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    onDone(connection)
    sendWaiting()
  })
}

function keptConnection(): HttpsConnection | undefined {
  for (let connection = idle.pop(); connection !== undefined; connection = idle.pop(), kept--)
    if (connection.isIdle) return connection
  if (kept >= connectionsMax) return undefined
  kept++
  return new HttpsConnection(options)
}

function keep(connection: HttpsConnection): void {
  if (connection.isIdle) return void idle.push(connection)
  kept--
  connection.end()
}

const sending = every(realClock, 5, () => {
  const due = ((realClock.monotonicMs() - startMs) / 1_000) * requestsPerSecond
  while (sent < due && pending < pendingMax) sendOne()
  sendWaiting()
  late = Math.max(late, Math.floor(due) - sent)
})
const trespassing = every(realClock, 200, () => {
  for (const address of closed) {
    const socket = connect({ host: address, port: 8080, timeout: 1_000 })
    socket.on('error', () => {}).on('timeout', () => socket.destroy())
  }
})

process.stdin.resume().on('end', () => {
  sending.cancel()
  trespassing.cancel()
  const seconds = (realClock.monotonicMs() - startMs) / 1_000
  const finish = () => {
    if (pending > 0) return
    const seen: Seen = { outcomes: Object.fromEntries(outcomes), certificates: certificates.size, seconds, late }
    process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit())
  }
  every(realClock, 20, finish)
})
process.stdout.write('ready\n')
