// Three nodes without kubelets, and a loop that updates their pods as in the recording: they run after a moment,
// `stuck` images never run, `work` completes, `fail` fails, and deleted pods are removed at once.
import { every, rfc3339, rfc3339Micro, type Clock } from '../../src/base/time/clock.ts'
import { context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import type { TaskGroup } from '../../src/base/async/task-group.ts'
import { lease } from '../../src/api/coordination/v1/lease.ts'
import { node } from '../../src/api/core/v1/node/node.ts'
import { pod, type Pod } from '../../src/api/core/v1/pod/pod.ts'
import { controllerOf, keyOf, namespaceOf } from '../../src/api/meta/object.ts'
import type { Client } from '../../src/client/client.ts'
import { Informers } from '../../src/client/informer/informers.ts'

const startMs = 300
const workMs = 1500
const beatMs = 10_000

export async function startNodes(client: Client, clock: Clock, tasks: TaskGroup): Promise<void> {
  const ctx = context(tasks.signal)
  const capacity = { cpu: '4', memory: '8Gi', pods: '110' }
  for (const name of ['n1', 'n2', 'n3']) {
    const labels = { 'topology.kubernetes.io/zone': name.replace('n', 'z'), 'kubernetes.io/hostname': name }
    await client.of(node).create({ metadata: { name, labels } }, '', ctx)
    const conditions = [{ type: 'Ready', status: 'True', lastTransitionTime: rfc3339(clock.nowMs()) }]
    await client
      .of(node)
      .patch(name, '', { status: { capacity, allocatable: capacity, conditions } }, 'merge', ctx, 'status')
  }
  await startBeats(client, clock, ['n1', 'n2', 'n3'], tasks)
  let address = 0
  const marked = new Map<string, string>()
  const mark = (object: Pod, phase: 'Running' | 'Succeeded' | 'Failed', ip: string) =>
    client
      .of(pod)
      .patch(
        object.metadata.name,
        namespaceOf(object),
        { status: statusOf(object, phase, ip, clock.nowMs()) },
        'strategic',
        ctx,
        'status',
      )
      .catch(() => undefined)
  const live = (object: Pod) => {
    const ip = `10.0.0.${++address}`
    clock.after(startMs, () => {
      void mark(object, 'Running', ip)
      if (controllerOf(object)?.kind !== 'Job') return
      const phase = object.spec.containers[0]?.image === 'fail' ? 'Failed' : 'Succeeded'
      clock.after(workMs, () => void mark(object, phase, ip))
    })
  }
  const informer = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks).of(pod)
  informer.onChange(({ now }) => {
    if (now === undefined) return
    const { uid, deletionTimestamp } = now.metadata
    if (deletionTimestamp !== undefined && marked.get(uid) !== 'gone') {
      marked.set(uid, 'gone')
      void client
        .of(pod)
        .delete(now.metadata.name, namespaceOf(now), { gracePeriodSeconds: 0, uid }, ctx)
        .catch(() => undefined)
    } else if (now.spec.nodeName !== undefined && !marked.has(uid)) {
      marked.set(uid, keyOf(now))
      live(now)
    }
  })
  await informer.synced
}

async function startBeats(client: Client, clock: Clock, names: readonly string[], tasks: TaskGroup): Promise<void> {
  const ctx = context(tasks.signal)
  const leases = client.of(lease)
  const home = 'kube-node-lease'
  const spec = () => ({ renewTime: rfc3339Micro(clock.nowMs()) })
  for (const name of names) await leases.create({ metadata: { name }, spec: spec() }, home, ctx)
  const beats = every(clock, beatMs, () => {
    for (const name of names) void leases.patch(name, home, { spec: spec() }, 'merge', ctx).catch(() => undefined)
  })
  tasks.signal.addEventListener('abort', () => beats.cancel(), { once: true })
}

function statusOf({ spec }: Pod, phase: 'Running' | 'Succeeded' | 'Failed', ip: string, nowMs: number): object {
  const [container] = spec.containers
  const isStuck = container?.image === 'stuck'
  const isReady = phase === 'Running' && !isStuck
  const now = rfc3339(nowMs)
  const why = phase === 'Running' ? {} : { reason: 'PodCompleted' }
  const condition = (type: string, isTrue: boolean) => ({
    type,
    status: isTrue ? 'True' : 'False',
    lastTransitionTime: now,
    ...(isTrue ? {} : why),
  })
  const ended = { exitCode: phase === 'Failed' ? 3 : 0, reason: phase === 'Failed' ? 'Error' : 'Completed' }
  const state = isStuck
    ? { waiting: { reason: 'ErrImagePull' } }
    : phase === 'Running'
      ? { running: { startedAt: now } }
      : { terminated: { ...ended, startedAt: now, finishedAt: now } }
  const started = phase === 'Running' ? { started: !isStuck } : {}
  return {
    phase: isStuck ? 'Pending' : phase,
    conditions: [condition('Initialized', true), condition('ContainersReady', isReady), condition('Ready', isReady)],
    containerStatuses: [
      {
        name: container?.name,
        image: container?.image,
        imageID: 'x',
        ready: isReady,
        restartCount: 0,
        state,
        ...started,
      },
    ],
    hostIP: '192.0.2.1',
    podIP: ip,
    podIPs: [{ ip }],
    startTime: now,
  }
}
