// proxy: the time from a changed endpoint until packets take the new path, with 10 to 10,000 Services of 10 endpoints; the
// throughput through a cluster IP relative to the pod's own address; memory. Runs as root in its own namespaces. Changes
// are made in the informers' place, so the API server and the watch are not included.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { realClock } from '../src/base/time/clock.ts'
import { NftProgram } from '../src/machine/nftables/nft-program.ts'
import type { Nftables } from '../src/machine/nftables/nftables.ts'
import { nodeProcesses } from '../src/platform/node/process/processes.ts'
import { presenceCommands, probeCommands } from '../src/proxy/nftables/table-layout.ts'
import { endpointAt, serviceWith, sliceWith } from '../src/proxy/routing/routing.harness.ts'
import { run, startNetwork, type TestNetwork } from '../test/proxy/network.harness.ts'
import { startProxy } from '../test/proxy/proxy.harness.ts'
import { namespacedBench } from './namespaced-bench.ts'

const sizes = [10, 1_000, 10_000]
const endpointCount = 10
const changeCount = 200
const measuredIp = '10.111.0.1'

export const proxyBench = namespacedBench('proxy', measure)

async function* measure(): AsyncGenerator<string> {
  await using network = await startNetwork()
  for (const size of sizes) yield* measureChanges(network, size)
  yield await measureThroughput(network, 'pod-a1', '10.244.0.2')
  yield await measureThroughput(network, 'pod-b1', '10.244.1.2')
}

const named = <T extends { readonly metadata: object }>(object: T, name: string): T => ({
  ...object,
  metadata: { ...object.metadata, name },
})

const addressOf = (base: number, number: number): string => `10.${base}.${number >> 8}.${number & 255}`

const labels = (name: string) => ({ 'kubernetes.io/service-name': name })

/** The endpoints of the measured Service, of which the first that is named is ready. */
const measuredSlice = (ready: string) =>
  named(
    sliceWith(
      Array.from({ length: endpointCount }, (_, index) => `10.244.0.${index + 2}`).map((address) =>
        endpointAt(address, { ready: address === ready, serving: address === ready }),
      ),
      {},
      labels('measured'),
    ),
    'measured-1',
  )

async function* measureChanges(network: TestNetwork, size: number): AsyncGenerator<string> {
  globalThis.gc?.()
  const heapBefore = process.memoryUsage().heapUsed
  await using nft = new NftProgram({ processes: nodeProcesses, clock: realClock })
  let applied = Promise.withResolvers<void>()
  const nftables: Nftables = {
    async apply(commands) {
      const result = await nft.apply(commands)
      if (commands !== presenceCommands && commands !== probeCommands) applied.resolve()
      return result
    },
    list: (command) => nft.list(command),
    elements: (table, set) => nft.elements(table, set),
    [Symbol.asyncDispose]: () => Promise.resolve(),
  }
  await using proxy = startProxy({ nftables })
  const startMs = performance.now()
  for (let index = 1; index < size; index++) {
    const clusterIP = addressOf(96 + (index >> 16), index)
    proxy.services.put(serviceWith({ clusterIP, clusterIPs: [clusterIP] }, { name: `s${index}` }))
    const endpoints = Array.from({ length: endpointCount }, (_, at) =>
      endpointAt(addressOf(200 + (index % 50), (index * endpointCount + at) & 0xffff), {}, { nodeName: 'node-b' }),
    )
    proxy.slices.put(named(sliceWith(endpoints, {}, labels(`s${index}`)), `s${index}-1`))
  }
  proxy.services.put(serviceWith({ clusterIP: measuredIp, clusterIPs: [measuredIp] }, { name: 'measured' }))
  proxy.slices.put(measuredSlice('10.244.0.2'))
  await proxy.proxy.synced
  yield `${size} Services: all rules applied after ${((performance.now() - startMs) / 1000).toFixed(2)} s`
  const path = await latencies(async (index) => {
    const [address, name] = index % 2 === 0 ? ['10.244.0.3', 'pod-a2'] : ['10.244.0.2', 'pod-a1']
    proxy.slices.put(measuredSlice(address ?? ''))
    const what = { protocol: 'TCP', address: measuredIp, port: 80, waitMs: 5_000 } as const
    while (!(await network.machines.outside.attempt(what)).startsWith(name ?? '')) continue
  })
  yield `${size} Services: an endpoint is replaced, a new connection reaches the new one: ${path}`
  const rules = await latencies((index) => {
    applied = Promise.withResolvers<void>()
    const addresses = Array.from({ length: endpointCount - (index % 2) }, (_, at) => `10.244.0.${at + 2}`)
    const endpoints = addresses.map((address) => endpointAt(address))
    proxy.slices.put(named(sliceWith(endpoints, {}, labels('measured')), 'measured-1'))
    return applied.promise
  })
  yield `${size} Services: an endpoint is added or removed, the rules are applied: ${rules}`
  globalThis.gc?.()
  const heap = (process.memoryUsage().heapUsed - heapBefore) / 2 ** 20
  const nftMiB = Number(/VmRSS:\s+(\d+)/.exec(run('cat /proc/$(pgrep -xo nft)/status'))?.[1] ?? 0) / 1024
  yield `${size} Services: ${heap.toFixed(0)} MiB of heap with their objects, nft ${nftMiB.toFixed(0)} MiB`
}

