// The DNS server of a cluster, with sockets in memory.
import { deepEqual, equal, match, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { TaskGroup } from '../../base/async/task-group.ts'
import { mustParseCidr } from '../../base/net/cidr.ts'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { Metrics } from '../../base/observability/metrics.ts'
import { seededRandom } from '../../base/random/random.ts'
import { service } from '../../api/core/v1/service/service.ts'
import { endpointSlice } from '../../api/discovery/v1/endpoint-slice.ts'
import { decodeResponse } from '../../dns/message/decode-response.ts'
import { queryBytes } from '../../dns/message/message.harness.ts'
import { dnsUser } from '../client/component-users.ts'
import { startCluster } from '../testing/start-cluster.ts'
import { dnsComponent } from './dns.ts'
import { memorySockets, type MemorySockets } from './sockets.harness.ts'

const called = context(new AbortController().signal)
const gateway = '10.244.0.1'

interface Setup {
  readonly sockets?: MemorySockets
  readonly gateways?: readonly string[]
  readonly resolvConf?: string
}

async function withDns({ sockets = memorySockets(), gateways = [gateway], resolvConf = '' }: Setup = {}) {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const tasks = new TaskGroup()
  const logged: string[] = []
  const record = (message: string) => void logged.push(message)
  const start = async () => {
    const definition = dnsComponent({
      domain: 'cluster.local',
      hosts: gateways,
      port: 53,
      sockets,
      ownAddresses: gateways,
      resolvConf: () => resolvConf,
      serviceRange: mustParseCidr('10.96.0.0/16'),
    })
    const { start: startIn } = definition.prepare({
      clock,
      random: seededRandom(1),
      flow: new FlowRecorder(clock),
      metrics: new Metrics(),
      log: { ...silentLog, info: record, warn: record },
      client: (_sender, user) => (user === dnsUser ? cluster.as(dnsUser.name) : client),
    })
    startIn(tasks)
    await clock.settle()
    if (tasks.signal.aborted) await tasks.join()
  }
  const ask = async (name: string, at: string) => {
    const response = decodeResponse(await sockets.exchange(at, queryBytes({ name })))
    return { code: response?.responseCode, answers: response?.answers.map(({ data }) => data) }
  }
  const dispose = async () => {
    tasks.stop()
    // A failure has been seen.
    await tasks.join().catch(() => undefined)
    await cluster.stop()
  }
  return { client, sockets, logged, tasks, start, ask, [Symbol.asyncDispose]: dispose }
}

test('the server answers at every gateway, and the Service leads to the first', async () => {
  await using dns = await withDns({ gateways: [gateway, 'fd00::1'] })
  await dns.start()
  deepEqual(dns.sockets.bound(), ['10.244.0.1:53', 'fd00::1:53'])
  for (const at of dns.sockets.bound())
    deepEqual(await dns.ask('kubernetes.default.svc.cluster.local', at), {
      code: 0,
      answers: [{ kind: 'address', address: '10.96.0.1' }],
    })
  // The server's own Service is a name of the cluster as well.
  const own = await dns.ask('kube-dns.kube-system.svc.cluster.local', '10.244.0.1:53')
  deepEqual(own.answers, [{ kind: 'address', address: '10.96.0.10' }])
  equal((await dns.client.of(service).get('kube-dns', 'kube-system', called)).spec.clusterIP, '10.96.0.10')
  const slice = await dns.client.of(endpointSlice).get('kube-dns', 'kube-system', called)
  deepEqual([slice.endpoints?.[0]?.addresses, slice.ports?.[0]?.port], [[gateway], 53])
  deepEqual(dns.logged, [])
})

test('the sockets are closed with the tasks', async () => {
  await using dns = await withDns()
  await dns.start()
  equal(dns.sockets.bound().length, 1)
  await dns.tasks[Symbol.asyncDispose]()
  deepEqual(dns.sockets.bound(), [])
})

test('a free port is used if another server has port 53, and the Service leads there', async () => {
  await using dns = await withDns({ sockets: memorySockets([53]) })
  await dns.start()
  deepEqual(dns.sockets.bound(), ['10.244.0.1:40053'])
  equal((await dns.ask('kubernetes.default.svc.cluster.local', '10.244.0.1:40053')).code, 0)
  const slice = await dns.client.of(endpointSlice).get('kube-dns', 'kube-system', called)
  deepEqual(
    slice.ports?.map(({ port }) => port),
    [40_053, 40_053],
  )
  deepEqual(dns.logged, ['the DNS server uses another port'])
})

test('a failure that is not about port 53 is an error', async () => {
  await using dns = await withDns({ sockets: memorySockets([53, 0]) })
  await rejects(dns.start(), /the port 0 is in use/)
  equal(await dns.client.of(service).find('kube-dns', 'kube-system', called), undefined)
})

test('a node without an address for pods is an error', async () => {
  await using dns = await withDns({ gateways: [] })
  await rejects(dns.start(), /the DNS server has no address/)
})

test('the DNS server of a user stays in use', async () => {
  await using dns = await withDns()
  const ports = [{ name: 'dns', protocol: 'UDP' as const, port: 53 }]
  const installed = { metadata: { name: 'kube-dns' }, spec: { selector: { 'k8s-app': 'other-dns' }, ports } }
  await dns.client.of(service).create(installed, 'kube-system', called)
  await dns.start()
  match(dns.logged.join(), /has a selector, so pods use another DNS server/)
  equal(await dns.client.of(endpointSlice).find('kube-dns', 'kube-system', called), undefined)
})

test('other names are asked of the servers in resolv.conf, except for the server itself', async () => {
  await using dns = await withDns({ resolvConf: `nameserver ${gateway}\nnameserver 192.0.2.53\n` })
  await dns.start()
  const { code } = await dns.ask('example.test', '10.244.0.1:53')
  equal(code, 2, 'the upstream server is unreachable')
  deepEqual([...new Set(dns.sockets.peers)], ['192.0.2.53:53'])
})

test('other names fail at once without a resolv.conf', async () => {
  await using dns = await withDns()
  await dns.start()
  equal((await dns.ask('example.test', '10.244.0.1:53')).code, 2)
  deepEqual(dns.sockets.peers, [])
})
