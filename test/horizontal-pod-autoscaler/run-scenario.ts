// runScenario: creates the objects of a scenario and returns the decisions of the controller in their normal form. Syncs
// happen every period after the creation of the autoscaler; the state is changed and read halfway between two of them.
import { event } from '../../src/api/core/v1/event.ts'
import { namespace as namespaceKind } from '../../src/api/core/v1/namespace.ts'
import { pod } from '../../src/api/core/v1/pod/pod.ts'
import { serviceAccount } from '../../src/api/core/v1/service-account.ts'
import { horizontalPodAutoscaler } from '../../src/api/autoscaling/v2/horizontal-pod-autoscaler.ts'
import type { ApiObject } from '../../src/api/meta/object.ts'
import type { Client } from '../../src/client/client.ts'
import { podObject, podStatus, replicasOf, targetKind, targetObject, targetOf, targetStatus } from './objects.ts'
import type { Measured } from './metrics-source.ts'
import { syncSeconds, type Decision, type PodState, type Scenario, type Step, type Target } from './scenario.ts'

export interface ScenarioDeps {
  readonly client: Client
  /** What the metrics APIs report, by namespace. */
  readonly measured: Map<string, Measured>
  nowMs(): number
  sleepUntil(ms: number): Promise<void>
}

const syncMs = syncSeconds * 1000
/** Events are written asynchronously, one after another. */
const eventsMs = 20_000
/** The rivals of an autoscaler are evaluated before it. */
const rivalsAheadMs = 3_000
const defaultSpec = { minReplicas: 1, maxReplicas: 10 }

type WithStatus = ApiObject & { readonly spec: { readonly replicas?: number }; readonly status?: object }

export async function runScenario(
  scenario: Scenario,
  namespace: string,
  deps: ScenarioDeps,
): Promise<readonly Decision[]> {
  const { client, measured } = deps
  await client.of(namespaceKind).create({ metadata: { name: namespace } })
  await client.of(serviceAccount).create({ metadata: { name: 'default' } }, namespace)
  const target = targetOf(scenario)
  if (target !== undefined) await createTarget(target, scenario, namespace, client)
  const setupMs = deps.nowMs()
  const pods: PodState[] = []
  await putPods(scenario.pods ?? [], pods, namespace, setupMs, client)
  measured.set(namespace, { startMs: setupMs, pods, measures: scenario.measures ?? {} })
  const { kind = 'Deployment' } = target ?? {}
  const scaleTargetRef = { kind, name: 'web', apiVersion: targetKind(target ?? {}).apiVersion }
  const spec = { scaleTargetRef, ...defaultSpec, ...scenario.spec }
  const hpas = client.of(horizontalPodAutoscaler)
  for (const name of scenario.rivals ?? []) await hpas.create({ metadata: { name }, spec }, namespace)
  if (scenario.rivals !== undefined) await deps.sleepUntil(deps.nowMs() + rivalsAheadMs)
  const createdMs = deps.nowMs()
  await hpas.create({ metadata: { name: 'web' }, spec }, namespace)
  const decisions: Decision[] = []
  for (const [step, change] of [{}, ...(scenario.next ?? [])].entries()) {
    await applyStep(change, { target, pods, namespace, setupMs }, deps)
    await deps.sleepUntil(createdMs + (step + 1.5) * syncMs)
    decisions.push({ scenario: scenario.name, step, ...(await state(target, namespace, createdMs, client)) })
  }
  for (const name of ['web', ...(scenario.rivals ?? [])]) await hpas.delete(name, namespace)
  await deps.sleepUntil(deps.nowMs() + eventsMs)
  const events = await eventsOf(namespace, client)
  return decisions.map((decision, index) => (index + 1 === decisions.length ? { ...decision, events } : decision))
}

async function createTarget(target: Target, scenario: Scenario, namespace: string, client: Client): Promise<void> {
  const made = await client.of(targetKind(target)).create(targetObject(target, scenario), namespace)
  const replicas = target.statusReplicas ?? replicasOf(target, scenario)
  await client.of(targetKind(target)).updateStatus({ ...made, status: targetStatus(target, replicas) } as ApiObject)
}

/** Creates pods, or replaces the status of those that exist; `known` gets their states. */
async function putPods(
  states: readonly PodState[],
  known: PodState[],
  namespace: string,
  startMs: number,
  client: Client,
): Promise<void> {
  for (const [index, podState] of states.entries()) {
    const wanted = podObject(podState, index) as Parameters<ReturnType<typeof client.of<never, never>>['create']>[0]
    const { name } = (wanted as ApiObject).metadata
    const made = (await client.of(pod).find(name, namespace)) ?? (await client.of(pod).create(wanted, namespace))
    await client.of(pod).updateStatus({ ...made, status: podStatus(podState, startMs) })
    if (podState.deleting === true) await client.of(pod).delete(name, namespace)
    known[index] = podState
  }
}

interface Place {
  readonly target: Target | undefined
  readonly pods: PodState[]
  readonly namespace: string
  readonly setupMs: number
}

async function applyStep(step: Step, { target, pods, namespace, setupMs }: Place, deps: ScenarioDeps): Promise<void> {
  const { client, measured } = deps
  const { replicas, statusReplicas, measures, spec } = step
  await putPods(step.pods ?? [], pods, namespace, setupMs, client)
  if (measures !== undefined) measured.set(namespace, { startMs: setupMs, pods, measures })
  if (spec !== undefined) await client.of(horizontalPodAutoscaler).patch('web', namespace, { spec }, 'merge')
  if (target === undefined) return
  const targets = client.of(targetKind(target))
  if (replicas !== undefined) await targets.patch('web', namespace, { spec: { replicas } }, 'merge')
  if (statusReplicas !== undefined)
    await targets.patch('web', namespace, { status: { replicas: statusReplicas } }, 'merge', undefined, 'status')
}

async function state(target: Target | undefined, namespace: string, createdMs: number, client: Client) {
  const found = target && ((await client.of(targetKind(target)).get('web', namespace)) as WithStatus)
  const { status } = await client.of(horizontalPodAutoscaler).get('web', namespace)
  return { replicas: found?.spec.replicas ?? (found && 0), status: normalStatus(status, namespace, createdMs) }
}

async function eventsOf(namespace: string, client: Client): Promise<string[]> {
  const { items } = await client.of(event).list({ namespace })
  const counts = new Map<string, number>()
  for (const { involvedObject, count = 1, type, reason, message = '', source } of items) {
    if (involvedObject.kind !== horizontalPodAutoscaler.kind || involvedObject.name !== 'web') continue
    const text = namelessText(`${type} ${reason} ${source?.component}: ${message}`, namespace)
    counts.set(text, (counts.get(text) ?? 0) + count)
  }
  return [...counts].map(([text, count]) => `${count} ${text}`).toSorted()
}

/** Times become the sync in which they were set. */
function normalStatus(status: unknown, namespace: string, createdMs: number): unknown {
  const text = JSON.stringify(status).replaceAll(/"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"/g, (_, time: string) =>
    String(Math.round((Date.parse(time) + 500 - createdMs) / syncMs)),
  )
  return sorted(JSON.parse(namelessText(text, namespace)))
}

/** Upstream lists rivals in random order. */
const namelessText = (text: string, namespace: string): string =>
  text
    .replaceAll(namespace, '<namespace>')
    .replaceAll(
      /(multiple HPAs: )\[([^\]]*)\]/g,
      (_, start: string, rivals: string) => `${start}[${rivals.split(' ').toSorted().join(' ')}]`,
    )

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(entries.map(([name, each]) => [name, sorted(each)]))
}
