import { deepEqual, equal, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import type { ListenStreamsOptions, Peer } from '../../platform/sockets/sockets.ts'
import { byteStreamPair, copyStream } from '../../wire/byte-pipe.ts'
import { ServerBalancer } from './server-balancer.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const peer = (last: number): Peer => ({ address: `192.0.2.${last}`, port: 6443 })

/** What a server does with connections and checks. `silent`: it accepts connections and never responds. */
type Behaviour = 'ready' | 'unready' | 'refuses' | 'silent'

async function start(servers: Record<number, Behaviour>, fallback = 9) {
  const clock = new VirtualClock()
  const behaviours = new Map(
    Object.entries(servers).map(([last, behaviour]) => [peer(Number(last)).address, behaviour]),
  )
  const dialled: string[] = []
  const checked: string[] = []
  const forgotten: string[] = []
  let listening: ListenStreamsOptions | undefined
  const untilAborted = (signal: AbortSignal) =>
    new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)))
  const balancer = new ServerBalancer(
    { host: '127.0.0.1', port: 0, fallback: peer(fallback), preferenceOf: (name) => name },
    {
      clock,
      log: silentLog,
      sockets: {
        listenStreams(options) {
          listening = options
          return Promise.resolve({ host: options.host, port: 6444, close: () => Promise.resolve() })
        },
        connectStream({ address }) {
          dialled.push(address.slice(-1))
          if (!behaviours.has(address) || behaviours.get(address) === 'refuses')
            return Promise.reject(new Error('connection refused'))
          const [near, far] = byteStreamPair(1000)
          void far.write(bytes(address.slice(-1)))
          void copyStream(far.pieces, { write: () => Promise.resolve(), end: () => far.end() })
          return Promise.resolve(near)
        },
      },
      probe: {
        check({ address }, signal) {
          checked.push(address.slice(-1))
          const behaviour = behaviours.get(address) ?? 'refuses'
          if (behaviour === 'silent') return untilAborted(signal)
          return behaviour === 'refuses' ? Promise.reject(new Error('refused')) : Promise.resolve(behaviour === 'ready')
        },
        forget: ({ address }) => void forgotten.push(address.slice(-1)),
      },
    },
  )
  const at = await balancer.start()
  const set = (last: number, behaviour: Behaviour) => void behaviours.set(peer(last).address, behaviour)
  /** Connects as a client; `server` is the one that accepted, or '' when none did. */
  const connect = async () => {
    const [client, accepted] = byteStreamPair(1000)
    listening?.onConnection(accepted, { address: '127.0.0.1', port: 50_000 })
    const reader = client.pieces[Symbol.asyncIterator]()
    const first = await reader.next()
    const server = first.done === true ? '' : new TextDecoder().decode(first.value)
    let isOpen = server !== ''
    const ended = (async () => {
      while ((await reader.next()).done !== true);
      isOpen = false
    })()
    return { server, client, isOpen: () => isOpen, ended }
  }
  return { balancer, clock, at, set, connect, dialled, checked, forgotten, limits: () => listening }
}

test('connections go to the first ready server, and stay there', async () => {
  await using world = await start({ 1: 'unready', 2: 'ready', 3: 'ready', 9: 'ready' }).then(disposable)
  const { balancer, clock, connect, at, limits } = world
  deepEqual(at, { address: '127.0.0.1', port: 6444 })
  equal(limits()?.connectionsMax, limits()?.connectionsPerClientMax)
  balancer.list([1, 2, 3].map(peer))
  await clock.advance('5s')
  const [one, two] = [await connect(), await connect()]
  deepEqual([one.server, two.server], ['2', '2'])
  world.set(1, 'ready')
  await clock.advance('6s')
  equal((await connect()).server, '1')
  equal(one.isOpen(), true)
})

test('a server that refuses connections is skipped at once', async () => {
  await using world = await start({ 1: 'ready', 2: 'ready' }).then(disposable)
  const { balancer, clock, connect, dialled } = world
  balancer.list([1, 2].map(peer))
  await clock.advance('1s')
  world.set(1, 'refuses')
  equal((await connect()).server, '2')
  deepEqual(dialled, ['1', '2'])
})

test('the connections to a server that stops responding are closed within five seconds', async () => {
  await using world = await start({ 1: 'ready', 2: 'ready' }).then(disposable)
  const { balancer, clock, connect } = world
  balancer.list([1, 2].map(peer))
  await clock.advance('1s')
  const open = await connect()
  equal(open.server, '1')
  world.set(1, 'silent')
  await clock.advance('2s')
  equal(open.isOpen(), true, 'one missed check closes nothing')
  await clock.advance('3s')
  await open.ended
  equal((await connect()).server, '2')
  world.set(1, 'ready')
  await clock.advance('7s')
  equal((await connect()).server, '1', 'it is used again')
})

