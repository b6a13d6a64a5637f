// runScenario: applies the steps of a scenario in the namespace `default` and returns the state of volumes, claims and
// events after each. Values that differ in every run are placeholders. Everything is deleted at the end.
import { createHash } from 'node:crypto'
import type { Context } from '../../src/base/observability/context.ts'
import { event } from '../../src/api/core/v1/event.ts'
import { persistentVolumeClaim } from '../../src/api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../src/api/core/v1/volume/persistent-volume.ts'
import type { Kind } from '../../src/api/kind/kind.ts'
import { isBeingDeleted, type ApiObject } from '../../src/api/meta/object.ts'
import type { Client } from '../../src/client/client.ts'
import { kindsUsed, type Scenario, type Step } from './scenario.ts'

/** One line of a table in states/. */
export interface RecordedState {
  readonly scenario: string
  readonly step: number
  /** Of the step: one that has changed must be recorded again. */
  readonly digest: string
  readonly volumes: readonly unknown[]
  readonly claims: readonly unknown[]
  readonly events: readonly string[]
}

export interface ScenarioApi {
  readonly client: Client
  readonly context: Context
  /** Returns when controllers had time to handle the last request. */
  yield(): Promise<void>
  /** Returns when nothing changes any more. */
  settle(): Promise<void>
}

const reporters = ['persistentvolume-controller', 'ephemeral_volume']
const namespace = 'default'

export async function runScenario(api: ScenarioApi, { name, steps }: Scenario): Promise<RecordedState[]> {
  const states: RecordedState[] = []
  const uids = new Map<string, string>()
  for (const [index, step] of steps.entries()) {
    await apply(api, step)
    await api.settle()
    states.push({ scenario: name, step: index, digest: digestOf(step), ...(await stateOf(api, uids)) })
  }
  await cleanUp(api)
  return states
}

export const digestOf = (step: Step): string =>
  createHash('sha256').update(JSON.stringify(step)).digest('hex').slice(0, 8)

async function apply({ client, context, yield: pause }: ScenarioApi, step: Step): Promise<void> {
  switch (step.kind) {
    case 'create':
      for (const { of, object } of step.objects) {
        await client.of(kindsUsed[of]).create(object, placeOf(of), context)
        await pause()
      }
      return
    case 'delete':
      return client.of(kindsUsed[step.of]).delete(step.name, placeOf(step.of), { gracePeriodSeconds: 0 }, context)
    case 'patch':
      await client
        .of(kindsUsed[step.of])
        .patch(step.name, placeOf(step.of), step.patch, 'merge', context, step.subresource)
      return
    default:
      return step satisfies never
  }
}

const placeOf = (of: keyof typeof kindsUsed): string => (kindsUsed[of].namespaced ? namespace : '')

async function stateOf({ client, context }: ScenarioApi, uids: Map<string, string>) {
  const pods = await client.of(kindsUsed.pod).list({ namespace }, context)
  const volumes = (await client.of(persistentVolume).list({}, context)).items
  const claims = (await client.of(persistentVolumeClaim).list({ namespace }, context)).items
  const events = (await client.of(event).list({ namespace }, context)).items
  for (const { kind, metadata } of [...pods.items, ...claims]) {
    const known = [...uids.values()].filter((each) => each.startsWith(`<uid of ${kind} ${metadata.name}`)).length
    if (!uids.has(metadata.uid)) uids.set(metadata.uid, `<uid of ${kind} ${metadata.name} ${known + 1}>`)
  }
  const shown = events
    .filter(({ source }) => reporters.includes(source?.component ?? ''))
    .map(
      ({ involvedObject, type, reason, message }) =>
        `${involvedObject.kind} ${involvedObject.name}: ${type} ${reason}: ${message}`,
    )
  return {
    volumes: volumes.map((each) => normalForm(objectState(each), uids)),
    claims: claims.map((each) => normalForm(objectState(each), uids)),
    events: [...new Set(shown)].toSorted(),
  }
}

/** What controllers write: the spec without the storage's address, the status, and parts of the metadata. */
function objectState(object: ApiObject & { readonly spec: object; readonly status: object }): object {
  const { name, annotations, labels, finalizers, ownerReferences } = object.metadata
  const { hostPath: _, csi: _csi, ...spec } = object.spec as Record<string, unknown>
  return {
    name,
    ...(isBeingDeleted(object) ? { isBeingDeleted: true } : {}),
    annotations,
    labels,
    ownerReferences,
    finalizers: finalizers?.toSorted(),
    spec,
    status: object.status,
  }
}

function normalForm(value: unknown, uids: ReadonlyMap<string, string>, key = ''): unknown {
  if (key === 'resourceVersion' || key === 'lastPhaseTransitionTime') return '<any>'
  if (typeof value === 'string') return uids.get(value) ?? value
  if (Array.isArray(value)) return value.map((each) => normalForm(each, uids))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, each]) => each !== undefined)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, each]) => [name, normalForm(each, uids, name)]),
  )
}

/** Deletes pods and claims before volumes, and removes finalizers that no controller removes. */
async function cleanUp({ client, context, settle }: ScenarioApi): Promise<void> {
  for (const kind of Object.values(kindsUsed)) {
    const place = kind.namespaced ? { namespace } : {}
    for (const { metadata } of (await client.of(kind).list(place, context)).items) {
      await ignoringAbsence(
        client.of(kind).delete(metadata.name, place.namespace ?? '', { gracePeriodSeconds: 0 }, context),
      )
      await ignoringAbsence(unprotect(client, kind, metadata.name, place.namespace ?? '', context))
    }
  }
  await settle()
  await client.of(event).deleteAll(namespace, {}, context)
}

const unprotect = (client: Client, kind: Kind, name: string, place: string, context: Context) =>
  client.of(kind).patch(name, place, { metadata: { finalizers: null } }, 'merge', context)

async function ignoringAbsence(work: Promise<unknown>): Promise<void> {
  try {
    await work
  } catch (error) {
    if ((error as { reason?: string }).reason !== 'NotFound') throw error
  }
}
