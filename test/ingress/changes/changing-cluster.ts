// The program of the test: a cluster whose certificates, policies and pods change while a client sends requests through its
// Ingress. Prints what was seen. Its arguments are the requests per second, and for how many milliseconds.
import { ok } from 'node:assert/strict'
import { deployment } from '../../../src/api/apps/v1/deployment.ts'
import { secret } from '../../../src/api/core/v1/secret.ts'
import { service } from '../../../src/api/core/v1/service/service.ts'
import { ingress } from '../../../src/api/networking/v1/ingress.ts'
import { networkPolicy } from '../../../src/api/networking/v1/network-policy.ts'
import { TaskGroup } from '../../../src/base/async/task-group.ts'
import { FlowRecorder } from '../../../src/base/observability/flow-recorder.ts'
import { silentLog } from '../../../src/base/observability/log.ts'
import { systemRandom } from '../../../src/base/random/random.ts'
import { realClock } from '../../../src/base/time/clock.ts'
import type { Client } from '../../../src/client/client.ts'
import { Informers } from '../../../src/client/informer/informers.ts'
import { NftProgram } from '../../../src/machine/nftables/nft-program.ts'
import { startPolicyAgent } from '../../../src/network-policy/policy-agent.ts'
import { Authority } from '../../../src/pki/authority.ts'
import { nodePlatform } from '../../../src/platform/node/platform.ts'
import { nodeProcesses } from '../../../src/platform/node/process/processes.ts'
import { until } from '../../until.ts'
import { send, startIngressCluster } from '../ingress.harness.ts'
import { podRange, proxyAddress, startClient, startNode, type Node, type Packets } from './machines.ts'
import { nodeName, ScriptedKubelet } from './scripted-kubelet.ts'
import type { ClientOrder, Seen } from './web-client.ts'

export interface Outcome extends Seen {
  readonly rounds: number
  readonly podsStarted: number
  readonly replicas: number
  /** Packets that came to the node of the pods, before and after the rules of policies. */
  readonly ofProxy: Packets
  readonly ofClient: Packets
}

const [requestsPerSecond = 0, changesMs = 0] = process.argv.slice(2).map(Number)
const roundsMin = 2
/** From the start of one round of changes to the next: starting the pods of a round takes half a second of processor time. */
const roundMs = 2_000
const replicas = 2

const authority = Authority.create('test', { clock: realClock, random: systemRandom, crypto: nodePlatform.crypto })
const host = 'web.example.com'
const newCertificate = () => {
  const { certificate, key } = authority.issue({
    subject: { commonName: host, organizations: [] },
    uses: ['server'],
    dnsNames: [host],
  })
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  return { 'tls.crt': base64(certificate), 'tls.key': base64(key) }
}

/** nft in the namespace of the node. */
const nftOf = ({ pid }: Node): NftProgram => {
  const inside = (command: string, args: readonly string[]) =>
    ['nsenter', ['-t', String(pid), '-n', command, ...args]] as const
  return new NftProgram({
    clock: realClock,
    processes: {
      run: (command, args, ...rest) => nodeProcesses.run(...inside(command, args), ...rest),
      startInteractive: (command, args, ...rest) => nodeProcesses.startInteractive(...inside(command, args), ...rest),
    },
  })
}

const labels = { app: 'web' }

async function createObjects(client: Client): Promise<void> {
  await client.of(networkPolicy).create({ metadata: { name: 'deny' }, spec: { podSelector: {} } })
  await client.of(secret).create({ metadata: { name: 'tls' }, type: 'kubernetes.io/tls', data: newCertificate() })
  await client.of(service).create({
    metadata: { name: 'web' },
    spec: { selector: labels, ports: [{ port: 80, targetPort: 8080 }] },
  })
  await client.of(deployment).create({
    metadata: { name: 'web' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { nodeName, containers: [{ name: 'web', image: 'web' }] } },
    },
  })
  const backend = { service: { name: 'web', port: { number: 80 } } }
  await client.of(ingress).create({
    metadata: { name: 'web' },
    spec: {
      tls: [{ hosts: [host], secretName: 'tls' }],
      rules: [{ host, http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }],
    },
  })
}

