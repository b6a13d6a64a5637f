// Connections between hosts: refused, unreachable, lost and slow ones, and connections whose program or machine ends.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { LinkFaults, type LinkFault, type NetworkHost } from './link-faults.ts'
import { httpAcceptor } from './serve-http.ts'
import { noOwner, type ConnectionEnd, type ConnectionOwner } from './simulated-connection.ts'
import { SimulatedNetwork, type ReachableHost, type SimulatedAcceptor } from './simulated-network.ts'

const { signal } = new AbortController()
const client: NetworkHost = { address: '10.0.0.1', pod: 'default/client', node: 'node-0' }
const serverAddress = '10.0.0.2'

class Program implements ConnectionOwner {
  readonly ends = new Set<ConnectionEnd>()
  hold(end: ConnectionEnd): void {
    this.ends.add(end)
  }
  release(end: ConnectionEnd): void {
    this.ends.delete(end)
  }
}

const echo: SimulatedAcceptor = async (connection, { address }) => {
  await connection.write(new TextEncoder().encode(`from ${address} `))
  for await (const piece of connection.pieces) await connection.write(piece)
  connection.end()
}

function networkWith(...faults: readonly Partial<LinkFault>[]) {
  const clock = new VirtualClock(0)
  const program = new Program()
  const server: ReachableHost = {
    address: serverAddress,
    pod: 'default/server',
    node: 'node-1',
    listenerAt: (port) => (port === 80 ? { owner: program, accept: echo } : undefined),
  }
  const hosts = new Map([[server.address, server]])
  const links = new LinkFaults()
  for (const fault of faults) links.add({ matches: () => true, delayMs: 0, lossShare: 0, ...fault })
  const random = seededRandom(1)
  const network = new SimulatedNetwork({ clock, random, faults: links, hostAt: (address) => hosts.get(address) })
  return { network, clock, program, hosts, links }
}

/** The outcome of a connection to the server and when it was known. */
async function outcome({ network, clock }: ReturnType<typeof networkWith>, port = 80): Promise<string> {
  const connected = network.connect(client, { address: serverAddress, port }, noOwner, signal)
  let text = ''
  connected.then(
    () => (text = `${clock.nowMs()} connected`),
    (error: Error & { code: string }) => (text = `${clock.nowMs()} ${error.code} ${error.message}`),
  )
  await clock.runUntil(() => text !== '')
  return text
}

const toServer = (_: NetworkHost, to: NetworkHost) => to.address === serverAddress
const cases: readonly (readonly [name: string, faults: readonly Partial<LinkFault>[], port: number, text: string])[] = [
  ['a listening port accepts at once', [], 80, '0 connected'],
  ['a closed port refuses at once', [], 81, '0 ECONNREFUSED dial tcp 10.0.0.2:81: connect: connection refused'],
  ['a slow link delays the handshake in both directions', [{ delayMs: 50 }], 80, '100 connected'],
  ['a link can be slow in one direction', [{ delayMs: 50, matches: toServer }], 80, '50 connected'],
  ['delays of several faults add up', [{ delayMs: 50 }, { delayMs: 5 }], 80, '110 connected'],
  [
    'a link that loses everything times out after 127 s',
    [{ lossShare: 1 }],
    80,
    '127000 ETIMEDOUT dial tcp 10.0.0.2:80: connect: connection timed out',
  ],
]
for (const [name, faults, port, expected] of cases)
  test(name, async () => equal(await outcome(networkWith(...faults), port), expected))

test('an address without a host is unreachable after 3 s', async () => {
  const under = networkWith()
  under.hosts.clear()
  equal(await outcome(under), '3000 EHOSTUNREACH dial tcp 10.0.0.2:80: connect: no route to host')
})

test('a lossy link connects later, at the times of retransmissions, equally for the same seed', async () => {
  const times = async () => {
    const under = networkWith({ lossShare: 0.6 })
    const found: string[] = []
    for (let count = 0; count < 4; count++) found.push(await outcome(under))
    return found
  }
  const found = await times()
  deepEqual(found, await times())
  equal(new Set(found).size > 1, true)
})