async function latencies(change: (index: number) => Promise<void>): Promise<string> {
  const all: number[] = []
  for (let index = 0; index < changeCount; index++) {
    const startMs = performance.now()
    await change(index)
    all.push(performance.now() - startMs)
  }
  all.sort((a, b) => a - b)
  const at = (part: number) => (all[Math.floor(part * (all.length - 1))] ?? NaN).toFixed(1)
  return `p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`
}

const transferBytes = 2 ** 30
const rounds = 8

const sink = `require('net').createServer((s) => { let n = 0
  s.on('data', (b) => { n += b.length; if (n >= ${transferBytes}) s.end('!') }) }).listen(9000, '0.0.0.0', () => console.log('ready'))`
const source = `const s = require('net').connect(+process.argv[2], process.argv[1]), b = Buffer.alloc(1 << 20); let n = 0, t
  const w = () => { while (n < ${transferBytes}) { n += b.length; if (!s.write(b)) return s.once('drain', w) } }
  s.on('connect', () => { t = process.hrtime.bigint(); w() })
  s.on('data', () => { console.log(Number(process.hrtime.bigint() - t) / 1e9); s.destroy() })`

async function measureThroughput(network: TestNetwork, pod: string, podIp: string): Promise<string> {
  await using proxy = startProxy()
  proxy.services.put(serviceWith({ clusterIP: measuredIp, clusterIPs: [measuredIp] }, { name: 'measured' }))
  proxy.slices.put(
    named(
      sliceWith([endpointAt(podIp)], { ports: [{ name: 'http', protocol: 'TCP', port: 9000 }] }, labels('measured')),
      'measured-1',
    ),
  )
  await proxy.proxy.synced
  const inside = (name: string) => ['-t', String(network.pids.get(name)), '-n', process.execPath, '-e']
  const server = spawn('nsenter', [...inside(pod), sink], { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(server.stdout, 'data')
  const seconds = (address: string, port: number) =>
    Number(spawnSync('nsenter', [...inside('pod-a2'), source, address, String(port)], { encoding: 'utf8' }).stdout)
  const direct: number[] = []
  const through: number[] = []
  for (let round = 0; round < rounds; round++) {
    direct.push(seconds(podIp, 9000))
    through.push(seconds(measuredIp, 80))
  }
  server.kill('SIGKILL')
  const rate = (all: readonly number[]) => transferBytes / Math.min(...all) / 2 ** 20
  const ratio = rate(through) / rate(direct)
  return `throughput to a pod ${pod === 'pod-b1' ? 'of another node' : 'on the same bridge'}: ${rate(direct).toFixed(0)} MiB/s at its address, ${rate(through).toFixed(0)} MiB/s through the cluster IP (${ratio.toFixed(2)}), best of ${rounds}`
}
