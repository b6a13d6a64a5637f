// A service proxy in its own process, over HTTPS, whose machine is simulated.
import { deepEqual, equal, fail, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import type { CommandText } from '../../base/net/command-text.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { networkPolicy } from '../../api/networking/v1/network-policy.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { SimulatedConntrack } from '../../machine/conntrack/simulated-conntrack.ts'
import { SimulatedKernelSettings } from '../../machine/kernel-settings/simulated-kernel-settings.ts'
import type { TransactionResult } from '../../machine/nftables/nftables.ts'
import { SimulatedNftables } from '../../machine/nftables/simulated-nftables.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import type { ProxyPorts } from '../node/proxy-ports.ts'
import { adminUser } from '../client/component-users.ts'
import { removeProxyRules, runProxy, type RunProxyOptions } from './run-proxy.ts'
import { serveCluster } from './served-cluster.harness.ts'

const ctx = context(new AbortController().signal)
const bridgeSetting = 'net/bridge/bridge-nf-call-iptables'
const deletion = 'delete table inet coxswain-proxy'
const listeningPorts = { read: () => Promise.resolve([]) }
const anyPort = { host: '127.0.0.1', port: 0 }

/** Records transactions; a test waits for the first with a command that matches. */
class WatchedNftables extends SimulatedNftables {
  isDisposed = false
  readonly #awaited: { readonly command: RegExp; readonly found: (command: string) => void }[] = []

  override async apply(commands: readonly CommandText[]): Promise<TransactionResult> {
    const result = await super.apply(commands)
    for (const awaited of this.#awaited) findIn(commands, awaited)
    return result
  }

  /** The first applied command that matches. */
  applied(command: RegExp): Promise<string> {
    const { promise, resolve: found } = Promise.withResolvers<string>()
    for (const commands of this.transactions) findIn(commands, { command, found })
    this.#awaited.push({ command, found })
    return promise
  }

  override [Symbol.asyncDispose](): Promise<void> {
    this.isDisposed = true
    return super[Symbol.asyncDispose]()
  }
}

function findIn(
  commands: readonly string[],
  { command, found }: { readonly command: RegExp; readonly found: (command: string) => void },
): void {
  const matching = commands.find((each) => command.test(each))
  if (matching !== undefined) found(matching)
}

function startProxy(options: Pick<RunProxyOptions, 'kubeconfig'> & Partial<RunProxyOptions>) {
  const nftables = new WatchedNftables()
  const policyNftables = new WatchedNftables()
  const conntrack = new SimulatedConntrack()
  const kernelSettings = new SimulatedKernelSettings({ [bridgeSetting]: '0' })
  const machine = { conntrack, kernelSettings, listeningPorts, listeners: nodePlatform.listeners }
  const newNftables = (of: 'services' | 'policies') => (of === 'services' ? nftables : policyNftables)
  const stop = new AbortController()
  const synced = Promise.withResolvers<ProxyPorts>()
  const ended = runProxy(
    {
      nodeName: 'node-a',
      podCidrs: ['10.244.0.0/16'],
      masqueradesAll: false,
      log: silentLog,
      enforcesPolicies: false,
      machine: { ...machine, newNftables },
      onSynced: synced.resolve,
      ...options,
    },
    stop.signal,
  )
  const whileRunning = <T>(result: Promise<T>): Promise<T> =>
    Promise.race([result, ended.then(() => fail('the proxy has ended'))])
  return { nftables, policyNftables, kernelSettings, stop, ended, whileRunning, synced: whileRunning(synced.promise) }
}

async function get(port: number | undefined, path: string): Promise<[status: number, text: string]> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
  return [response.status, await response.text()]
}

test('a separate proxy applies the rules of any cluster and serves its health and metrics', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const client = served.cluster.client('test', adminUser)
  const ports = [{ name: 'http', port: 80, nodePort: 30080 }]
  const spec = { type: 'NodePort' as const, clusterIP: '10.96.7.7', ports }
  await client.of(service).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  const proxy = startProxy({ kubeconfig: served.kubeconfig, healthz: anyPort, metricsAt: anyPort })
  const { nftables, stop, ended, whileRunning } = proxy
  const { healthz, metrics } = await proxy.synced
  equal(proxy.kernelSettings.values.get(bridgeSetting), '1')
  await whileRunning(nftables.applied(/refused4 \{.*10\.96\.7\.7 \. tcp \. 80/))

  // The Node is not known yet, so its node ports have no address.
  equal(
    nftables.transactions.flat().some((command) => command.includes('30080')),
    false,
  )
  const addresses = [{ type: 'InternalIP', address: '192.168.0.1' }]
  await client.of(node).create({ metadata: { name: 'node-a' }, status: { addresses } }, '', ctx)
  await whileRunning(nftables.applied(/refused4 \{.*192\.168\.0\.1 \. tcp \. 30080/))

  const slice = {
    metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
    addressType: 'IPv4' as const,
    endpoints: [{ addresses: ['10.244.0.2'] }],
    ports: [{ name: 'http', port: 8080 }],
  }
  await client.of(endpointSlice).create(slice, 'default', ctx)
  await whileRunning(nftables.applied(/endpoints4 .*10\.244\.0\.2 \. 8080/))

  const [status, health] = await get(healthz, '/healthz?verbose')
  equal(status, 200)
  match(health, /"nodeEligible": true/)
  equal((await get(healthz, '/metrics'))[0], 404)
  const [, measured] = await get(metrics, '/metrics')
  match(measured, /kubeproxy_sync_full_proxy_rules_duration_seconds_count [1-9]/)
  match(measured, /process_cpu_seconds_total /)
  deepEqual(await get(metrics, '/healthz'), [200, 'ok'])
  deepEqual(await get(metrics, '/proxyMode'), [200, 'nftables'])
  deepEqual(await get(metrics, '/none'), [404, '404 page not found\n'])

  stop.abort()
  await ended
  equal(nftables.isDisposed, true)
  const removals = nftables.transactions.filter((commands) => commands.at(-1) === deletion)
  deepEqual(removals, [], 'the rules remain')
  for (const port of [healthz, metrics]) await rejects(get(port, '/healthz'))
})

test('node ports are at the given addresses, and nothing is served without an address', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const client = served.cluster.client('test', adminUser)
  const spec = { type: 'NodePort' as const, ports: [{ port: 80, nodePort: 30080 }] }
  await client.of(service).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  const { kubeconfig } = served
  const proxy = startProxy({ kubeconfig, nodeAddresses: () => ['192.168.0.9'], masqueradesAll: true })
  deepEqual(await proxy.synced, {})
  await proxy.whileRunning(proxy.nftables.applied(/refused4 \{.*192\.168\.0\.9 \. tcp \. 30080/))
  proxy.stop.abort()
  await proxy.ended
})

test('a proxy enforces network policies only on request', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const { kubeconfig } = served
  const client = served.cluster.client('test', adminUser)
  await client
    .of(node)
    .create({ metadata: { name: 'node-a' }, spec: { podCIDRs: ['10.244.0.0/24'], podCIDR: '10.244.0.0/24' } }, '', ctx)
  const without = startProxy({ kubeconfig })
  await without.synced
  without.stop.abort()
  await without.ended
  deepEqual(without.policyNftables.transactions, [])
  const proxy = startProxy({ kubeconfig, enforcesPolicies: true })
  await proxy.synced
  await proxy.whileRunning(proxy.policyNftables.applied(/ingress ip daddr 10\.244\.0\.0\/24 ip daddr != @pods4 drop/))
  const spec = { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] }
  await client.of(networkPolicy).create({ metadata: { name: 'web' }, spec }, 'default', ctx)
  const podSpec = { nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] }
  const created = await client.of(pod).create({ metadata: { name: 'a' }, spec: podSpec }, 'default', ctx)
  const status = { ...created.status, podIP: '10.244.0.2', podIPs: [{ ip: '10.244.0.2' }] }
  await client.of(pod).updateStatus({ ...created, status }, ctx)
  await proxy.whileRunning(proxy.policyNftables.applied(/default\/web ingress\[0\]/))
  proxy.stop.abort()
  await proxy.ended
  equal(proxy.policyNftables.isDisposed, true)
})

