// Attach/detach controller: asks storage drivers, by VolumeAttachments, to attach the volumes that pods need to their nodes,
// and to detach volumes that no pod of the node needs. In this file decisions are carried out; attachment-step.ts makes them.
import { isNodeReady, node, type Node } from '../../api/core/v1/node/node.ts'
import { hasReason } from '../../api/errors/status-error.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { csiDriver } from '../../api/storage/v1/csi-driver.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import { assert } from '../../base/assert.ts'
import { backoffMs } from '../../base/work/work-queue.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import { defineController, type ReconcileTools } from '../runtime/controller.ts'
import { podsByNode } from '../workload/pods-by-node.ts'
import { Attachments, type Attachment } from './attachment.ts'
import { attachedNote, attachFailedNote, conflictNote } from './attachment-events.ts'
import { nextStep, verificationMs, type NodeState, type Situation, type Step } from './attachment-step.ts'
import { needsOf, podsByClaim, volumesByDriver, volumesByName, type Need } from './needed-volumes.ts'
import { NodeReports } from './node-report.ts'
import { reconstruct } from './reconstruction.ts'
import { touchedVolumes } from './touched-volumes.ts'
import { attachmentNameOf, identityOf, type VolumeName } from './volume-identity.ts'

/** As upstream retries operations. */
const operationBackoff = { initialMs: 500, maxMs: 122_000 }
const outOfService = 'node.kubernetes.io/out-of-service'
const startKey = 'start'

interface State {
  readonly attachments: Attachments
  readonly reports: NodeReports
  /** The volumes that nodes used last, of removed nodes with attachments. */
  readonly lastInUse: Map<string, readonly string[]>
  startedMs: number | undefined
}

type Tools = ReconcileTools<State>

export const attachDetachController = defineController<State>({
  name: 'attach-detach',
  account: 'attachdetach-controller',
  watches: [csiDriver, node, persistentVolume, persistentVolumeClaim, pod, volumeAttachment],
  indexes: [podsByClaim, podsByNode, volumesByDriver, volumesByName],
  state() {
    const attachments = new Attachments()
    return { attachments, reports: new NodeReports(attachments), lastInUse: new Map(), startedMs: undefined }
  },
  enqueues(kind, change, tools) {
    const { attachments, startedMs } = tools.state
    if (kind.kind === node.kind) rememberUse(change as ObjectChange<Node>, tools.state)
    // Nodes and VolumeAttachments without a pod are found at the start as well.
    return [
      ...(startedMs === undefined ? [startKey] : []),
      ...new Set(touchedVolumes(kind, change, attachments, tools)),
    ]
  },
  async reconcile(key, tools, context) {
    start(tools, context)
    return key === startKey ? undefined : reconcileVolume(key as VolumeName, tools, context)
  },
})

function rememberUse({ key, now, before }: ObjectChange<Node>, { attachments, lastInUse }: State): void {
  if (now !== undefined || attachments.onNode(key).length === 0) lastInUse.delete(key)
  else lastInUse.set(key, before?.status.volumesInUse ?? [])
}

function start(tools: Tools, context: Context): void {
  const { state, nowMs, settings } = tools
  if (state.startedMs !== undefined) return
  state.startedMs = nowMs
  assert(settings.crypto !== undefined, 'the attach/detach controller needs a cryptographic provider')
  const found = reconstruct(state.attachments, tools, settings.crypto)
  for (const volume of found) tools.enqueue(volume, context)
}

