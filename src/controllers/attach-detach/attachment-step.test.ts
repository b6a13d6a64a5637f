// The table of decisions about one volume on one node.
import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { volumeAttachment, type VolumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import { made } from '../runtime/plan.harness.ts'
import { Attachments, type Attachment } from './attachment.ts'
import { nextStep, operationMsMax, unmountMsMax, type Situation, type Step } from './attachment-step.ts'
import type { VolumeName } from './volume-identity.ts'

const nowMs = 1_000_000
const object = (status: object): VolumeAttachment =>
  made(volumeAttachment, 'csi-1', {
    spec: { attacher: 'd', nodeName: 'n', source: {} },
    status: { attached: false, ...status },
  })
const attached = object({ attached: true })
const pending = object({})
const deleting = { ...attached, metadata: { ...attached.metadata, deletionTimestamp: '2030-01-01T00:00:00Z' } }
const node = { isReady: true, isOutOfService: false, isInUse: false }
const inUse = { ...node, isInUse: true }
const operation = (kind: 'attach' | 'detach', sinceMs = nowMs) => ({ kind, sinceMs, pods: [], volume: 'pv' })
const needed = { isNeeded: true }
const lateMs = nowMs - operationMsMax
const timedOut = 'timed out waiting for external-attacher of d CSI driver to attach volume h^1'

const cases: [why: string, attachment: Partial<Attachment>, situation: Partial<Situation>, step: Step][] = [
  ['a needed volume is attached', {}, needed, { kind: 'attach' }],
  [
    'a failed attach waits for its backoff',
    { phase: 'uncertain', retryMs: nowMs + 5 },
    needed,
    { kind: 'wait', forMs: 5 },
  ],
  ['after its backoff it is repeated', { phase: 'uncertain', retryMs: nowMs }, needed, { kind: 'attach' }],
  ['another node has an operation', {}, { ...needed, elsewhere: 'operation' }, { kind: 'wait' }],
  ['another node has the volume', {}, { ...needed, elsewhere: 'attached' }, { kind: 'report-conflict' }],
  ['a conflict is reported once', { isConflictReported: true }, { ...needed, elsewhere: 'attached' }, { kind: 'wait' }],
  ['a VolumeAttachment that is being deleted must be gone', {}, { ...needed, object: deleting }, { kind: 'wait' }],
  ['an attached volume stays', { phase: 'attached' }, { ...needed, object: attached }, { kind: 'wait' }],
  ['an unverified volume is verified', { phase: 'attached', verifyMs: nowMs + 7 }, needed, { kind: 'wait', forMs: 7 }],
  ['an unverified volume is lost', { phase: 'attached', verifyMs: nowMs }, needed, { kind: 'lost' }],
  [
    'an attach waits for the driver',
    { operation: operation('attach') },
    { object: pending },
    { kind: 'wait', forMs: operationMsMax },
  ],
  ['an attach waits for the cache', { operation: operation('attach') }, {}, { kind: 'wait', forMs: operationMsMax }],
  ['an attach succeeds', { operation: operation('attach') }, { object: attached }, { kind: 'attached' }],
  [
    'an attach fails',
    { operation: operation('attach') },
    { object: object({ attachError: { message: 'busy' } }) },
    { kind: 'attach-failed', message: 'busy' },
  ],
  [
    'an attach ends when its VolumeAttachment is deleted',
    { operation: operation('attach') },
    { object: deleting },
    { kind: 'attach-failed', message: 'volume attachment is being deleted' },
  ],
  [
    'an attach times out',
    { operation: operation('attach', lateMs) },
    { object: pending },
    { kind: 'attach-failed', message: timedOut },
  ],
  ['an unneeded volume is detached', { phase: 'attached' }, {}, { kind: 'detach', isForced: false }],
  ['an uncertain volume is detached', { phase: 'uncertain' }, {}, { kind: 'detach', isForced: false }],
  ['an unneeded absent volume is forgotten', {}, {}, { kind: 'forget' }],
  ['a failed detach waits for its backoff', { phase: 'attached', retryMs: nowMs + 9 }, {}, { kind: 'wait', forMs: 9 }],
  ['another operation of the volume precedes', { phase: 'attached' }, { elsewhere: 'operation' }, { kind: 'wait' }],
  ['a mounted volume stays', { phase: 'attached' }, { node: inUse }, { kind: 'wait', forMs: unmountMsMax }],
  [
    'it stays on a ready node',
    { phase: 'attached', unneededMs: nowMs - unmountMsMax },
    { node: inUse },
    { kind: 'wait' },
  ],
  [
    'after six minutes it is detached from a node that is not ready',
    { phase: 'attached', unneededMs: nowMs - unmountMsMax },
    { node: { ...inUse, isReady: false } },
    { kind: 'detach', isForced: true },
  ],
  [
    'it is detached at once from a node out of service',
    { phase: 'attached' },
    { node: { ...inUse, isOutOfService: true } },
    { kind: 'detach', isForced: true },
  ],
  [
    'a detach waits for the driver',
    { operation: operation('detach') },
    { object: attached },
    { kind: 'wait', forMs: operationMsMax },
  ],
  ['a detach succeeds', { operation: operation('detach') }, {}, { kind: 'detached' }],
  [
    'a detach fails',
    { operation: operation('detach') },
    { object: object({ detachError: { message: 'busy' } }) },
    { kind: 'detach-failed' },
  ],
  ['a detach times out', { operation: operation('detach', lateMs) }, { object: attached }, { kind: 'detach-failed' }],
]

for (const [why, attachment, situation, step] of cases)
  test(why, () => {
    const whole = Object.assign(
      new Attachments().add('kubernetes.io/csi/d^h^1' as VolumeName, 'n', 'csi-1'),
      attachment,
    )
    const usual: Situation = { nowMs, isNeeded: false, node, object: undefined, elsewhere: 'nothing' }
    deepEqual(nextStep(whole, { ...usual, ...situation }), step)
  })