test('a proxy whose Node has no ranges warns that starting pods are not closed', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const warnings: string[] = []
  const log = { ...silentLog, warn: (message: string) => void warnings.push(message) }
  const proxy = startProxy({ kubeconfig: served.kubeconfig, enforcesPolicies: true, log })
  await proxy.synced
  match(warnings.join(), /the Node has no ranges of pods, so a pod is open until its network policies are known/)
  proxy.stop.abort()
  await proxy.ended
})

test('a proxy that cannot open its ports ends and closes what it opened', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const { kubeconfig } = served
  const first = startProxy({ kubeconfig, healthz: anyPort })
  const { healthz: port = 0 } = await first.synced
  const second = startProxy({ kubeconfig, healthz: { host: '::1', port }, metricsAt: { host: '127.0.0.1', port } })
  await rejects(second.synced, { code: 'EADDRINUSE' })
  await rejects(fetch(`http://[::1]:${port}/healthz`))
  equal(second.nftables.isDisposed, true)
  first.stop.abort()
  await first.ended
})

test('a failure of the proxy is the reason why it ends', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const nftables = new WatchedNftables()
  nftables.respond = () => {
    throw new Error('nft was stopped')
  }
  const { listeners } = nodePlatform
  const others = { conntrack: new SimulatedConntrack(), kernelSettings: new SimulatedKernelSettings() }
  const machine = { ...others, listeners, listeningPorts, newNftables: () => nftables }
  const proxy = startProxy({ kubeconfig: served.kubeconfig, machine })
  await rejects(proxy.synced, /^Error: nft was stopped$/)
  equal(nftables.isDisposed, true)
})

test('a proxy without a usable kubeconfig changes nothing', async () => {
  const proxy = startProxy({ kubeconfig: 'apiVersion: v1\nkind: Config\n' })
  await rejects(proxy.synced, /the kubeconfig has no context ""/)
  deepEqual(proxy.nftables.transactions, [])
  equal(proxy.kernelSettings.values.get(bridgeSetting), '0')
})

test('the rules of a proxy that no longer runs are removed', async () => {
  const nftables = new WatchedNftables()
  await removeProxyRules(false, nftables)
  deepEqual(nftables.transactions, [['add table inet coxswain-proxy', deletion]])
  equal(nftables.isDisposed, true)
  await removeProxyRules(true, nftables)
  deepEqual(nftables.transactions.at(-1), ['add table inet coxswain-policy', 'delete table inet coxswain-policy'])
  nftables.respond = () => ({ kind: 'failed', messages: ['not permitted'] })
  await rejects(removeProxyRules(false, nftables), /cannot remove the rules of Services: not permitted/)
})
