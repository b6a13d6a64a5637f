import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../../base/observability/context.ts'
import { VirtualClock } from '../../../base/time/virtual-clock.ts'
import type { Node } from '../../../api/core/v1/node/node.ts'
import { StatusError } from '../../../api/errors/status-error.ts'
import type { VolumeAttachment } from '../../../api/storage/v1/volume-attachment.ts'
import { waitForAttachment } from './attachment.ts'
import type { CsiVolume } from './csi-volume.ts'

const ctx = context(new AbortController().signal)
const volume = { driver: 'd', handle: 'h', specName: 'pv' } as CsiVolume
const name = 'kubernetes.io/csi/d^h'
const attached = { status: { volumesInUse: [name], volumesAttached: [{ name, devicePath: '' }] } } as unknown as Node
const attachment = { status: { attached: true, attachmentMetadata: { lun: '1' } } } as unknown as VolumeAttachment
const denied = (code: 403 | 500, reason: 'Forbidden' | 'InternalError') => new StatusError(code, reason, 'no')

/** Waits with sources whose answers follow one another; the last one is repeated. */
async function wait(nodes: readonly Node[], answers: readonly (VolumeAttachment | StatusError)[]) {
  const clock = new VirtualClock()
  const take = <T>(list: readonly T[]) => {
    let at = 0
    return () => list[Math.min(at++, list.length - 1)] as T
  }
  const nextNode = take(nodes)
  const nextAnswer = take(answers)
  const sources = {
    uncachedNode: () => Promise.resolve(nextNode()),
    volumeAttachment: () => {
      const answer = nextAnswer()
      return answer instanceof StatusError ? Promise.reject(answer) : Promise.resolve(answer)
    },
  }
  const result = waitForAttachment({ sources, clock }, volume, 'csi-1', ctx)
  result.catch(() => {})
  await clock.advance('10s')
  return result
}

const notYet = { status: {} } as Node

test('a kubelet waits while it may not read the attachment, because that does not exist yet', async () => {
  const found = await wait([notYet, notYet, attached], [denied(403, 'Forbidden'), denied(403, 'Forbidden'), attachment])
  deepEqual(found, { lun: '1' })
})

test('other errors of the API end the wait', async () => {
  await rejects(wait([notYet], [denied(500, 'InternalError')]), /no/)
})

test('a driver that cannot attach more volumes ends the wait', async () => {
  const exhausted = { status: { attached: false, attachError: { errorCode: 8 } } } as unknown as VolumeAttachment
  await rejects(wait([notYet], [exhausted]), /Node has reached its volume attachment limit/)
})
