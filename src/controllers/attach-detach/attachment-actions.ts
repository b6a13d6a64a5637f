// The actions of the attach/detach controller: each step that attachment-step.ts has decided is carried out by writes of
// VolumeAttachments and nodes, and by events of pods.
import { node } from '../../api/core/v1/node/node.ts'
import { hasReason, ignoring } from '../../api/errors/status-error.ts'
import { volumeAttachment } from '../../api/storage/v1/volume-attachment.ts'
import { backoffMs } from '../../base/work/work-queue.ts'
import type { Context } from '../../base/observability/context.ts'
import { errorText } from '../../base/observability/log.ts'
import type { ReconcileTools } from '../runtime/controller.ts'
import type { Attachment, Attachments } from './attachment.ts'
import { attachedNote, attachFailedNote, conflictNote } from './attachment-events.ts'
import type { Step } from './attachment-step.ts'
import type { Need } from './needed-volumes.ts'
import type { NodeReports } from './node-report.ts'
import { identityOf } from './volume-identity.ts'

/** As upstream retries operations. */
const operationBackoff = { initialMs: 500, maxMs: 122_000 }

export interface State {
  readonly attachments: Attachments
  readonly reports: NodeReports
  /** The volumes that nodes used last, of removed nodes with attachments. */
  readonly lastInUse: Map<string, readonly string[]>
  startedMs: number | undefined
}

export type Tools = ReconcileTools<State>

interface Needs {
  readonly need: Need | undefined
  readonly needs: ReadonlyMap<string, Need>
}

/** Carries out one step. */
export async function act(step: Step, attachment: Attachment, { need, needs }: Needs, tools: Tools, context: Context) {
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
  await client.of(volumeAttachment).delete(name, '', {}, context).catch(ignoring('NotFound'))
}
