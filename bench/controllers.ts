// How fast controllers create and delete many pods, on simulated nodes and virtual time: CPU time is what counts.
import { context, deployment, namespace, pod, startCluster } from '../src/cluster/index.ts'
import type { Bench } from './bench.ts'

const ctx = context(new AbortController().signal)
const podsPerNode = 100
const home = 'load'

async function load(deployments: number, replicas: number): Promise<string[]> {
  const pods = deployments * replicas
  await using cluster = await startCluster({ nodes: Math.ceil(pods / podsPerNode) })
  const { client, clock } = cluster
  await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
  const ready = async () =>
    (await client.of(deployment).list({ namespace: home }, ctx)).items.filter(
      ({ status }) => status.readyReplicas === replicas,
    ).length
  const create = async () => {
    for (let index = 0; index < deployments; index++) {
      const labels = { app: `web-${index}` }
      const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } }
      const spec = { replicas, selector: { matchLabels: labels }, template }
      await client.of(deployment).create({ metadata: { name: `web-${index}` }, spec }, home, ctx)
    }
  }
  const made = await timed(async () => {
    // Time advances meanwhile, because a component may wait for a timer.
    let isCreated = false
    const creating = create().then(() => (isCreated = true))
    await clock.runUntil(() => isCreated, '1h')
    await creating
    for (let tries = 0; tries < 100 && (await ready()) < deployments; tries++) await clock.advance('1s')
  })
  if ((await ready()) < deployments) throw new Error('not every Deployment is ready')
  const removed = await timed(async () => {
    await client.of(namespace).delete(home, '', {}, ctx)
    for (let tries = 0; tries < 600 && (await client.of(namespace).find(home, '', ctx)) !== undefined; tries++)
      await clock.advance('1s')
  })
  const left = (await client.of(pod).list({ namespace: home }, ctx)).items.length
  if (left > 0) throw new Error(`${left} pods are left`)
  const objects = deployments * 2 + pods
  const size = `${deployments.toLocaleString('en')} Deployments × ${replicas} pods`
  return [
    `${size} to all Ready: ${made.seconds.toFixed(1)} s, ${(objects / made.seconds).toFixed(0)} objects/s, CPU ${made.cpuSeconds.toFixed(1)} s`,
    `${pods.toLocaleString('en')} pods deleted with their namespace: ${removed.seconds.toFixed(1)} s, ${(pods / removed.seconds).toFixed(0)} pods/s, CPU ${removed.cpuSeconds.toFixed(1)} s`,
  ]
}

async function timed(work: () => Promise<void>): Promise<{ seconds: number; cpuSeconds: number }> {
  const begin = performance.now()
  const cpu = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(cpu)
  return { seconds: (performance.now() - begin) / 1000, cpuSeconds: (user + system) / 1e6 }
}

/** The large load takes minutes, so it needs COXSWAIN_LONG=1. */
const sizes = process.env['COXSWAIN_LONG'] === '1' ? [100, 1000] : [100]

export const controllersBench: Bench = {
  name: 'controllers',
  async run() {
    const lines: string[] = []
    for (const deployments of sizes) lines.push(...(await load(deployments, 10)))
    return lines
  },
}
