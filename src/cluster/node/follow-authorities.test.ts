// A node that follows the authorities that the cluster publishes.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { createLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { Informer } from '../../client/informer/informer.ts'
import { Authority } from '../../pki/authority.ts'
import { nodeCrypto } from '../../platform/node/crypto.ts'
import { publishClusterInfo } from '../bootstrap/cluster-info.ts'
import { announceToNode, authorityDigest, trustedDigest } from '../rotation/node-authority.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { followAuthorities } from './follow-authorities.ts'

const { signal } = new AbortController()
const ctx = context(signal)

async function start() {
  const cluster = await startCluster({ nodes: 1 })
  const { client, clock } = cluster
  await clock.advance('1s')
  const deps = { clock, random: seededRandom(1), crypto: nodeCrypto }
  const [old, next] = ['old', 'next'].map((name) => Authority.create(name, deps)) as [Authority, Authority]
  const lines: string[] = []
  const log = createLog({ clock, write: (line) => lines.push(line), format: 'text', level: 'info' })
  const trusted: string[] = []
  const state = { signer: next, failure: undefined as Error | undefined, renewals: 0 }
  const self = new Informer(node, client.of(node), { ...deps, log }, { fieldSelector: 'metadata.name=node-0' })
  const tasks = new TaskGroup()
  const following = {
    ...deps,
    client,
    anonymous: client,
    log,
    nodeName: 'node-0',
    async trust(authorities: string) {
      await Promise.resolve()
      if (state.failure !== undefined) throw state.failure
      trusted.push(authorities)
    },
    async renew() {
      await Promise.resolve()
      state.renewals++
      return state.signer.issue({ subject: { commonName: 'n', organizations: [] }, uses: ['client'] }).certificate
    },
  }
  tasks.start('follow', (stop) => followAuthorities(self, following, stop))
  tasks.start('self', (stop) => self.run(stop))
  const both = `${next.certificate}${old.certificate}`
  return {
    cluster,
    lines,
    trusted,
    state,
    old,
    next,
    both,
    publish: (authority: string) => publishClusterInfo(client, { server: 'https://127.0.0.1:1', authority }, ctx),
    announce: (authority: string) => announceToNode(client, 'node-0', authorityDigest(authority, nodeCrypto), ctx),
    noted: async () => trustedDigest(await client.of(node).get('node-0')),
    pass: (time: string) => clock.advance(time),
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster[Symbol.asyncDispose]()
    },
  }
}

test('it trusts what is published, gets a certificate of the first authority, and notes both', async () => {
  await using it = await start()
  await it.publish(it.both)
  await it.pass('1m')
  deepEqual([it.trusted, await it.noted()], [[], undefined])
  await it.announce(it.both)
  await it.pass('1s')
  deepEqual([it.trusted, it.state.renewals], [[it.both], 1])
  equal(await it.noted(), authorityDigest(it.both, nodeCrypto))
  // Its own note, and other changes of the Node, start nothing.
  await it.pass('10m')
  equal(it.state.renewals, 1)
})

test('what fails is tried again, less and less often', async () => {
  await using it = await start()
  it.state.failure = new Error('the disk is full')
  await it.publish(it.both)
  await it.announce(it.both)
  await it.pass('1h')
  const warnings = it.lines.filter((line) => line.includes('the disk is full')).length
  equal(warnings > 5 && warnings < 25, true, String(warnings))
  it.state.failure = undefined
  await it.pass('5m')
  equal(await it.noted(), authorityDigest(it.both, nodeCrypto))
})

test('authorities that are not the announced ones are not trusted', async () => {
  await using it = await start()
  await it.publish(it.old.certificate)
  await it.announce(it.both)
  await it.pass('10s')
  deepEqual([it.trusted, await it.noted()], [[], undefined])
  match(it.lines.join('\n'), /publishes other authorities/)
})

test('a certificate of the earlier CA is not enough', async () => {
  await using it = await start()
  it.state.signer = it.old
  await it.publish(it.both)
  await it.announce(it.both)
  await it.pass('10s')
  equal(await it.noted(), undefined)
  match(it.lines.join('\n'), /still signs certificates with an earlier CA/)
  it.state.signer = it.next
  await it.pass('5m')
  equal(await it.noted(), authorityDigest(it.both, nodeCrypto))
})
