// Attach/detach controller: asks storage drivers, by VolumeAttachments, to attach the volumes that pods need to their nodes,
// and to detach volumes that no pod of the node needs. Decisions are made in attachment-step.ts, and carried out in
// attachment-actions.ts.
import { leastOf } from '../../base/collections/extremes.ts'
import { isNodeReady, node, type Node } from '../../api/core/v1/node/node.ts'
import { persistentVolumeClaim } from '../../api/core/v1/volume/persistent-volume-claim.ts'
import { persistentVolume } from '../../api/core/v1/volume/persistent-volume.ts'
import { pod } from '../../api/core/v1/pod/pod.ts'
import { csiDriver } from '../../api/storage/v1/csi-driver.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import { assert } from '../../base/assert.ts'
import type { Context } from '../../base/observability/context.ts'
import type { ObjectChange } from '../../client/informer/informer.ts'
import { defineController } from '../runtime/controller.ts'
import { podsByNode } from '../workload/pods-by-node.ts'
import { Attachments, type Attachment } from './attachment.ts'
import { act, type State, type Tools } from './attachment-actions.ts'
import { nextStep, verificationMs, type NodeState, type Situation } from './attachment-step.ts'
import { needsOf, podsByClaim, volumesByDriver, volumesByName, type Need } from './needed-volumes.ts'
import { NodeReports } from './node-report.ts'
import { reconstruct } from './reconstruction.ts'
import { touchedVolumes } from './touched-volumes.ts'
import { attachmentNameOf, identityOf, type VolumeName } from './volume-identity.ts'

const outOfService = 'node.kubernetes.io/out-of-service'
const startKey = 'start'

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
    const againMs = leastOf(waits)
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
    nowMs,
    isNeeded: need !== undefined,
    object: cached(volumeAttachment, name),
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