async function talk(under: ReturnType<typeof networkWith>) {
  const connection = await under.network.connect(client, { address: serverAddress, port: 80 }, noOwner, signal)
  const pieces = connection.pieces[Symbol.asyncIterator]()
  const read = async () => {
    const next = await pieces.next()
    return next.done === true ? 'end' : new TextDecoder().decode(next.value)
  }
  const say = (text: string) => connection.write(new TextEncoder().encode(text))
  return { connection, read, say }
}

test('a connection carries bytes both ways and is released by both programs when it is closed', async () => {
  const under = networkWith()
  const { connection, read, say } = await talk(under)
  equal(await read(), 'from 10.0.0.1 ')
  await say('hello')
  equal(await read(), 'hello')
  equal(under.program.ends.size, 1)
  connection.end()
  equal(await read(), 'end')
  await under.clock.settle()
  equal(under.program.ends.size, 0)
})

test('a program that exits closes its connections: reads end and writes are reset', async () => {
  const under = networkWith()
  const { read, say } = await talk(under)
  await read()
  for (const end of under.program.ends) end.close()
  equal(await read(), 'end')
  await rejects(say('hello'), { code: 'ECONNRESET', message: 'tcp 10.0.0.2:80: connection reset by peer' })
})

test('the peer of a machine without power notices it after 150 s', async () => {
  const under = networkWith()
  const { read, say } = await talk(under)
  await read()
  for (const end of [...under.program.ends]) {
    end.lose()
    end.close()
  }
  await say('hello')
  let failure = ''
  read().catch((error: Error) => (failure = `${under.clock.nowMs()} ${error.message}`))
  await under.clock.advance('149s')
  equal(failure, '')
  await under.clock.advance('1s')
  equal(failure, '150000 tcp 10.0.0.2:80: connection timed out')
})

test('faults act on open connections, and what was lost arrives after they are removed', async () => {
  const under = networkWith()
  const { read, say } = await talk(under)
  await read()
  using fault = under.links.add({ matches: toServer, delayMs: 0, lossShare: 1 })
  await say('hello')
  let reply = ''
  void read().then((text) => (reply = text))
  await under.clock.advance('10s')
  equal(reply, '')
  fault.remove()
  await under.clock.advance('10s')
  equal(reply, 'hello')
})

test('a connection whose packets are all lost times out after 15 minutes', async () => {
  const under = networkWith()
  const { read, say } = await talk(under)
  await read()
  under.links.add({ matches: toServer, delayMs: 0, lossShare: 1 })
  await say('hello')
  const failed = rejects(read(), { code: 'ETIMEDOUT', message: 'tcp 10.0.0.2:80: connection timed out' })
  await under.clock.advance('16m')
  await failed
  equal(under.program.ends.size, 0)
})

test('a server whose client leaves during a streamed response stops', async () => {
  const under = networkWith()
  const { promise, resolve } = Promise.withResolvers<void>()
  const stream = async function* () {
    try {
      for (;;) {
        await under.clock.sleep(1_000, signal)
        yield 'tick'
      }
    } finally {
      resolve()
    }
  }
  const accept = httpAcceptor(() => ({ status: 200, body: stream() }), under.clock)
  const host = { ...client, address: serverAddress, listenerAt: () => ({ owner: under.program, accept }) }
  under.hosts.set(serverAddress, host)
  const { connection, read, say } = await talk(under)
  await say('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await read()
  connection.destroy()
  await under.clock.advance('2s')
  await promise
  equal(under.program.ends.size, 0)
})

test('the signal ends a dial', async () => {
  const under = networkWith({ lossShare: 1 })
  const abort = new AbortController()
  const connected = under.network.connect(client, { address: serverAddress, port: 80 }, noOwner, abort.signal)
  abort.abort(new Error('too late'))
  await rejects(connected, /^Error: too late$/)
})

test('an acceptor that fails closes the connection', async () => {
  const under = networkWith()
  const fails = {
    ...client,
    address: serverAddress,
    listenerAt: () => ({ owner: noOwner, accept: () => Promise.reject(new Error('x')) }),
  }
  under.hosts.set(serverAddress, fails)
  const { read } = await talk(under)
  equal(await read(), 'end')
})
