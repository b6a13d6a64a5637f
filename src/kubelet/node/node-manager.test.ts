// A node under pressure in a whole cluster: eviction order and messages, and the conditions and taints that result.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../base/observability/context.ts'
import { FlowRecorder } from '../../base/observability/flow-recorder.ts'
import { silentLog } from '../../base/observability/log.ts'
import { seededRandom } from '../../base/random/random.ts'
import { TaskGroup } from '../../base/async/task-group.ts'
import { event } from '../../api/core/v1/event.ts'
import { node } from '../../api/core/v1/node/node.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { simulatedHost } from '../../cluster/node/simulated-host.ts'
import { startCluster } from '../../cluster/testing/start-cluster.ts'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedHostLoad } from '../../machine/load/simulated-host-load.ts'
import type { RuntimeContainer, RuntimePod } from '../../machine/runtime/container-runtime.ts'
import { SimulatedRuntime } from '../../machine/runtime/simulated-runtime.ts'
import { removeExitedContainers } from '../container/container-gc.ts'
import { Kubelet } from '../kubelet.ts'

const ctx = context(new AbortController().signal)
const mib = 1024 ** 2

async function startNode() {
  const cluster = await startCluster({ nodes: 0 })
  const { client, clock } = cluster
  const random = seededRandom(9)
  const runtime = new SimulatedRuntime(clock, random)
  const load = new SimulatedHostLoad()
  const description = {
    name: 'solo',
    hostIp: '192.0.2.9',
    capacity: { cpu: '4', memory: '4Gi', pods: '20' },
    runtime: 'simulated://1',
    operatingSystem: 'linux',
    architecture: 'amd64',
    podCidrs: ['10.9.0.0/24'],
  }
  const tasks = new TaskGroup()
  const host = { ...simulatedHost(runtime, new SimulatedDisk()), load }
  const flow = new FlowRecorder(clock)
  new Kubelet({ client, runtime, clock, random, flow, log: silentLog, description, host }).start(tasks)
  await clock.advance('5s')
  return {
    client,
    clock,
    load,
    make: (name: string, memory: string, spec: object = {}) =>
      client.of(pod).create(
        {
          metadata: { name, annotations: { 'coxswain.dev/usage': `memory=${memory}` } },
          spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
        },
        'default',
        ctx,
      ),
    status: async (name: string) => (await client.of(pod).get(name, 'default', ctx)).status,
    async pressure() {
      const { spec, status } = await client.of(node).get('solo', '', ctx)
      const condition = status.conditions?.find(({ type }) => type === 'MemoryPressure')
      return [condition?.status, condition?.reason, (spec.taints ?? []).map(({ key, effect }) => `${key}:${effect}`)]
    },
    async events(reason: string) {
      return (await client.of(event).list({}, ctx)).items.filter((one) => one.reason === reason)
    },
    async [Symbol.asyncDispose]() {
      await tasks[Symbol.asyncDispose]()
      await cluster.stop()
    },
  }
}

test('memory pressure: the pod with the highest usage is evicted with a message, others stay; the condition and the taint are set and removed', async () => {
  await using solo = await startNode()
  await solo.make('modest', '10Mi')
  await solo.make('greedy', '500Mi')
  await solo.clock.advance('10s')
  deepEqual(await solo.pressure(), ['False', 'KubeletHasSufficientMemory', []])
  solo.load.set({ memoryAvailableBytes: 50 * mib })
  await solo.clock.advance('100ms')
  solo.load.set({ memoryAvailableBytes: 600 * mib })
  await solo.clock.advance('40s')
  const { phase, reason, message, conditions } = await solo.status('greedy')
  deepEqual(
    [phase, reason, message],
    [
      'Failed',
      'Evicted',
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ' +
        'Container c was using 500Mi, request is 0, has larger consumption of memory. ',
    ],
  )
  equal(conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason, 'TerminationByKubelet')
  equal((await solo.status('modest')).phase, 'Running')
  deepEqual(await solo.pressure(), [
    'True',
    'KubeletHasInsufficientMemory',
    ['node.kubernetes.io/memory-pressure:NoSchedule'],
  ])
  equal((await solo.events('Evicted'))[0]?.involvedObject.name, 'greedy')
  equal((await solo.events('EvictionThresholdMet'))[0]?.message, 'Attempting to reclaim memory')
  await solo.clock.advance('5m')
  deepEqual(await solo.pressure(), ['False', 'KubeletHasSufficientMemory', []])
})

test('under memory pressure pods without memory requests are rejected', async () => {
  await using solo = await startNode()
  solo.load.set({ memoryAvailableBytes: 50 * mib })
  await solo.clock.advance('1s')
  await solo.make('late', '1Mi', { nodeName: 'solo' })
  await solo.clock.advance('2s')
  const { phase, reason, message } = await solo.status('late')
  deepEqual([phase, reason], ['Failed', 'Evicted'])
  match(message ?? '', /^Pod was rejected: The node had condition: \[MemoryPressure\]\. $/)
})

test('disk pressure: exited containers of finished pods are removed, running pods are not affected', async () => {
  const removed: string[] = []
  const containers = [
    { id: 'ended', state: 'exited' } as RuntimeContainer,
    { id: 'live', state: 'running' } as RuntimeContainer,
  ]
  const aPod = (uid: string, phase: string) => ({ metadata: { uid }, status: { phase } }) as Pod
  await removeExitedContainers(
    {
      inspect: () => Promise.resolve({ containers } as unknown as RuntimePod),
      removeContainer: (id) => Promise.resolve(void removed.push(id)),
    },
    [aPod('a', 'Succeeded'), aPod('b', 'Running')],
    ctx.signal,
  )
  deepEqual(removed, ['ended'])
})
