// How a node that is reset notifies its cluster, and what it reports when that fails. With processes: test/kubelet/server-balancer.test.ts.
import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { adminUser } from '../client/component-users.ts'
import { serveCluster } from '../run/served-cluster.harness.ts'
import { kubeconfigText, parseKubeconfig } from '../../pki/kubeconfig.ts'
import type { Authority } from '../../pki/authority.ts'
import { serversText } from '../../client/server-balancer/published-servers.ts'
import { announceReset } from './announce-reset.ts'

const { signal } = new AbortController()
const ctx = context(signal)

async function withDirectory(work: (directory: string) => Promise<void>) {
  const directory = await mkdtemp(join(tmpdir(), 'coxswain-reset-'))
  try {
    await work(directory)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('a node that is reset is not ready, with an event', async () => {
  await using served = await serveCluster({ nodes: 0 })
  const { cluster, certificates } = served
  const { server, authority } = parseKubeconfig(served.kubeconfig)
  const signing = certificates.signer as Authority
  const identityOf = (commonName: string, organizations: readonly string[]) =>
    signing.issue({ subject: { commonName, organizations }, uses: ['client'] })
  const client = cluster.client('test', adminUser)
  await withDirectory(async (directory) => {
    equal(await announceReset(directory, signal), undefined)
    const joinedAs = async (name: string, groups = ['system:nodes'], at = server) =>
      writeFile(
        join(directory, 'kubelet.kubeconfig'),
        kubeconfigText({ server: at, authority, identity: identityOf(name, groups) }),
      )
    await joinedAs('system:node:worker')
    deepEqual(await announceReset(directory, signal), { kind: 'gone' })
    await client.of(node).create({ metadata: { name: 'worker' }, spec: {} }, '', ctx)
    // The server with which it joined has ended, and the list of others is damaged: no server can be notified.
    await joinedAs('system:node:worker', ['system:nodes'], 'https://127.0.0.1:9')
    await writeFile(join(directory, 'servers.json'), '{')
    const failed = await announceReset(directory, signal)
    equal(failed?.kind, 'failed')
    const { hostname, port } = new URL(server)
    await writeFile(join(directory, 'servers.json'), serversText([{ address: hostname, port: Number(port) }]))
    deepEqual(await announceReset(directory, signal), { kind: 'announced', node: 'worker' })
    const { conditions } = (await client.of(node).get('worker', '', ctx)).status
    const ready = conditions?.find(({ type }) => type === 'Ready')
    deepEqual([ready?.status, ready?.reason], ['False', 'NodeReset'])
    const { items } = await client.of(event).list({ namespace: 'default' }, ctx)
    deepEqual(
      items.filter(({ reason }) => reason === 'NodeReset').map(({ involvedObject }) => involvedObject.name),
      ['worker'],
    )
    await joinedAs('jane', [])
    const other = await announceReset(directory, signal)
    match(other?.kind === 'failed' ? other.why : '', /jane is no node|forbidden/)
  })
})
