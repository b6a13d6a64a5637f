// Cost of field ownership: server-side apply of a 5 KB Deployment, a strategic merge patch of a Pod, and its share of a
// create.
import { deployment } from '../src/api/apps/v1/deployment.ts'
import { pod } from '../src/api/core/v1/pod/pod.ts'
import { appliedFields } from '../src/schema/apply/applied-fields.ts'
import { compare } from '../src/schema/apply/compare.ts'
import { structureOf } from '../src/schema/apply/structure.ts'
import { typedMerge } from '../src/schema/apply/typed-merge.ts'
import type { JsonObject } from '../src/schema/json/json-value.ts'
import { strategicMerge } from '../src/schema/patch/strategic-merge.ts'
import { startServer } from '../src/apiserver/server.harness.ts'
import { nanosecondsPer, type Bench } from './bench.ts'

const container = (index: number) => ({
  name: `c${index}`,
  image: `registry.example/team/service-${index}:1.2.3`,
  args: ['--listen=:8080', '--verbose', `--shard=${index}`],
  env: Array.from({ length: 17 }, (_, key) => ({
    name: `VARIABLE_${key}`,
    value: `value ${key} of container ${index}`,
  })),
  ports: [
    { name: 'http', containerPort: 8080, protocol: 'TCP' },
    { name: 'metrics', containerPort: 9090, protocol: 'TCP' },
  ],
  resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '256Mi' } },
  livenessProbe: { httpGet: { path: '/healthz', port: 8080 }, periodSeconds: 10 },
  volumeMounts: [{ name: 'config', mountPath: '/etc/config' }],
})
const spec = { containers: [0, 1, 2].map(container), volumes: [{ name: 'config', configMap: { name: 'config' } }] }
const config = (replicas: number, name = 'web') => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: 'web', tier: 'front' }, annotations: { note: 'a line of text'.repeat(20) } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web', tier: 'front' } }, spec },
  },
})
const aPod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { app: 'web' } }, spec }
const microseconds = (nanoseconds: number): string => `${(nanoseconds / 1000).toFixed(1)} µs`

/** Rounds are short, so that some of them run undisturbed on a busy machine. */
const callsPerRound = 25
const rounds = 400

function parts(): string[] {
  const deploymentStructure = structureOf(deployment.message)
  const podStructure = structureOf(pod.message)
  const live = structuredClone(config(1)) as unknown as JsonObject
  const next = config(2) as unknown as JsonObject
  const times = (work: () => unknown) =>
    microseconds(
      nanosecondsPer(
        callsPerRound,
        (count) => {
          for (let i = 0; i < count; i++) work()
        },
        rounds,
      ),
    )
  const newPod = aPod as unknown as JsonObject
  const change = { spec: { containers: [{ name: 'c1', image: 'other', env: [{ name: 'VARIABLE_3', value: 'x' }] }] } }
  return [
    `Deployment of ${JSON.stringify(next).length} bytes: merge ${times(() => typedMerge(deploymentStructure, live, next))}, ` +
      `claims ${times(() => appliedFields(deploymentStructure, next))}, compare ${times(() => compare(deploymentStructure, live, next))}`,
    `managedFields of a new Pod of ${JSON.stringify(newPod).length} bytes: ${times(() => compare(podStructure, {}, newPod))}`,
    `strategic merge into that Pod: ${times(() => strategicMerge(pod.message, newPod, change))}`,
  ]
}

const calls = 1_500

async function requests(): Promise<string[]> {
  await using server = await startServer()
  const root = '/apis/apps/v1/namespaces/default/deployments/web?fieldManager=bench'
  const pods = '/api/v1/namespaces/default/pods'
  const cpuPer = async (work: (index: number) => Promise<{ status: number }>): Promise<string> => {
    for (let index = 0; index < 300; index++) await work(index)
    const start = process.cpuUsage()
    for (let index = 0; index < calls; index++) {
      const { status } = await work(index)
      if (status >= 300) throw new Error(`a request of the bench was answered with ${status}`)
    }
    const { user, system } = process.cpuUsage(start)
    return `${((user + system) / calls).toFixed(0)} µs`
  }
  const send = (target: string, type: string, body: unknown) =>
    server.call('PATCH', target, body, { 'content-type': type })
  const applyType = 'application/apply-patch+yaml'
  await server.call('POST', pods, aPod)
  let created = 0
  return [
    `apply that changes one field: ${await cpuPer((index) => send(root, applyType, config(1 + (index % 2))))} of CPU`,
    `apply that changes nothing: ${await cpuPer(() => send(root, applyType, config(1)))} of CPU`,
    `strategic patch of a Pod: ${await cpuPer((index) => send(`${pods}/p`, 'application/strategic-merge-patch+json', { metadata: { labels: { n: String(index) } } }))} of CPU`,
    `create of a Pod: ${await cpuPer(() => server.call('POST', pods, { ...aPod, metadata: { ...aPod.metadata, name: `p${created++}` } }))} of CPU`,
  ]
}

export const applyBench: Bench = { name: 'apply', run: async () => [...parts(), ...(await requests())] }
