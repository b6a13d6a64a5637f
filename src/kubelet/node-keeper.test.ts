// A node under pressure, in a whole cluster: pods go in the right order and say why; conditions and taints follow and go.
import { deepEqual, equal, match } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../base/context.ts'
import { FlowRecorder } from '../base/flow.ts'
import { silentLog } from '../base/log.ts'
import { seededRandom } from '../base/random.ts'
import { TaskGroup } from '../base/task-group.ts'
import { event } from '../api/core/v1/event.ts'
import { node } from '../api/core/v1/node.ts'
import { pod } from '../api/core/v1/pod.ts'
import { simulatedHost } from '../cluster/simulated-host.ts'
import { startCluster } from '../cluster/start-cluster.ts'
import { SimulatedHostLoad } from '../machine/load/simulated-host-load.ts'
import { SimulatedRuntime } from '../machine/runtime/simulated.ts'
import { surplus } from './container-collector.ts'
import { Kubelet } from './kubelet.ts'

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
    podCidr: '10.9.0.0/24',
  }
  const tasks = new TaskGroup()
  const host = { ...simulatedHost(runtime), load }
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

test('memory runs short: the pod that uses most goes and says why, the others stay; condition and taint follow and go', async () => {
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

test('while memory is short no pod begins that asked for none', async () => {
  await using solo = await startNode()
  solo.load.set({ memoryAvailableBytes: 50 * mib })
  await solo.clock.advance('1s')
  await solo.make('late', '1Mi', { nodeName: 'solo' })
  await solo.clock.advance('2s')
  const { phase, reason, message } = await solo.status('late')
  deepEqual([phase, reason], ['Failed', 'Evicted'])
  match(message ?? '', /^Pod was rejected: The node had condition: \[MemoryPressure\]\. $/)
})

test('of containers that ended only the last is kept', () => {
  const ended = (id: string, name: string, state: 'exited' | 'running' = 'exited') => ({
    id,
    name,
    state,
    image: '',
    imageId: '',
    attempt: 0,
    startedMs: 0,
    finishedMs: 0,
    exitCode: 1,
    reason: '',
    message: '',
    logPath: '',
  })
  const all = [ended('a0', 'a'), ended('a1', 'a'), ended('b0', 'b'), ended('a2', 'a'), ended('b1', 'b', 'running')]
  deepEqual(
    surplus(all, 1).map(({ id }) => id),
    ['a0', 'a1'],
  )
  deepEqual(
    surplus(all, 0).map(({ id }) => id),
    ['a0', 'a1', 'a2', 'b0'],
  )
})
