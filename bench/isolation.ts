// Cost of isolating a test from the objects of its cluster: calls of the test client, which copies what it sends and
// freezes what it receives, compared with the same calls of a component. Rounds alternate; the best round of each
// counts.
import { realClock } from '../src/base/time/clock.ts'
import { context } from '../src/base/observability/context.ts'
import { silentLog } from '../src/base/observability/log.ts'
import { systemRandom } from '../src/base/random/random.ts'
import { deployment } from '../src/api/apps/v1/deployment.ts'
import { Client } from '../src/client/client.ts'
import { Cluster } from '../src/cluster/run/cluster.ts'
import { adminUser } from '../src/cluster/client/component-users.ts'
import { IsolatedTransport } from '../src/cluster/client/isolated-transport.ts'
import { MemoryStore } from '../src/store/memory-store.ts'
import type { Bench } from './bench.ts'
import { openPolicies } from '../src/apiserver/open-policies.ts'

const rounds = 15
const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const containers = [{ name: 'c', image: 'nginx', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] }]
const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } }

export const isolationBench: Bench = {
  name: 'isolation',
  async run() {
    const deps = {
      clock: realClock,
      random: systemRandom,
      log: silentLog,
      store: new MemoryStore(realClock),
      nodes: 0,
    }
    const cluster = new Cluster({ ...deps, policies: () => openPolicies, controllerManagers: 0 })
    cluster.start()
    await cluster.ready
    const transport = cluster.transport('bench', adminUser)
    const isolated = new IsolatedTransport(transport, { awaitCall: (call) => call, onRead: () => {} })
    const clients = [new Client(transport), new Client(isolated)] as const
    let made = 0
    const create = (client: Client) =>
      client.of(deployment).create({ metadata: { name: `d-${made++}`, labels }, spec }, 'default', ctx)
    const lines: string[] = []
    for (const [what, calls, call] of [
      ['create a Deployment', 200, create],
      [
        'get a Deployment',
        2_000,
        (client: Client, index: number) => client.of(deployment).get(`d-${index % 200}`, 'default', ctx),
      ],
    ] as const) {
      const bestMs = [Infinity, Infinity]
      for (let round = 0; round < rounds; round++)
        for (const [which, client] of clients.entries()) {
          const start = performance.now()
          for (let index = 0; index < calls; index++) await call(client, index)
          bestMs[which] = Math.min(bestMs[which] ?? Infinity, performance.now() - start)
        }
      const [direct = 0, ofTest = 0] = bestMs.map((ms) => (ms * 1_000) / calls)
      lines.push(`${what}: ${direct.toFixed(1)} µs, by a test's client ${ofTest.toFixed(1)} µs`)
    }
    await cluster.stop()
    return lines
  },
}