test('connections stay open while no other server is ready', async () => {
  await using world = await start({ 1: 'ready', 2: 'unready' }).then(disposable)
  const { balancer, clock, connect } = world
  balancer.list([1, 2].map(peer))
  await clock.advance('1s')
  const open = await connect()
  world.set(1, 'silent')
  await clock.advance('20s')
  equal(open.isOpen(), true)
  world.set(2, 'ready')
  await clock.advance('6s')
  await open.ended
})

test('a client whose connection no server accepts is disconnected; the next tries again', async () => {
  await using world = await start({ 1: 'refuses' }).then(disposable)
  const { balancer, connect, dialled } = world
  balancer.list([peer(1)])
  equal((await connect()).server, '')
  deepEqual(dialled, ['1', '9'])
  world.set(1, 'ready')
  equal((await connect()).server, '1')
})

test('a server that is no longer listed keeps its connections and is checked until they end', async () => {
  await using world = await start({ 1: 'ready', 2: 'ready' }).then(disposable)
  const { balancer, clock, connect, checked, forgotten } = world
  balancer.list([1, 2].map(peer))
  await clock.advance('1s')
  const open = await connect()
  balancer.list([])
  equal(balancer.servers().length, 3, 'an empty list changes nothing')
  balancer.list([peer(2)])
  await clock.advance('5s')
  equal(open.isOpen(), true)
  checked.length = 0
  await clock.advance('2s')
  equal(checked.includes('1'), true)
  open.client.destroy()
  await clock.advance('10s')
  deepEqual(forgotten, ['1'])
  checked.length = 0
  await clock.advance('20s')
  equal(checked.includes('1'), false)
  equal((await connect()).server, '2')
})

test('servers without connections are checked less often', async () => {
  await using world = await start({ 1: 'ready', 2: 'ready', 9: 'ready' }).then(disposable)
  const { balancer, clock, connect, checked } = world
  balancer.list([1, 2].map(peer))
  await clock.advance('1s')
  await connect()
  await clock.advance('10s')
  checked.length = 0
  await clock.advance('10s')
  const count = (server: string) => checked.filter((each) => each === server).length
  deepEqual([count('1'), count('2'), count('9')], [10, 2, 2])
})

test('a stop closes the connections and ends the checks', async () => {
  const { balancer, clock, connect } = await start({ 9: 'ready' })
  const open = await connect()
  equal(open.server, '9')
  await balancer[Symbol.asyncDispose]()
  await open.ended
  await clock.settle()
  equal(clock.pendingTimers, 0)
  equal((await connect()).server, '')
})

test('a port that is in use is an error', async () => {
  const options = { host: '127.0.0.1', port: 1, fallback: peer(9), preferenceOf: (name: string) => name }
  const sockets = {
    listenStreams: () => Promise.reject(new Error('EADDRINUSE')),
    connectStream: () => Promise.reject(new Error('not used')),
  }
  const probe = { check: () => Promise.resolve(true), forget: () => {} }
  const balancer = new ServerBalancer(options, { sockets, probe, clock: new VirtualClock(), log: silentLog })
  await rejects(balancer.start(), /EADDRINUSE/)
  await balancer[Symbol.asyncDispose]()
})

const disposable = <World extends { readonly balancer: AsyncDisposable }>(world: World) => ({
  ...world,
  [Symbol.asyncDispose]: () => world.balancer[Symbol.asyncDispose](),
})

test('servers are avoided while they fail or are not ready and another one is ready', async () => {
  await using world = await start({ 1: 'ready', 2: 'ready', 3: 'unready', 9: 'ready' }).then(disposable)
  const { balancer, clock } = world
  const { avoided } = balancer
  const seen: string[] = []
  avoided.onChange(() => seen.push([1, 2, 3].filter((last) => avoided.has(peer(last))).join(' ')))
  balancer.list([1, 2, 3].map(peer))
  await clock.advance('1s')
  deepEqual(seen, ['3'])
  world.set(2, 'refuses')
  await clock.advance('6s')
  deepEqual(seen, ['3', '2 3'])
  world.set(3, 'ready')
  world.set(2, 'ready')
  await clock.advance('6s')
  deepEqual(seen.at(-1), '')
  // Without a server that is ready, none is worse than another.
  for (const last of [1, 2, 3, 9]) world.set(last, 'refuses')
  await clock.advance('12s')
  deepEqual(seen.at(-1), '')
})
