// Scenarios recorded from a running Kubernetes, replayed with real kubectl: the final objects, statuses, conditions,
// events and outputs are the same. The scenarios unschedulable and preemption are replayed in test/scheduler.
import { deepEqual, equal, ok } from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { context } from '../../src/base/observability/context.ts'
import { silentLog } from '../../src/base/observability/log.ts'
import { systemRandom } from '../../src/base/random/random.ts'
import { TaskGroup } from '../../src/base/async/task-group.ts'
import { job } from '../../src/api/batch/v1/job.ts'
import { event } from '../../src/api/core/v1/event.ts'
import { namespace } from '../../src/api/core/v1/namespace.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { resourceQuota } from '../../src/api/core/v1/quota/resource-quota.ts'
import { storedKinds } from '../../src/api/kinds.ts'
import { podDisruptionBudget } from '../../src/api/policy/v1/pod-disruption-budget.ts'
import { realClock } from '../../src/base/time/clock.ts'
import { Cluster } from '../../src/cluster/run/cluster.ts'
import { adminUser } from '../../src/cluster/client/component-users.ts'
import { temporaryCertificates } from '../../src/cluster/certificates/cluster-certificates.ts'
import { buildRequestPolicies } from '../../src/cluster/policy/request-policies.ts'
import { serve } from '../../src/cluster/run/serve.ts'
import { nodePlatform } from '../../src/platform/node/platform.ts'
import { MemoryStore } from '../../src/store/memory-store.ts'
import recorded from '../facts/scenarios.json' with { type: 'json' }
import { kubectls, runKubectl } from '../kubectl.ts'
import { until } from '../until.ts'
import { startNodes } from './nodes.ts'
import { normalObject, normalOutput, normalText, progressShape } from './normal-form.ts'
import { scaledClock } from './scaled-clock.ts'

interface Step {
  readonly apply?: object
  readonly kubectl?: string
  readonly printed?: string
  readonly wait_s?: number
}

interface Scenario {
  readonly scenario: string
  readonly namespace: string
  readonly steps: readonly Step[]
  readonly objects: readonly object[]
  readonly events: readonly {
    on: string
    type: string
    reason: string
    message: string
    from: string
    count: number | null
  }[]
}

const speed = 10
const settleMsMax = 60_000
const pollMs = 50

const clock = scaledClock(speed)
const tasks = new TaskGroup()
const ctx = context(tasks.signal)
const certificates = temporaryCertificates({
  platform: nodePlatform,
  clock: realClock,
  random: systemRandom,
  hosts: ['127.0.0.1'],
})
const cluster = new Cluster({
  clock,
  random: systemRandom,
  log: silentLog,
  store: new MemoryStore(clock),
  policies: buildRequestPolicies({ ...certificates, platform: nodePlatform, clock: realClock, random: systemRandom })
    .policies,
  nodes: 0,
})
cluster.start()
const served = await serve(cluster, {
  host: '127.0.0.1',
  port: 0,
  certificates,
  platform: nodePlatform,
  clock,
  log: silentLog,
})
await cluster.ready
const folder = await mkdtemp(join(tmpdir(), 'coxswain-scenarios-'))
const kubeconfig = join(folder, 'kubeconfig')
await writeFile(kubeconfig, served.kubeconfig, { mode: 0o600 })
await startNodes(cluster.client('nodes', adminUser), clock, tasks)
after(async () => {
  tasks.stop()
  await served.close(0)
  await cluster.stop()
  await rm(folder, { recursive: true, force: true })
})

const [kubectl] = kubectls()
if (kubectl === undefined) throw new Error('there is no kubectl')
const client = cluster.client('test', adminUser)

/**
 * The lines of a drain about one namespace: the node also has pods of other scenarios, and the number of retries
 * varies.
 */
const drainLines = (text: string, home: string): Set<string> =>
  new Set(
    normalText(text)
      .split('\n')
      .filter(
        (line) =>
          !/^pod\/.* evicted$/.test(line) &&
          (!line.startsWith('evicting pod ') || line.startsWith(`evicting pod ${home}/`)),
      ),
  )

/** The recorded output of this kubectl: progress by its shapes and its last line, everything else completely. */
function comparePrinted(step: string, printed: string, expected: string, home: string): void {
  if (step.startsWith('drain')) return deepEqual(drainLines(printed.trim(), home), drainLines(expected, home), step)
  if (!step.startsWith('rollout status')) return equal(normalOutput(printed), normalOutput(expected), step)
  const lines = printed.trim().split('\n')
  const wanted = expected.trim().split('\n')
  equal(lines.at(-1), wanted.at(-1), step)
  for (const line of lines) ok(progressShapes.has(progressShape(line)), line)
}

const scenarios = recorded as unknown as readonly Scenario[]
const progressShapes = new Set(
  scenarios.flatMap(({ steps }) => steps.flatMap(({ printed = '' }) => printed.split('\n').map(progressShape))),
)

