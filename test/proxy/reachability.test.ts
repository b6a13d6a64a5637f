// Real packets from every kind of client to every kind of address of Services with every policy and state of endpoints.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Endpoint } from '../../src/api/discovery/v1/endpoint.ts'
import { endpointAt, serviceWith, sliceWith } from '../../src/proxy/routing/routing.harness.ts'
import { inNamespaces } from '../containers/namespaces.ts'
import { serverPort, startNetwork, type TestNetwork } from './network.harness.ts'
import { nodeAddresses, startProxy } from './proxy.harness.ts'
import {
  addressKinds,
  clients,
  endpointSets,
  expected,
  machineOf,
  type AddressKind,
  type Case,
  type EndpointSet,
} from './reachability.ts'

const families = ['IPv4', 'IPv6'] as const
const protocols = ['TCP', 'UDP'] as const
const policies = ['Cluster', 'Local'] as const
type Family = (typeof families)[number]

const addressesOfMachines: Record<string, Record<Family, string>> = {
  'pod-a1': { IPv4: '10.244.0.2', IPv6: 'fd01::a:2' },
  'pod-a2': { IPv4: '10.244.0.3', IPv6: 'fd01::a:3' },
  'pod-b1': { IPv4: '10.244.1.2', IPv6: 'fd01::b:2' },
  'node-b': { IPv4: '192.168.50.2', IPv6: 'fd50::2' },
  outside: { IPv4: '192.168.50.100', IPv6: 'fd50::100' },
}
const addressesOfNode = new Set([...nodeAddresses, '10.244.0.1', 'fd01::a:1'])

const pod = (name: string, family: Family, conditions: object = {}): Endpoint =>
  endpointAt(addressesOfMachines[name]?.[family] ?? '', conditions, {
    nodeName: name.startsWith('pod-a') ? 'node-a' : 'node-b',
  })

const endpointsOf: Record<EndpointSet, (family: Family) => Endpoint[]> = {
  none: () => [],
  one: (family) => [pod('pod-a1', family)],
  many: (family) => ['pod-a1', 'pod-a2', 'pod-b1'].map((name) => pod(name, family)),
  terminating: (family) => [
    pod('pod-a1', family, { ready: false, serving: true, terminating: true }),
    pod('pod-a2', family, { ready: false, serving: false, terminating: true }),
  ],
  'other node': (family) => [pod('pod-b1', family)],
  unready: (family) => [pod('pod-a1', family, { ready: false, serving: false })],
}

/** Each Service has every kind of address. */
interface TestService {
  readonly name: string
  readonly number: number
  readonly policy: 'Cluster' | 'Local'
  readonly endpoints: EndpointSet
}

const testServices: readonly TestService[] = policies.flatMap((policy, at) =>
  endpointSets.map((endpoints, index) => {
    const number = at * endpointSets.length + index + 1
    return { name: `s${number}`, number, policy, endpoints }
  }),
)

const addressOf = ({ number }: TestService, kind: AddressKind, family: Family): string =>
  ({
    'cluster IP': family === 'IPv4' ? `10.96.0.${number}` : `fd96::${number}`,
    'node port': family === 'IPv4' ? '192.168.50.1' : 'fd50::1',
    'load balancer IP': family === 'IPv4' ? `198.51.100.${number}` : `2001:db8:1::${number}`,
    'external IP': family === 'IPv4' ? `203.0.113.${number}` : `2001:db8:2::${number}`,
  })[kind]

const portOf = ({ number }: TestService, kind: AddressKind): number => (kind === 'node port' ? 30_000 + number : 80)

