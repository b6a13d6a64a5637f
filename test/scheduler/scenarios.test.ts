// The recorded scenarios of upstream's scheduler: the same messages, conditions and events.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import {
  context,
  deployment,
  event,
  pod,
  priorityClass,
  startCluster,
  type TestCluster,
} from '../../src/cluster/index.ts'

const ctx = context(new AbortController().signal)
const container = (cpu?: string) => ({ name: 'c', image: 'x', ...(cpu && { resources: { requests: { cpu } } }) })

async function eventsOf({ client }: TestCluster): Promise<string[]> {
  const { items } = await client.of(event).list({ namespace: 'default' }, ctx)
  return items
    .filter(({ reportingComponent }) => reportingComponent === 'default-scheduler')
    .map(({ involvedObject, type, reason, message, count }) => {
      const name = (involvedObject.name ?? '').replace(/^web-.*/, 'web')
      return `${name} ${type} ${reason}: ${message?.replace(/web-\w+-\w+/, 'web').replace(/pod [0-9a-f-]{36}/, 'pod <uid>')} ${count ?? null}`
    })
}

test('unschedulable: too large, no matching node, gated', async () => {
  await using cluster = await startCluster({ nodes: 3 })
  const pods = cluster.client.of(pod)
  await cluster.clock.advance('2s')
  await pods.create({ metadata: { name: 'big' }, spec: { containers: [container('100')] } }, 'default', ctx)
  await pods.create(
    { metadata: { name: 'sel' }, spec: { nodeSelector: { no: 'where' }, containers: [container()] } },
    'default',
    ctx,
  )
  await pods.create(
    { metadata: { name: 'gated' }, spec: { schedulingGates: [{ name: 'x.y/z' }], containers: [container()] } },
    'default',
    ctx,
  )
  await cluster.clock.advance('2s')
  const conditionOf = async (name: string) => {
    const { lastTransitionTime: _, ...condition } = (await pods.get(name, 'default', ctx)).status.conditions?.[0] ?? {}
    return condition
  }
  const hopeless =
    'no new claims to deallocate, preemption: 0/3 nodes are available: 3 Preemption is not helpful for scheduling.'
  const large = `0/3 nodes are available: 3 Insufficient cpu. ${hopeless}`
  const nowhere = `0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector. ${hopeless}`
  const scheduled = { type: 'PodScheduled', status: 'False', lastProbeTime: null }
  const unschedulable = { ...scheduled, reason: 'Unschedulable', observedGeneration: 1 }
  deepEqual(await conditionOf('big'), { ...unschedulable, message: large })
  deepEqual(await conditionOf('sel'), { ...unschedulable, message: nowhere })
  deepEqual(await conditionOf('gated'), {
    ...scheduled,
    reason: 'SchedulingGated',
    message: 'Scheduling is blocked due to non-empty scheduling gates',
  })
  deepEqual((await eventsOf(cluster)).toSorted(), [
    `big Warning FailedScheduling: ${large} null`,
    `sel Warning FailedScheduling: ${nowhere} null`,
  ])
})

test('preemption: the high-priority pod runs, the victim names its preemptor, and its replacement waits', async () => {
  await using cluster = await startCluster({ nodes: 3 })
  const { client, clock } = cluster
  await client.of(priorityClass).create({ metadata: { name: 'high' }, value: 1000 }, '', ctx)
  const labels = { app: 'web' }
  const template = { metadata: { labels }, spec: { containers: [container('6')] } }
  await client
    .of(deployment)
    .create(
      { metadata: { name: 'web' }, spec: { replicas: 3, selector: { matchLabels: labels }, template } },
      'default',
      ctx,
    )
  await clock.advance('5s')
  await client
    .of(pod)
    .create(
      { metadata: { name: 'vip' }, spec: { priorityClassName: 'high', containers: [container('6')] } },
      'default',
      ctx,
    )
  await clock.advance('40s')
  const items = (await client.of(pod).list({ namespace: 'default' }, ctx)).items
  const vip = items.find(({ metadata }) => metadata.name === 'vip')
  equal(vip?.status.phase, 'Running')
  equal(vip?.status.nominatedNodeName, undefined)
  deepEqual(items.map(({ status }) => status.phase).toSorted(), ['Pending', 'Running', 'Running', 'Running'])
  const nodeName = vip?.spec.nodeName ?? ''
  const waits = `Warning FailedScheduling: 0/3 nodes are available: 3 Insufficient cpu.`
  const hopeless =
    'no new claims to deallocate, preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.'
  const events = await eventsOf(cluster)
  deepEqual(
    [...new Set(events.filter((text) => !text.includes('Scheduled: Successfully assigned default/web')))].toSorted(),
    [
      `vip Normal Scheduled: Successfully assigned default/vip to ${nodeName} null`,
      `vip ${waits} null`,
      `web Normal Preempted: Preempted by pod <uid> on node ${nodeName} null`,
      `web ${waits} ${hopeless} null`,
    ].toSorted(),
  )
})
