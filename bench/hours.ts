// Memory after hours of a cluster's time: its clock is virtual, so what is kept for minutes or hours is kept as long as in a
// real cluster, and what is bounded must level off. Namespaces with a few objects, one of them a pod that cannot be scheduled,
// are created and deleted in a loop:
//
//   npm run bench -- hours [--hours 6] [--namespaces-per-hour 60]
import { startCluster } from '../src/cluster/testing/start-cluster.ts'
import type { TestCluster } from '../src/cluster/testing/test-cluster.ts'
import { namespace } from '../src/api/core/v1/namespace.ts'
import type { Bench } from './bench.ts'

const optionOf = (name: string, otherwise: number): number => {
  const place = process.argv.indexOf(name)
  return place < 0 ? otherwise : Number(process.argv[place + 1])
}

const hours = optionOf('--hours', 6)
const namespacesPerHour = optionOf('--namespaces-per-hour', 60)
const hourMs = 3_600_000
const nodes = 3
/** A collection frees what the ones before have made unreachable. */
const collections = 4
const megabyte = 1024 * 1024

const objects = `
apiVersion: apps/v1
kind: Deployment
metadata: { name: web }
spec:
  replicas: 3
  selector: { matchLabels: { app: web } }
  template:
    metadata: { labels: { app: web } }
    spec: { containers: [{ name: c, image: nginx }] }
---
apiVersion: v1
kind: Service
metadata: { name: web }
spec: { selector: { app: web }, ports: [{ port: 80 }] }
---
apiVersion: v1
kind: ConfigMap
metadata: { name: settings }
data: { a: b }
---
apiVersion: batch/v1
kind: Job
metadata: { name: work }
spec: { template: { spec: { restartPolicy: Never, containers: [{ name: c, image: busybox, command: ['true'] }] } } }
---
apiVersion: v1
kind: Pod
metadata: { name: big }
spec: { containers: [{ name: c, image: nginx, resources: { requests: { cpu: '64' } } }] }
`

/** Half of its time the namespace exists; then it is deleted. */
async function round(cluster: TestCluster, name: string): Promise<void> {
  const halfMs = hourMs / namespacesPerHour / 2
  await cluster.client.of(namespace).create({ metadata: { name } })
  await cluster.apply(objects.replaceAll('metadata: { name:', `metadata: { namespace: ${name}, name:`))
  await cluster.clock.advance(halfMs)
  await cluster.client.of(namespace).delete(name)
  await cluster.clock.advance(halfMs)
}

function heapMb(): string {
  for (let count = 0; count < collections; count++) globalThis.gc?.()
  return (process.memoryUsage().heapUsed / megabyte).toFixed(1)
}

export const hoursBench: Bench = {
  name: 'hours',
  async *run() {
    yield `${namespacesPerHour} namespaces an hour of the cluster's time, ${nodes} simulated nodes`
    await using cluster = await startCluster({ nodes })
    yield `start: ${heapMb()} MB after a collection`
    for (let count = 1; count <= hours * namespacesPerHour; count++) {
      await round(cluster, `soak-${count}`)
      if (count % Math.ceil(namespacesPerHour / 2) === 0)
        yield `${(count / namespacesPerHour).toFixed(1)} h: ${heapMb()} MB`
    }
  },
}
