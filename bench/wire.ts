// Cost of HTTP/1.1 over TLS without a handler, compared with node:https; and of the protocol without a socket.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { realClock } from '../src/base/time/clock.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { TimeSlicedWork } from '../src/base/work/time-sliced-work.ts'
import { listenLimitsDefault } from '../src/platform/limits/listen-limits.ts'
import { MemoryBudget } from '../src/platform/limits/memory-budget.ts'
import { Authority } from '../src/pki/authority.ts'
import { Http1Connection } from '../src/platform/http1/http1-connection.ts'
import { nodeCrypto } from '../src/platform/node/crypto.ts'
import { requestText } from './api/connection.ts'
import { load } from './api/load.ts'
import { processorMs } from './api/process-usage.ts'
import type { Bench } from './bench.ts'
import type { ServerOrder } from './wire/server.ts'

const authority = Authority.create('ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
const serving = authority.issue({
  subject: { commonName: 'server', organizations: [] },
  uses: ['server'],
  addresses: ['127.0.0.1'],
})
const get = requestText('GET', '/api/v1/namespaces/bench/pods/many-1')
const requests = 20_000

async function overTls(by: ServerOrder['by']): Promise<string> {
  const child = fork(new URL('wire/server.ts', import.meta.url))
  try {
    child.send({ by, certificate: serving.certificate, key: serving.key } satisfies ServerOrder)
    const [port] = (await once(child, 'message')) as [number]
    const access = { host: '127.0.0.1', port, ca: authority.certificate, cert: '', key: '' }
    await load(access, 64, requests, () => get)
    const before = processorMs(child.pid)
    const ownMs = process.cpuUsage()
    const { perSecond } = await load(access, 64, requests, () => get)
    const { user, system } = process.cpuUsage(ownMs)
    const serverMicros = ((processorMs(child.pid) - before) * 1000) / requests
    return `${by}: ${serverMicros.toFixed(0)} µs of processor time a request, the load ${((user + system) / requests).toFixed(0)} µs; ${perSecond.toFixed(0)}/s`
  } finally {
    child.kill()
  }
}

/** Rounds are short, so that some of them run undisturbed on a busy machine. */
async function withoutSocket(): Promise<string> {
  const nothing = () => {}
  const answer = { status: 200, headers: { 'content-type': 'application/json' }, body: Buffer.alloc(2048) }
  const connection = new Http1Connection(
    {
      write: () => true,
      unsentBytes: 0,
      sentBytes: 0,
      pause: nothing,
      resume: nothing,
      end: nothing,
      destroy: nothing,
      detach() {
        throw new Error('no request detaches the socket')
      },
    },
    {
      handle: () => Promise.resolve(answer),
      remoteAddress: '',
      certificate: undefined,
      client: '',
      budget: new MemoryBudget(listenLimitsDefault, nothing),
      onShed: nothing,
      textOf: (bytes, from, to) => Buffer.from(bytes.buffer, bytes.byteOffset).toString('latin1', from, to),
      date: () => '',
      second: () => 0,
      turns: new TimeSlicedWork(realClock),
    },
  )
  const rounds = 2_000
  const each = 50
  const turnsOfAnswer = 8
  let best = Infinity
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    for (let index = 0; index < each; index++) {
      connection.receive(get)
      for (let turn = 0; turn < turnsOfAnswer; turn++) await Promise.resolve()
    }
    best = Math.min(best, (performance.now() - begin) / each)
  }
  return `a request through the protocol without its socket: ${(best * 1000).toFixed(1)} µs`
}

export const wireBench: Bench = {
  name: 'wire',
  async *run() {
    yield await withoutSocket()
    for (const by of ['node:https', 'listener', 'node:https', 'listener'] as const) yield await overTls(by)
  },
}
