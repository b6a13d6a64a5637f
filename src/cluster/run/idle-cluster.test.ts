// A cluster in which nothing happens sends no request that fails: each would be an error in the rates of the UIs, every few
// seconds.
import { deepEqual, ok } from 'node:assert/strict'
import { test } from 'node:test'
import { deployment } from '../../api/apps/v1/deployment.ts'
import { context } from '../../base/observability/context.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { hasFailed } from '../../flows/diagram-colors.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { MemoryStore } from '../../store/memory-store.ts'
import { temporaryCertificates } from '../certificates/cluster-certificates.ts'
import { adminUser } from '../client/component-users.ts'
import { frontProxyDefaults } from '../../apiserver/authentication/front-proxy.ts'
import { buildRequestPolicies } from '../policy/request-policies.ts'
import { Cluster } from './cluster.ts'

const ctx = context(new AbortController().signal)
const labels = { app: 'web' }
const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
const web = { metadata: { name: 'web' }, spec: { replicas: 3, selector: { matchLabels: labels }, template } }

/** A cluster with a workload, as `up` starts it, whose server listens on this address. */
async function start(host: string) {
  const clock = new VirtualClock(Date.UTC(2030, 0, 1))
  const own = { clock, random: seededRandom(1), platform: nodePlatform }
  const certificates = temporaryCertificates({ ...own, hosts: [host] })
  const { policies } = buildRequestPolicies({ ...own, ...certificates })
  const { signer, authority, proxyAuthority } = certificates
  const controllerSettings = { signer, certificateAuthority: () => authority }
  const store = new MemoryStore(clock)
  const cluster = new Cluster({ ...own, log: silentLog, store, policies, nodes: 2, controllerSettings })
  cluster.start()
  await clock.advance('5s')
  await cluster.publish(host, 6443, ctx.signal)
  await cluster.publishInfo({ server: `https://${host}:6443`, authority }, ctx.signal)
  await cluster.publishAuthorities({ authority, proxyAuthority }, frontProxyDefaults, ctx.signal)
  await cluster.bindNodes(ctx.signal)
  await cluster.client('test', adminUser).of(deployment).create(web, 'default', ctx)
  return { cluster, clock, [Symbol.asyncDispose]: () => cluster.stop() }
}

/** The counters of requests, by series. */
const requestsOf = ({ metrics }: Cluster): Map<string, number> =>
  new Map(
    metrics
      .text()
      .split('\n')
      .filter((line) => line.startsWith('apiserver_request_total{'))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ')))]),
  )

for (const host of ['127.0.0.1', '192.0.2.1'])
  test(`no request fails in an idle cluster whose server listens on ${host}`, async () => {
    await using setup = await start(host)
    const { cluster, clock } = setup
    await clock.advance('1m')
    const before = requestsOf(cluster)
    const idleSinceMs = clock.nowMs()
    await clock.advance('5m')
    const sent = [...requestsOf(cluster)].filter(([series, count]) => count > (before.get(series) ?? 0))
    ok(sent.length > 0, 'kubelets and controllers renew their leases')
    deepEqual(
      sent.filter(([series]) => /code="[45]\d\d"/.test(series)),
      [],
    )
    const recorded = [...cluster.flow.events()].filter(({ atMs }) => atMs > idleSinceMs)
    ok(recorded.length > 0)
    deepEqual(
      recorded.filter(hasFailed).map(({ from, to, what, outcome }) => `${from} → ${to}: ${what}: ${outcome}`),
      [],
    )
  })
