// `coxswain proxy` against an API server: killed without warning, its rules stay; started again, it catches up.
import { equal, match } from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { context } from '../../src/base/observability/context.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { serveCluster } from '../../src/cluster/run/served-cluster.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { coxswain, newFolder, startProcess } from '../process.ts'
import { until } from '../until.ts'
import { run, serverPort, startNetwork } from './network.harness.ts'

const ctx = context(new AbortController().signal)
const waitMs = 5_000

inNamespaces(import.meta.url, () => {
  test('a proxy that is killed leaves its rules; the next one applies what changed meanwhile', async () => {
    await using network = await startNetwork()
    await using served = await serveCluster({ nodes: 0 })
    const folder = await newFolder()
    await using cleanUps = new AsyncDisposableStack()
    cleanUps.defer(() => rm(folder, { recursive: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, served.kubeconfig)
    const client = served.cluster.client('test', adminUser)
    const { spec } = await client
      .of(service)
      .create({ metadata: { name: 'web' }, spec: { ports: [{ name: 'http', port: 80 }] } }, 'default', ctx)
    const slice = (address: string) => ({
      metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' } },
      addressType: 'IPv4' as const,
      ports: [{ name: 'http', protocol: 'TCP' as const, port: serverPort }],
      endpoints: [{ addresses: [address], conditions: {}, nodeName: 'node-a' }],
    })
    const created = await client.of(endpointSlice).create(slice('10.244.0.2'), 'default', ctx)
    const start = () =>
      startProcess([
        ...['proxy', '--kubeconfig', kubeconfig, '--hostname-override', 'node-a', '--cluster-cidr', '10.244.0.0/16'],
        ...['--healthz-bind-address', '127.0.0.1:10256', '--metrics-bind-address', '127.0.0.1:10249'],
      ])
    const reach = () =>
      network.machines['pod-a2'].attempt({ protocol: 'TCP', address: spec.clusterIP ?? '', port: 80, waitMs })
    const get = async (port: number, path: string) => (await fetch(`http://127.0.0.1:${port}${path}`)).text()
    {
      await using proxy = await start()
      match(await reach(), /^pod-a1/)
      match(await get(10_256, '/healthz'), /"nodeEligible": true/)
      match(await get(10_249, '/metrics'), /kubeproxy_sync_full_proxy_rules_duration_seconds_count [1-9]/)
      equal(await get(10_249, '/proxyMode'), 'nftables')
      await proxy.end('SIGKILL')
      match(await reach(), /^pod-a1/)
    }
    await client
      .of(endpointSlice)
      .update({ ...created, ...slice('10.244.0.3'), metadata: { ...created.metadata } }, ctx)
    match(await reach(), /^pod-a1/, 'no proxy applies the change')
    await using proxy = await start()
    await until(async () => (await reach()).startsWith('pod-a2'))
    await proxy.end()
    match(run('nft list tables'), /coxswain-proxy/)
    run(`${coxswain} proxy --cleanup`)
    equal(run('nft list tables'), '')
  })
})