/** Advances the volume on all of its nodes, as far as possible. Returns when it must be looked at again. */
async function reconcileVolume(name: VolumeName, tools: Tools, context: Context): Promise<number | undefined> {
  const { attachments } = tools.state
  const needs = needsOf(name, attachments, tools)
  for (const [nodeName, { claims }] of needs) {
    const attachment = attachments.add(name, nodeName, attachmentNameFor(name, nodeName, tools))
    for (const claim of claims) attachments.addClaim(attachment, claim)
  }
  // An attachment may wait for another one that comes after it, so the round is repeated after progress.
  for (;;) {
    const waits: number[] = []
    const unneededFirst = attachments
      .ofVolume(name)
      .toSorted((a, b) => Number(needs.has(a.nodeName)) - Number(needs.has(b.nodeName)))
    for (const attachment of unneededFirst) {
      const step = await advance(attachment, needs, tools, context)
      if (step.kind === 'wait') waits.push(step.forMs ?? Infinity)
    }
    const againMs = Math.min(...waits)
    if (waits.length === unneededFirst.length) return againMs === Infinity ? undefined : againMs
  }
}

function attachmentNameFor(name: VolumeName, nodeName: string, { settings }: Tools): string {
  const identity = identityOf(name)
  assert(identity !== undefined && settings.crypto !== undefined, 'a volume name has a driver and a handle')
  return attachmentNameOf(identity, nodeName, settings.crypto)
}

/** Decides and carries out one step. */
async function advance(attachment: Attachment, needs: ReadonlyMap<string, Need>, tools: Tools, context: Context) {
  const need = needs.get(attachment.nodeName)
  const situation = situationOf(attachment, need, tools)
  observe(attachment, situation, tools)
  const step = nextStep(attachment, situation)
  await act(step, attachment, { need, needs }, tools, context)
  return step
}

function situationOf(attachment: Attachment, need: Need | undefined, tools: Tools): Situation {
  const { volume, nodeName, name } = attachment
  const { cached, byIndex, nowMs, state } = tools
  const others = state.attachments.ofVolume(volume).filter((each) => each !== attachment)
  const modes = new Set(byIndex(volumesByName, volume).flatMap(({ spec }) => spec.accessModes ?? []))
  const isShared = modes.size === 0 || modes.has('ReadWriteMany') || modes.has('ReadOnlyMany')
  const isBusy = others.some(({ operation }) => operation !== undefined)
  const isAttached = others.some(({ phase }) => phase === 'attached')
  return {
    ...{ nowMs, isNeeded: need !== undefined, object: cached(volumeAttachment, name) },
    node: nodeState(nodeName, volume, tools),
    elsewhere: isShared ? 'nothing' : isBusy ? 'operation' : isAttached ? 'attached' : 'nothing',
  }
}

/** A node that was removed before the controller started may use the volume. */
function nodeState(nodeName: string, volume: VolumeName, { cached, state }: Tools): NodeState {
  const object = cached(node, nodeName)
  const inUse = object === undefined ? (state.lastInUse.get(nodeName) ?? [volume]) : (object.status.volumesInUse ?? [])
  return {
    isReady: object !== undefined && isNodeReady(object),
    isOutOfService: object?.spec.taints?.some(({ key }) => key === outOfService) ?? false,
    isInUse: inUse.includes(volume),
  }
}

/** Updates the times from which later steps are due. */
function observe(attachment: Attachment, { nowMs, isNeeded, object }: Situation, { state }: Tools): void {
  const { operation, phase } = attachment
  attachment.unneededMs = isNeeded ? undefined : (attachment.unneededMs ?? nowMs)
  if (!isNeeded) attachment.isConflictReported = false
  const isLost = isNeeded && phase === 'attached' && operation === undefined && !object?.status.attached
  const nextMs = verificationMs - ((nowMs - (state.startedMs ?? nowMs)) % verificationMs)
  attachment.verifyMs = isLost ? (attachment.verifyMs ?? nowMs + nextMs) : undefined
}

interface Needs {
  readonly need: Need | undefined
  readonly needs: ReadonlyMap<string, Need>
}