/** Commands that only read are repeated until the controllers have reached the recorded state. */
const reads = /^(get|rollout (status|history)) /

async function runStep({ apply, kubectl: command, printed }: Step, home: string): Promise<void> {
  if (kubectl === undefined || (apply === undefined && command === undefined)) return
  const args = apply === undefined ? splitWords(command ?? '') : ['apply', '-f', '-']
  const act = async () => {
    const { out, err } = await runKubectl(
      kubectl,
      kubeconfig,
      ['-n', home, ...args],
      apply === undefined ? {} : { input: JSON.stringify(apply) },
    )
    comparePrinted(args.join(' '), `${out}${err}`, printed ?? '', home)
  }
  await (reads.test(args.join(' ')) ? eventually(act) : act())
}

const splitWords = (command: string): string[] => command.split(/ (?![^{]*})/)

async function contentOf(home: string, kinds: ReadonlySet<string>): Promise<unknown[]> {
  const all = await Promise.all(
    storedKinds
      .filter((kind) => kinds.has(kind.kind))
      .map(async (kind) => (await client.of(kind).list({ namespace: home }, ctx)).items),
  )
  return all.flat().map((object) => normalObject(JSON.parse(JSON.stringify(object)) as never))
}

async function eventsOf(home: string): Promise<string[]> {
  const { items } = await client.of(event).list({ namespace: home }, ctx)
  return items
    .map(({ involvedObject: { kind, name = '' }, type, reason, message, source, reportingComponent, count }) =>
      eventLine(
        `${kind}/${name}`,
        type ?? '',
        reason ?? '',
        message ?? '',
        source?.component ?? reportingComponent ?? '',
        count ?? null,
      ),
    )
    .toSorted()
}

const eventLine = (on: string, type: string, reason: string, message: string, from: string, count: number | null) =>
  normalText(`${on} ${type} ${reason} ${message} (${from}) ×${count}`)

const sorted = (objects: readonly unknown[]): string[] =>
  objects.map((object) => JSON.stringify(object, undefined, 1)).toSorted()

/** Repeats until the result is as expected or the time is over; then asserts it. */
async function eventually(check: () => Promise<void>): Promise<void> {
  const endMs = realClock.nowMs() + settleMsMax
  for (;;) {
    try {
      return await check()
    } catch (error) {
      if (realClock.nowMs() > endMs) throw error
      await realClock.sleep(pollMs, tasks.signal)
    }
  }
}

const minuteMs = 60_000
const earlyMs = 2_000

/**
 * The recording waited for one run of an action that happens every minute: most of a minute passes before it, and
 * after.
 */
const earlyInNextMinute = (): Promise<void> =>
  clock.sleep(minuteMs - (clock.nowMs() % minuteMs) + earlyMs, tasks.signal)

/** Conditions that the recording waited for, where the next step depends on them. */
const awaited: Readonly<Record<string, (home: string) => Promise<boolean>>> = {
  'quota stops pods': async (home) => {
    const { items } = await client.of(resourceQuota).list({ namespace: home }, ctx)
    return items.every(({ status }) => status.used !== undefined)
  },
  'budget and eviction': async (home) => {
    const { items } = await client.of(podDisruptionBudget).list({ namespace: home }, ctx)
    return items.every(({ metadata, status }) => status.observedGeneration === metadata.generation)
  },
  'taint eviction': async (home) => {
    const { items } = await client.of(pod).list({ namespace: home }, ctx)
    return items.every(({ spec }) => spec.nodeName !== undefined && spec.nodeName !== 'n2')
  },
  cronjob: async (home) => {
    const { items } = await client.of(job).list({ namespace: home }, ctx)
    return items.some(({ status }) => status.completionTime !== undefined)
  },
}

async function wait(seconds: number, scenario: string, home: string): Promise<void> {
  const isThere = awaited[scenario]
  await (isThere === undefined ? clock.sleep(seconds * 1000, tasks.signal) : until(() => isThere(home)))
}

for (const { scenario, namespace: home, steps, objects, events } of scenarios)
  test(`as recorded: ${scenario}`, async () => {
    await client.of(namespace).create({ metadata: { name: home } }, '', ctx)
    if (steps.some(({ apply = {} }) => 'kind' in apply && apply.kind === 'CronJob')) await earlyInNextMinute()
    for (const [index, step] of steps.entries()) {
      const next = steps[index + 1]
      if (step.wait_s === undefined) await runStep(step, home)
      // The recording waited for the next step, or for the end.
      else if (next !== undefined) await wait(step.wait_s, scenario, home)
    }
    const kinds = new Set(objects.map((object) => (object as { kind: string }).kind))
    const wanted = sorted(objects.map((object) => normalObject(object as never)))
    await eventually(async () => deepEqual(sorted(await contentOf(home, kinds)), wanted))
    const lines = events.map(({ on, type, reason, message, from, count }) =>
      eventLine(on, type, reason, message, from, count),
    )
    await eventually(async () => deepEqual(await eventsOf(home), lines.toSorted()))
  })
