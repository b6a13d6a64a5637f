// `coxswain proxy --network-policies` on a machine whose pods another program connects: it drops what policies do not allow.
import { equal, match } from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { networkPolicy } from '../../src/api/networking/v1/network-policy.ts'
import { context } from '../../src/base/observability/context.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { serveCluster } from '../../src/cluster/run/served-cluster.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { coxswain, newFolder, startProcess } from '../process.ts'
import { until } from '../until.ts'
import { run, serverPort, startNetwork } from './network.harness.ts'

const ctx = context(new AbortController().signal)

inNamespaces(import.meta.url, () => {
  test('a proxy that enforces network policies drops what they do not allow, until its rules are removed', async () => {
    await using network = await startNetwork()
    await using served = await serveCluster({ nodes: 0 })
    const folder = await newFolder()
    await using cleanUps = new AsyncDisposableStack()
    cleanUps.defer(() => rm(folder, { recursive: true }))
    const kubeconfig = join(folder, 'kubeconfig')
    await writeFile(kubeconfig, served.kubeconfig)
    const client = served.cluster.client('test', adminUser)
    const podCIDR = '10.244.0.0/24'
    await client.of(node).create({ metadata: { name: 'node-a' }, spec: { podCIDR, podCIDRs: [podCIDR] } }, '', ctx)
    for (const [name, podIP] of [
      ['a1', '10.244.0.2'],
      ['a2', '10.244.0.3'],
    ] as const) {
      const spec = { nodeName: 'node-a', containers: [{ name: 'c', image: 'i' }] }
      const created = await client.of(pod).create({ metadata: { name, labels: { app: name } }, spec }, 'default', ctx)
      await client
        .of(pod)
        .updateStatus({ ...created, status: { ...created.status, podIP, podIPs: [{ ip: podIP }] } }, ctx)
    }
    const closed = { podSelector: { matchLabels: { app: 'a1' } } }
    await client.of(networkPolicy).create({ metadata: { name: 'closed' }, spec: closed }, 'default', ctx)
    const reach = (from: 'pod-a1' | 'pod-a2', address: string) =>
      network.machines[from].attempt({ protocol: 'TCP', address, port: serverPort, waitMs: 1_000 })
    match(await reach('pod-a2', '10.244.0.2'), /^pod-a1/)
    const args = ['proxy', '--kubeconfig', kubeconfig, '--hostname-override', 'node-a', '--network-policies']
    await using proxy = await startProcess([...args, '--healthz-bind-address', '', '--metrics-bind-address', ''])
    equal(await reach('pod-a2', '10.244.0.2'), 'silent')
    match(await reach('pod-a1', '10.244.0.3'), /^pod-a2/)
    await client.of(networkPolicy).delete('closed', 'default', {}, ctx)
    await until(async () => (await reach('pod-a2', '10.244.0.2')).startsWith('pod-a1'))
    await proxy.end()
    match(run('nft list tables'), /coxswain-policy/)
    run(`${coxswain} proxy --cleanup --network-policies`)
    equal(run('nft list tables'), '')
  })
})