function objectsOf(each: TestService) {
  const of = (kind: AddressKind) => families.map((family) => addressOf(each, kind, family))
  const ports = protocols.map((protocol) => ({
    name: protocol.toLowerCase(),
    protocol,
    port: 80,
    nodePort: 30_000 + each.number,
  }))
  const object = serviceWith(
    {
      type: 'LoadBalancer',
      clusterIPs: of('cluster IP'),
      clusterIP: of('cluster IP')[0],
      ports,
      externalIPs: of('external IP'),
      internalTrafficPolicy: each.policy,
      externalTrafficPolicy: each.policy,
    },
    { name: each.name },
    { loadBalancer: { ingress: of('load balancer IP').map((ip) => ({ ip, ipMode: 'VIP' })) } },
  )
  const slices = families.map((family) => {
    const slice = sliceWith(
      endpointsOf[each.endpoints](family),
      {
        addressType: family,
        ports: protocols.map((protocol) => ({ name: protocol.toLowerCase(), protocol, port: serverPort })),
      },
      { 'kubernetes.io/service-name': each.name },
    )
    return { ...slice, metadata: { ...slice.metadata, name: `${each.name}-${family}` } }
  })
  return { object, slices }
}

interface MatrixCase extends Case {
  readonly service: TestService
  readonly family: Family
  readonly protocol: 'TCP' | 'UDP'
}

const matrix: readonly MatrixCase[] = testServices.flatMap((service) =>
  clients.flatMap((client) =>
    addressKinds.flatMap((addressKind) =>
      families.flatMap((family) =>
        protocols.map((protocol) => ({
          service,
          client,
          addressKind,
          family,
          protocol,
          policy: service.policy,
          endpoints: service.endpoints,
        })),
      ),
    ),
  ),
)

/** With three endpoints, the probability that one of them is never chosen is 3 · (2/3)^40 < 10^-6. */
const attemptsOfMany = 40
const silentMs = 300
const responseMs = 5_000

async function check(network: TestNetwork, each: MatrixCase): Promise<string | undefined> {
  const want = expected(each)
  const what = {
    protocol: each.protocol,
    address: addressOf(each.service, each.addressKind, each.family),
    port: portOf(each.service, each.addressKind),
    waitMs: want.kind === 'silent' ? silentMs : responseMs,
  }
  const machine = network.machines[machineOf[each.client]]
  const outcomes = new Set<string>()
  const attempts = want.kind === 'reached' && want.sources.size > 1 ? attemptsOfMany : 1
  for (let done = 0; done < attempts && !outcomes.has('silent'); done++) outcomes.add(await machine.attempt(what))
  const text = [...outcomes].toSorted().join(', ')
  const { client, addressKind, policy, endpoints, family, protocol } = each
  const name = `${client} → ${addressKind}, ${policy}, ${endpoints}, ${family} ${protocol}`
  if (want.kind !== 'reached') return text === want.kind ? undefined : `${name}: ${text}, not ${want.kind}`
  const seen = new Map([...outcomes].map((outcome) => outcome.split(' ') as [string, string]))
  const client4or6 = addressesOfMachines[machineOf[client]]?.[family]
  for (const [responder, source] of want.sources) {
    const address = seen.get(responder)
    const isRight = source === 'client' ? address === client4or6 : addressesOfNode.has(address ?? '')
    if (!isRight) return `${name}: ${text}, not ${responder} with the address of the ${source}`
  }
  return seen.size === want.sources.size ? undefined : `${name}: ${text}, not ${[...want.sources.keys()].join(', ')}`
}

inNamespaces(import.meta.url, () => {
  let network: TestNetwork
  let proxy: ReturnType<typeof startProxy>

  before(async () => {
    network = await startNetwork()
    proxy = startProxy()
    await proxy.proxy.synced
    await proxy.change(() => {
      for (const each of testServices) {
        const { object, slices } = objectsOf(each)
        proxy.services.put(object)
        for (const slice of slices) proxy.slices.put(slice)
      }
    })
  })
  after(async () => {
    await proxy[Symbol.asyncDispose]()
    await network[Symbol.asyncDispose]()
  })

  describe('reachability', () => {
    test(`${matrix.length} cases`, async () => {
      ok(matrix.length >= 250)
      const wrong: string[] = []
      const left = matrix.values()
      const work = async () => {
        for (const each of left) {
          const problem = await check(network, each)
          if (problem !== undefined) wrong.push(problem)
        }
      }
      await Promise.all(Array.from({ length: 24 }, work))
      deepEqual(wrong.slice(0, 40), [], `${wrong.length} of ${matrix.length} cases`)
      equal(wrong.length, 0)
    })
  })
})
