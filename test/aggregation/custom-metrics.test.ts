// Autoscalers on metrics of an adapter in another process, behind APIServices and a Service with a cluster IP.
import { deepEqual, equal, match } from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request } from 'node:https'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { context } from '../../src/base/observability/context.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { apiService } from '../../src/api/apiregistration/v1/api-service.ts'
import { deployment } from '../../src/api/apps/v1/deployment.ts'
import type { MetricSpec } from '../../src/api/autoscaling/v2/autoscaler-spec.ts'
import { horizontalPodAutoscaler } from '../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import { service } from '../../src/api/core/v1/service/service.ts'
import { endpointSlice } from '../../src/api/discovery/v1/endpoint-slice.ts'
import { serviceNameLabel } from '../../src/api/discovery/v1/endpoint-slice-labels.ts'
import { startCluster, type TestCluster } from '../../src/cluster/testing/start-cluster.ts'
import { Authority } from '../../src/pki/authority.ts'
import { nodeCrypto } from '../../src/platform/node/crypto.ts'
import { until } from '../until.ts'
import type { AdapterOptions } from './metrics-adapter.ts'

const ctx = context(new AbortController().signal)
const groups = ['v1beta2.custom.metrics.k8s.io', 'v1beta1.external.metrics.k8s.io']
/** An endpoint must not be a loopback address. */
const machineAddress = Object.values(networkInterfaces())
  .flat()
  .find((each) => each?.family === 'IPv4' && !each.internal)?.address
const host = machineAddress ?? '127.0.0.1'

const target = (name: string) => ({ apiVersion: 'apps/v1', kind: 'Deployment', name })
type MetricName = 'pods' | 'object' | 'external'
const metricNames: readonly MetricName[] = ['pods', 'object', 'external']
const metrics: Readonly<Record<MetricName, MetricSpec>> = {
  // 100 m for each pod.
  pods: { type: 'Pods', pods: { metric: { name: 'rate' }, target: { type: 'AverageValue', averageValue: '50m' } } },
  object: {
    type: 'Object',
    object: {
      metric: { name: 'hits' },
      describedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'object' },
      target: { type: 'Value', value: '2' },
    },
  },
  external: {
    type: 'External',
    external: { metric: { name: 'jobs' }, target: { type: 'AverageValue', averageValue: '2' } },
  },
}
/** An object with the value 6, and external series with 3 and 5. */
const replicas = { pods: 2, object: 3, external: 4 }

class Adapter implements AsyncDisposable {
  readonly #file: string
  readonly #options: Omit<AdapterOptions, 'port'>
  port = 0
  #child: ChildProcess | undefined

  constructor(file: string, options: Omit<AdapterOptions, 'port'>) {
    this.#file = file
    this.#options = options
  }

