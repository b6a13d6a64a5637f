// The scheduler alone: pods are scheduled and placed in sequence, without an API server.
import { context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { Metrics } from '../../src/base/observability/metrics.ts'
import { seededRandom } from '../../src/base/random/random.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { VirtualClock } from '../../src/base/time/virtual-clock.ts'
import type { Pod } from '../../src/api/core/v1/pod/pod.ts'
import { Client } from '../../src/client/client.ts'
import { Informers } from '../../src/client/informer/informers.ts'
import { makeProfiles } from '../../src/scheduler/framework/scheduler-configuration.ts'
import { CycleBuffers } from '../../src/scheduler/cycle/cycle-buffers.ts'
import { filterNodes } from '../../src/scheduler/cycle/filtering.ts'
import type { FilterRun } from '../../src/scheduler/framework/framework.ts'
import { schedulerMetrics } from '../../src/scheduler/framework/scheduler-metrics.ts'
import { Nominator } from '../../src/scheduler/framework/nominator.ts'
import { schedulerPlugins } from '../../src/scheduler/plugins.ts'
import { standing } from '../../src/scheduler/scheduler.harness.ts'
import { bestOf, scoreNodes } from '../../src/scheduler/cycle/scoring.ts'
import { EquivalenceCache } from '../../src/scheduler/cycle/equivalence-cache.ts'
import { podFacts } from '../../src/scheduler/snapshot/pod-facts.ts'
import { Snapshot } from '../../src/scheduler/snapshot/snapshot.ts'
import { startRate, type Rate } from './rate.ts'
import { nodeCount, nodesOf, podOf, storageOf, type Workload } from './workloads.ts'

const ctx = context(new AbortController().signal)

export async function alone(workload: Workload, count: number): Promise<Rate> {
  const snapshot = new Snapshot()
  for (const each of nodesOf(workload)) snapshot.setNode(each)
  for (const name of ['default', 'measure-0', ...Array.from({ length: 100 }, (_, index) => `init-${index}`)])
    snapshot.setNamespace(name, { team: 'devops' })
  for (let index = 0; index < (workload.initialCount ?? 0); index++) {
    const { priority, ...shape } = workload.initial?.(index) ?? {}
    snapshot.place(podOf(workload, `init-${index}`, shape, priority), `node-${index % nodeCount}`)
  }
  const pods = Array.from({ length: count }, (_, index) => podOf(workload, `p-${index}`, workload.measured(index)))
  const hopeless = podOf(workload, 'hopeless', { requests: { cpu: '1000' } })
  await using tasks = new TaskGroup()
  const clock = new VirtualClock()
  const nominator = new Nominator()
  const shared = new EquivalenceCache()
  const memory = new CycleBuffers()
  const random = seededRandom(1)
  const client = new Client(
    standing(
      storageOf(
        workload,
        pods.map(({ metadata }) => metadata.name),
      ),
    ),
  )
  const informers = new Informers(client, { clock, random: seededRandom(1), log: silentLog }, tasks)
  const removals: { run: FilterRun; nodeName: string }[] = []
  const deps = {
    schedulerName: 'default-scheduler',
    client,
    informers,
    clock,
    random,
    snapshot,
    nominator,
    log: silentLog,
    extenders: [],
    metrics: schedulerMetrics(new Metrics()),
    recordEvent: () => {},
    retryPreEnqueue: () => {},
    retryAfterBackoff: () => {},
    startTask: () => {},
  }
  const [profile] = makeProfiles({}, schedulerPlugins, (plugin, args) => ({
    ...plugin,
    ...plugin.configure?.(args, deps),
  }))
  if (profile === undefined) throw new Error('there is no profile')
  for (const kind of profile.plugins.flatMap(({ watches = [] }) => watches)) informers.of(kind)
  await clock.settle()
  await informers.synced()
  let start = 0
  const decide = (target: Pod): string | undefined => {
    const cycle = { pod: target, facts: podFacts(target), snapshot }
    const filtered = filterNodes(cycle, profile, nominator, start, shared, undefined, memory)
    if (filtered.kind === 'rejected') return undefined
    start = (start + filtered.evaluated) % snapshot.size
    if (filtered.fitting.length > 0) {
      const slot =
        filtered.fitting.length === 1
          ? (filtered.fitting[0] as number)
          : bestOf(
              scoreNodes(cycle, profile, filtered.fitting, filtered.run.equivalenceClass, undefined, memory),
              random,
            )
      return snapshot.nameAt(slot)
    }
    for (const plugin of profile.at.postFilter) {
      const result = plugin.postFilter(filtered.run, ctx)
      if (!(result instanceof Promise) && result.kind === 'nominated') {
        removals.push({ run: filtered.run, nodeName: result.nodeName })
        return undefined
      }
    }
    return undefined
  }
  const stop = startRate()
  for (const [index, target] of pods.entries()) {
    if (workload.hopelessEvery !== undefined && index % workload.hopelessEvery === 0) decide(hopeless)
    let nodeName = decide(target)
    const removal = removals.pop()
    if (removal !== undefined) {
      // The victims are removed, and the pod is scheduled again.
      nominator.set(target, removal.nodeName)
      const slot = snapshot.slotOf(removal.nodeName) ?? -1
      for (const { pod: victim, facts } of [...snapshot.podsOn(slot)]) if (facts.priority < 10) snapshot.remove(victim)
      nodeName = decide(target)
      nominator.set(target, undefined)
    }
    if (nodeName === undefined) throw new Error(`${workload.name}: no node for ${target.metadata.name}`)
    snapshot.place(target, nodeName)
  }
  return stop(count)
}
