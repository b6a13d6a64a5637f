// An application of three services and a database in simulated pods.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { startCluster, type StartClusterOptions } from './start-cluster.ts'
import type { SimulatedProgram } from '../../machine/runtime/simulated-runtime.ts'
import { serveUntilTerminated } from '../../machine/runtime/simulated-runtime.ts'
import type { TestCluster } from './test-cluster.ts'

/** Responds with the name of its pod and the address of its client. */
export const whoami: SimulatedProgram = (process) => {
  process.serveHttp(8080, ({ remoteAddress }) => ({ status: 200, body: `${process.pod.name} ${remoteAddress}` }))
  return serveUntilTerminated(process)
}

/** Keeps numbers by key. */
export const database: SimulatedProgram = (process) => {
  const values = new Map<string, string>()
  process.serveHttp(5432, async (request) => {
    if (request.method === 'PUT') values.set(request.path, await request.text())
    const value = values.get(request.path)
    return value === undefined ? { status: 404 } : { status: 200, body: value, headers: { 'x-pod': process.pod.name } }
  })
  return serveUntilTerminated(process)
}

export const api: SimulatedProgram = (process) => {
  process.serveHttp(8080, async ({ method, path, text }) => {
    const stored = await process.fetch(`http://db-0.db:5432${path}`, {
      method,
      ...(method === 'PUT' ? { body: await text() } : {}),
    })
    return { status: stored.status, body: `${stored.headers.get('x-pod')}=${await stored.text()}` }
  })
  return serveUntilTerminated(process)
}

export const frontend: SimulatedProgram = (process) => {
  process.serveHttp(80, async ({ method, path, text }) => {
    const response = await process.fetch(`http://api${path}`, {
      method,
      ...(method === 'PUT' ? { body: await text() } : {}),
    })
    return { status: response.status, body: `api says ${await response.text()}` }
  })
  return serveUntilTerminated(process)
}

export const images = { whoami, database, api, frontend }
export const start = (options: StartClusterOptions = {}) => startCluster({ simulation: { images }, ...options })

export interface Workload {
  readonly kind?: 'Deployment' | 'StatefulSet'
  readonly replicas?: number
  readonly container?: object
  readonly spec?: object
}

export const workload = (
  name: string,
  image: string,
  { kind = 'Deployment', replicas = 1, container, spec }: Workload = {},
) => ({
  apiVersion: 'apps/v1',
  kind,
  metadata: { name },
  spec: {
    replicas,
    ...(kind === 'StatefulSet' ? { serviceName: name } : {}),
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image, ...container }], ...spec },
    },
  },
})

export const serviceOf = (name: string, port: number, targetPort: number, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name },
  spec: { selector: { app: name }, ports: [{ port, targetPort }], ...spec },
})

/** Waits until as many pods of the application are ready and routed. */
export const untilReady = (cluster: TestCluster, app: string, count: number) =>
  cluster.until(async () => {
    const { items } = await cluster.client.of(pod).list({ labelSelector: `app=${app}` })
    const ready = items.filter(({ status }) =>
      status.conditions?.some((each) => each.type === 'Ready' && each.status === 'True'),
    )
    return ready.length === count && items.length === count ? ready : undefined
  })

export const textOf = async (cluster: TestCluster, url: string, from?: string) =>
  (await cluster.network.fetch(url, from === undefined ? {} : { from })).text()

/** The pods that responded to so many requests, in alphabetical order. */
export async function podsBehind(cluster: TestCluster, url: string, from?: string, count = 30): Promise<string[]> {
  const names = new Set<string>()
  for (let each = 0; each < count; each++) names.add((await textOf(cluster, url, from)).split(' ')[0] ?? '')
  return [...names].toSorted()
}