  /** At the same port again, after the first time. */
  async start(): Promise<void> {
    await writeFile(this.#file, JSON.stringify({ ...this.#options, port: this.port }))
    const script = fileURLToPath(new URL('metrics-adapter.ts', import.meta.url))
    const child = spawn(process.execPath, [script, this.#file], { stdio: ['ignore', 'pipe', 'inherit'] })
    this.#child = child
    for await (const line of createInterface(child.stdout)) {
      this.port = Number(line)
      return
    }
    throw new Error('the adapter has ended')
  }

  async kill(): Promise<void> {
    const child = this.#child
    if (child === undefined) return
    this.#child = undefined
    child.kill('SIGKILL')
    await once(child, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill()
  }
}

async function startAdapter(cluster: TestCluster, stack: AsyncDisposableStack): Promise<Adapter> {
  const folder = await mkdtemp(join(tmpdir(), 'metrics-adapter-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const authority = Authority.create('adapter-ca', { clock: realClock, random: systemRandom, crypto: nodeCrypto })
  const identity = authority.issue({
    subject: { commonName: 'adapter', organizations: [] },
    uses: ['server'],
    dnsNames: ['adapter.default.svc'],
  })
  const values = { pod: '100m', object: '6', external: ['3', '5'] }
  const options = { kubeconfig: cluster.kubeconfig, host, ...identity, values }
  const adapter = stack.use(new Adapter(join(folder, 'options'), options))
  await adapter.start()
  await createService(cluster, adapter.port)
  for (const name of groups) {
    const [version = '', ...group] = name.split('.')
    const spec = { group: group.join('.'), version, groupPriorityMinimum: 100, versionPriority: 100 }
    const caBundle = Buffer.from(authority.certificate).toString('base64')
    const port = machineAddress === undefined ? adapter.port : 443
    const backend = { name: 'adapter', namespace: 'default', port }
    await cluster.client
      .of(apiService)
      .create({ metadata: { name }, spec: { ...spec, caBundle, service: backend } }, '', ctx)
  }
  return adapter
}

/** With a cluster IP; a machine without an address has no endpoint, and the Service names it instead. */
async function createService({ client }: TestCluster, port: number): Promise<void> {
  const metadata = { name: 'adapter' }
  const spec =
    machineAddress === undefined
      ? { type: 'ExternalName' as const, externalName: host }
      : { ports: [{ name: 'https', port: 443, targetPort: port }] }
  await client.of(service).create({ metadata, spec }, 'default', ctx)
  if (machineAddress === undefined) return
  const labels = { [serviceNameLabel]: 'adapter' }
  const slice = { addressType: 'IPv4' as const, endpoints: [{ addresses: [host] }], ports: [{ name: 'https', port }] }
  await client.of(endpointSlice).create({ metadata: { name: 'adapter-1', labels }, ...slice }, 'default', ctx)
}

async function createAutoscaler({ client }: TestCluster, name: MetricName): Promise<void> {
  const labels = { app: name }
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
  await client
    .of(deployment)
    .create({ metadata: { name }, spec: { selector: { matchLabels: labels }, template } }, 'default', ctx)
  await client
    .of(horizontalPodAutoscaler)
    .create(
      { metadata: { name }, spec: { scaleTargetRef: target(name), maxReplicas: 10, metrics: [metrics[name]] } },
      'default',
      ctx,
    )
}

const reasonsOf = async ({ client }: TestCluster): Promise<(string | undefined)[]> =>
  Promise.all(
    groups.map(async (name) => (await client.of(apiService).get(name, '', ctx)).status.conditions?.[0]?.reason),
  )

/** The status of a request that does not come from the front proxy. */
const directly = (port: number): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const path = '/apis/external.metrics.k8s.io/v1beta1/namespaces/default/jobs'
    const headers = { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' }
    const sent = request({ host, port, path, headers, rejectUnauthorized: false }, (response) => {
      response.resume()
      resolve(response.statusCode)
    })
    sent.on('error', reject).end()
  })

test('autoscalers follow the metrics of an adapter, and report it while it is down', async () => {
  await using stack = new AsyncDisposableStack()
  const cluster = stack.use(await startCluster({ time: 'flowing', nodes: 1 }))
  const { client, clock } = cluster
  const adapter = await startAdapter(cluster, stack)
  await until(async () => (await reasonsOf(cluster)).every((reason) => reason === 'Passed'))
  equal(await directly(adapter.port), 401)

  for (const name of metricNames) await createAutoscaler(cluster, name)
  const scaled = async () =>
    Object.fromEntries(
      await Promise.all(
        metricNames.map(async (name) => [name, (await client.of(deployment).get(name, 'default', ctx)).spec.replicas]),
      ),
    )
  const isReady = async () =>
    (await client.of(deployment).list({ namespace: 'default' }, ctx)).items.every(
      ({ status }) => (status.readyReplicas ?? 0) > 0,
    )
  await until(isReady)
  await clock.advance('16s')
  await until(async () => JSON.stringify(await scaled()) === JSON.stringify(replicas))

  await adapter.kill()
  await until(async () => {
    await clock.advance('5s')
    return (await reasonsOf(cluster)).every((reason) => reason === 'FailedDiscoveryCheck')
  })
  await clock.advance('16s')
  const active = async (name: string) =>
    (await client.of(horizontalPodAutoscaler).get(name, 'default', ctx)).status.conditions?.find(
      ({ type }) => type === 'ScalingActive',
    )
  await until(async () => (await active('external'))?.status === 'False')
  const { reason, message = '' } = (await active('external')) ?? {}
  equal(reason, 'FailedGetExternalMetric')
  match(
    message,
    /unable to fetch metrics from external metrics API: the server is currently unable to handle the request/,
  )
  deepEqual(await scaled(), replicas)

  await adapter.start()
  await until(async () => {
    await clock.advance('1s')
    return (await reasonsOf(cluster)).every((each) => each === 'Passed')
  })
  await clock.advance('16s')
  await until(async () => (await active('external'))?.status === 'True')
})