async function act(step: Step, attachment: Attachment, { need, needs }: Needs, tools: Tools, context: Context) {
  const { state, recordEvent, nowMs } = tools
  const report = async (isReported: boolean) => {
    if (attachment.isReported === isReported) return
    attachment.isReported = isReported
    await state.reports.write(attachment.nodeName, tools, context)
  }
  switch (step.kind) {
    case 'wait':
      return
    case 'forget':
      state.attachments.remove(attachment)
      if (state.attachments.onNode(attachment.nodeName).length === 0) state.lastInUse.delete(attachment.nodeName)
      return
    case 'report-conflict': {
      attachment.isConflictReported = true
      const users = [...needs]
        .filter(([nodeName]) => isAttachedTo(nodeName, attachment, state))
        .flatMap(([, each]) => each.pods)
      for (const each of need?.pods ?? [])
        recordEvent(each, conflictNote(pvName(need, attachment), each, users), context)
      return
    }
    case 'attach':
      return attach(attachment, need, tools, context)
    case 'attached': {
      const { pods = [], volume = '' } = attachment.operation ?? {}
      end(attachment, 'attached')
      for (const each of pods) recordEvent(each, attachedNote(volume), context)
      return report(true)
    }
    case 'attach-failed': {
      const { pods = [], volume = '' } = attachment.operation ?? {}
      fail(attachment, nowMs)
      attachment.phase = 'uncertain'
      for (const each of pods) recordEvent(each, attachFailedNote(volume, step.message), context)
      return
    }
    case 'lost':
      attachment.phase = 'absent'
      return report(false)
    case 'detach':
      await report(false)
      return detach(attachment, step.isForced, tools, context)
    case 'detached':
      return end(attachment, 'absent')
    case 'detach-failed':
      return fail(attachment, nowMs)
    default:
      return step satisfies never
  }
}

const isAttachedTo = (nodeName: string, { volume, nodeName: own }: Attachment, { attachments }: State): boolean =>
  nodeName !== own && attachments.find(volume, nodeName)?.phase === 'attached'

const pvName = (need: Need | undefined, { volume }: Attachment): string =>
  need?.volume?.metadata.name ?? identityOf(volume)?.handle ?? ''

function end(attachment: Attachment, phase: Attachment['phase']): void {
  attachment.operation = undefined
  attachment.phase = phase
  attachment.failures = 0
  attachment.retryMs = 0
}

function fail(attachment: Attachment, nowMs: number): void {
  attachment.operation = undefined
  attachment.retryMs = nowMs + backoffMs(operationBackoff, attachment.failures++)
}

async function attach(attachment: Attachment, need: Need | undefined, tools: Tools, context: Context): Promise<void> {
  const { name, nodeName, volume } = attachment
  const { client, nowMs, cached } = tools
  const operation = {
    kind: 'attach',
    sinceMs: nowMs,
    pods: need?.pods ?? [],
    volume: pvName(need, attachment),
  } as const
  attachment.operation = operation
  if (cached(volumeAttachment, name) !== undefined) return
  const source = { persistentVolumeName: operation.volume }
  const spec = { attacher: identityOf(volume)?.driver ?? '', nodeName, source }
  try {
    await client.of(volumeAttachment).create({ metadata: { name }, spec }, '', context)
  } catch (error) {
    if (hasReason(error, 'AlreadyExists')) return
    await act(
      { kind: 'attach-failed', message: errorText(error) },
      attachment,
      { need, needs: new Map() },
      tools,
      context,
    )
  }
}

async function detach(attachment: Attachment, isForced: boolean, tools: Tools, context: Context): Promise<void> {
  const { name, nodeName, volume } = attachment
  const { client, nowMs, state } = tools
  if (!isForced) {
    // The cache may be stale: the volume may have been mounted in the meantime.
    const object = await client.of(node).find(nodeName, '', context)
    if (object?.status.volumesInUse?.includes(volume)) {
      fail(attachment, nowMs)
      attachment.isReported = true
      return state.reports.write(nodeName, tools, context)
    }
  }
  attachment.operation = { kind: 'detach', sinceMs: nowMs, pods: [], volume: '' }
  try {
    await client.of(volumeAttachment).delete(name, '', {}, context)
  } catch (error) {
    if (!hasReason(error, 'NotFound')) throw error
  }
}