/** Every round allows the proxy in another way, before the way of the round before is removed. */
const waysOfAllowing = [
  { from: [{ ipBlock: { cidr: `${proxyAddress.forPods}/32` } }], ports: [{ port: 8080 }] },
  { from: [{ ipBlock: { cidr: '192.168.0.0/16', except: ['192.168.60.0/24'] } }] },
  { from: [{ ipBlock: { cidr: '192.168.50.0/24' } }], ports: [{ port: 8000, endPort: 9000 }] },
]

async function rewritePolicies(client: Client, round: number): Promise<void> {
  const policies = client.of(networkPolicy)
  const way = waysOfAllowing[round % waysOfAllowing.length]
  ok(way)
  await policies.create({
    metadata: { name: `allow-${round}` },
    spec: { podSelector: { matchLabels: round % 2 === 0 ? labels : {} }, ingress: [way] },
  })
  if (round > 0) await policies.delete(`allow-${round - 1}`)
  await policies.modify('deny', (copy) => {
    copy.spec = { ...copy.spec, podSelector: { matchLabels: round % 2 === 0 ? {} : labels } }
  })
}

async function rollPods(client: Client, round: number): Promise<void> {
  const template = { metadata: { annotations: { round: String(round) } } }
  await client.of(deployment).patch('web', { spec: { template } })
  await isRolledOut(client)
}

const isRolledOut = (client: Client) =>
  until(async () => {
    const { metadata, status } = await client.of(deployment).get('web')
    const { observedGeneration, updatedReplicas, replicas: all, availableReplicas } = status
    return (
      observedGeneration === metadata.generation &&
      [updatedReplicas, all, availableReplicas].every((count) => count === replicas)
    )
  })

await using cleanUps = new AsyncDisposableStack()
const node = cleanUps.use(await startNode())
const stage = cleanUps.use(await startIngressCluster({ host: proxyAddress.forClients }))
const { client } = stage
const nftables = cleanUps.use(nftOf(node))
const tasks = cleanUps.use(new TaskGroup())
const informers = new Informers(client, { clock: realClock, random: systemRandom, log: silentLog }, tasks)
const policies = startPolicyAgent(
  {
    informers,
    nftables,
    nodeName,
    ownRanges: [podRange],
    clock: realClock,
    log: silentLog,
    flow: new FlowRecorder(realClock),
    kernelSettings: { set: () => Promise.resolve(true) },
  },
  tasks,
)
const kubelet = cleanUps.use(new ScriptedKubelet({ client, informers, machine: node, policies, tasks }))
await createObjects(client)
await rewritePolicies(client, 0)
await isRolledOut(client)
await until(() =>
  send(stage.httpPort, host, '/', { address: proxyAddress.forClients }).then(({ status }) => status === 200),
)

const order: ClientOrder = {
  host: proxyAddress.forClients,
  port: stage.httpsPort,
  ca: authority.certificate,
  requestsPerSecond,
  closed: Array.from({ length: 20 }, (_, index) => `10.244.0.${index + 2}`),
}
const sender = cleanUps.use(await startClient(JSON.stringify(order)))
const endMs = realClock.monotonicMs() + changesMs
let round = 1
for (; round <= roundsMin || realClock.monotonicMs() < endMs; round++) {
  const next = realClock.sleep(roundMs, tasks.signal)
  await client.of(secret).modify('tls', (copy) => void (copy.data = newCertificate()))
  await rewritePolicies(client, round)
  await rollPods(client, round)
  await next
}
sender.endInput()
const outcome: Outcome = {
  ...(JSON.parse(await sender.line()) as Seen),
  rounds: round - 1,
  podsStarted: kubelet.started,
  replicas,
  ofProxy: await node.packets('proxy'),
  ofClient: await node.packets('client'),
}
process.stdout.write(`${JSON.stringify(outcome)}\n`)
