// The binder of PersistentVolumes and PersistentVolumeClaims. What to do next is decided in claim-step.ts and volume-step.ts;
// this file watches, calls them, and writes.
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import { isPodFinished } from '../../api/core/v1/pod/pod-readiness.ts'
import { pod, type Pod } from '../../api/core/v1/pod/pod.ts'
import { persistentVolumeClaim, type PersistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume, type PersistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import type { Kind } from '../../api/kind/kind.ts'
import { keyOf, namespaceOf, objectKey, type ApiObject, type ObjectKey } from '../../api/meta/object.ts'
import { defaultStorageClassOf } from '../../api/storage/v1/default-class.ts'
import { isDefaultClass, storageClass, type StorageClass } from '../../api/storage/v1/storage-class.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import { defineController, type ObjectIndex, type ReconcileTools } from '../runtime/controller.ts'
import { BinderState, type Concerned } from './binder-state.ts'
import { claimStep, isDelayed, type ClaimView } from './claim-step.ts'
import type { Step } from './step.ts'
import { deletionFailed, volumeStep } from './volume-step.ts'
import { isWaiting } from './waiting-claims.ts'

/** How often a claim without a volume is examined again, which repeats its event. */
const pendingMs = 15_000
/** More than the writes of a binding; exceeding it means that two steps contradict each other. */
const stepsMax = 10
/** A binding is four writes in sequence, so that its time is that of four round trips. */
const workers = 32
const claimPrefix = 'claim '
const volumePrefix = 'volume '

type Tools = ReconcileTools<BinderState>

const podsByClaim: ObjectIndex<Pod> = { kind: pod, name: 'volume-claim', valuesOf: claimsOfPod }

export const persistentVolumeBinder = defineController<BinderState>({
  name: 'persistent-volume-binder',
  account: 'persistent-volume-binder',
  component: 'persistentvolume-controller',
  workers,
  watches: [persistentVolume, persistentVolumeClaim, pod, storageClass],
  indexes: [podsByClaim],
  state: () => new BinderState(),
  enqueues(kind, change, tools) {
    const { claims, volumes } = concerned(kind, change, tools)
    return [...claims.map((key) => claimPrefix + key), ...volumes.map((name) => volumePrefix + name)]
  },
  async reconcile(key, tools, context) {
    if (key.startsWith(volumePrefix)) return reconcileVolume(key.slice(volumePrefix.length), tools, context)
    return reconcileClaim(key.slice(claimPrefix.length), tools, context)
  },
})

function concerned(kind: Kind, change: ObjectChange<ApiObject>, tools: Tools): Concerned {
  const { state } = tools
  const waits = (claim: PersistentVolumeClaim) => isDelayed(claim, viewOf(tools))
  switch (kind.kind) {
    case persistentVolume.kind:
      return state.volumeChanged(change as ObjectChange<PersistentVolume>, waits)
    case persistentVolumeClaim.kind:
      return state.claimChanged(change as ObjectChange<PersistentVolumeClaim>, waits)
    case storageClass.kind:
      return { claims: claimsOfClass(change as ObjectChange<StorageClass>, state), volumes: [] }
    default:
      // The event that names the pods of a claim is recorded when the claim is examined again, as upstream does.
      return { claims: none, volumes: [] }
  }
}

/** Claims that wait for this class, or for a default class. */
const claimsOfClass = ({ key, now }: ObjectChange<StorageClass>, { waiting }: BinderState): ObjectKey[] =>
  now === undefined ? [] : [...waiting.ofClass(key), ...(isDefaultClass(now) ? waiting.ofClass('') : [])]

function claimsOfPod(target: Pod): readonly ObjectKey[] {
  const { volumes } = target.spec
  if (volumes === undefined) return none
  return volumes.flatMap(({ name, persistentVolumeClaim: source, ephemeral }) => {
    if (source === undefined && ephemeral === undefined) return none
    return [objectKey(namespaceOf(target), source?.claimName ?? `${target.metadata.name}-${name}`)]
  })
}

const none: readonly ObjectKey[] = []

const viewOf = ({ state, cached, all, byIndex }: Tools): ClaimView => ({
  volume: (name) => state.volumes.get(name),
  matchFor: (claim, delayed) => state.index.matchFor(claim, delayed),
  storageClass: (name) => (name === '' ? undefined : cached(storageClass, name)),
  defaultClass: () => defaultStorageClassOf(all(storageClass)),
  unscheduledPods: (claim) =>
    byIndex(podsByClaim, keyOf(claim))
      .filter((user) => !user.spec.nodeName && !isPodFinished(user))
      .map(({ metadata }) => metadata.name)
      .toSorted(),
})

async function reconcileClaim(key: ObjectKey, tools: Tools, context: Context): Promise<number | undefined> {
  const view = viewOf(tools)
  for (let steps = 0; steps < stepsMax; steps++) {
    const claim = tools.state.claims.get(key)
    if (claim === undefined) return undefined
    const step = claimStep(claim, view)
    await act(step, tools, context)
    if (step.kind === 'rest') return isWaiting(claim) || claim.status.phase === 'Pending' ? pendingMs : undefined
  }
  throw new Error(`the claim ${key} does not reach a stable state`)
}

async function reconcileVolume(name: string, tools: Tools, context: Context): Promise<undefined> {
  for (let steps = 0; steps < stepsMax; steps++) {
    const volume = tools.state.volumes.get(name)
    if (volume === undefined) return undefined
    const step = volumeStep(volume, await claimOf(volume, tools, context))
    await act(step, tools, context)
    if (step.kind === 'rest' || step.kind === 'delete') return undefined
  }
  throw new Error(`the volume ${name} does not reach a stable state`)
}

/** The claim with the uid in the volume's reference. Before a volume is released, the API server is asked for the claim. */
async function claimOf(
  { spec: { claimRef }, status: { phase } }: PersistentVolume,
  { state, client }: Tools,
  context: Context,
): Promise<PersistentVolumeClaim | undefined> {
  if (!claimRef?.uid) return undefined
  const { namespace = '', name = '', uid } = claimRef
  const known = state.claims.get(objectKey(namespace, name))
  if (known?.metadata.uid === uid) return known
  if (phase === 'Released' || phase === 'Failed') return undefined
  const found = await client.of(persistentVolumeClaim).find(name, namespace, context)
  return found?.metadata.uid === uid ? found : undefined
}

async function act(step: Step, tools: Tools, context: Context): Promise<void> {
  const { state, client, recordEvent, metrics } = tools
  switch (step.kind) {
    case 'rest':
      for (const { about, note } of step.events) recordEvent(about, note, context)
      return
    case 'claim': {
      const writing = write(client.of(persistentVolumeClaim), step.claim, step.through, context)
      const written = await (step.assignsClass ? counted(writing, metrics) : writing)
      state.claims.wrote(written)
      if (step.note !== undefined) recordEvent(written, step.note, context)
      return
    }
    case 'volume': {
      using _held = state.index.hold(step.volume.metadata.name)
      const written = await write(client.of(persistentVolume), step.volume, step.through, context)
      state.volumes.wrote(written)
      if (step.note !== undefined) recordEvent(written, step.note, context)
      return
    }
    case 'delete':
      return deleteWithDirectory(step, tools, context)
    default:
      return step satisfies never
  }
}

/** Counts the assignment of the default class. */
async function counted<T>(writing: Promise<T>, metrics: Tools['metrics']): Promise<T> {
  try {
    const written = await writing
    metrics.retroactiveClasses.add({})
    return written
  } catch (error) {
    metrics.retroactiveClassFailures.add({})
    throw error
  }
}

async function deleteWithDirectory(
  { volume, path }: Extract<Step, { kind: 'delete' }>,
  tools: Tools,
  context: Context,
): Promise<void> {
  try {
    await tools.settings.removeDirectory?.(path)
  } catch (error) {
    return act(deletionFailed(volume, errorText(error)), tools, context)
  }
  await tools.client.of(persistentVolume).delete(volume.metadata.name, '', {}, context)
}

interface Writer<T> {
  update(object: T, context: Context): Promise<T>
  updateStatus(object: T, context: Context): Promise<T>
}

const write = <T>(to: Writer<T>, object: T, through: 'status' | undefined, context: Context): Promise<T> =>
  through === 'status' ? to.updateStatus(object, context) : to.update(object, context)
