// The client of the test, in a network namespace of its own. It sends requests over HTTPS at a given rate until its input
// ends, most of them on connections that are kept, and prints what it saw. It also tries to reach pods without
// the proxy, which no policy allows.
import { Agent, request } from 'node:https'
import { connect } from 'node:net'
import type { TLSSocket } from 'node:tls'
import { every, realClock } from '../../../src/base/time/clock.ts'

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
}

const pendingMax = 512
/** Every tenth request has a connection of its own, which shows the new certificate. */
const newConnectionEvery = 10
const connectionsMax = 64

const { host, port, ca, requestsPerSecond, closed } = JSON.parse(process.argv[2] ?? '') as ClientOrder
const outcomes = new Map<string, number>()
const certificates = new Set<string>()
const kept = new Agent({ keepAlive: true, maxSockets: connectionsMax })
const startMs = realClock.monotonicMs()
let [pending, sent] = [0, 0]

function sendOne(): void {
  const agent = sent++ % newConnectionEvery === 0 ? false : kept
  pending++
  const done = (outcome: string) => {
    pending--
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  }
  const name = 'web.example.com'
  const options = { host, port, ca, path: '/', agent, servername: name, headers: { host: name } }
  request(options, (response) => {
    certificates.add((response.socket as TLSSocket).getPeerX509Certificate()?.serialNumber ?? '')
    response.resume().on('end', () => done(String(response.statusCode)))
    response.on('error', (error) => done(error.message))
  })
    .on('error', (error) => done(error.message))
    .end()
}

const sending = every(realClock, 5, () => {
  const due = ((realClock.monotonicMs() - startMs) / 1_000) * requestsPerSecond
  while (sent < due && pending < pendingMax) sendOne()
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
  const finish = () => {
    if (pending > 0) return
    const seen: Seen = { outcomes: Object.fromEntries(outcomes), certificates: certificates.size }
    process.stdout.write(`${JSON.stringify(seen)}\n`, () => process.exit())
  }
  every(realClock, 20, finish)
})
process.stdout.write('ready\n')
