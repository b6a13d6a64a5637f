import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { context } from '../../../base/observability/context.ts'
import { TreeTooDeep, type Disk } from '../../../machine/disk/disk.ts'
import type { PodVolume } from '../contract/volume-type.ts'
import { applyFsGroup } from './fs-group.ts'

const ctx = context(new AbortController().signal)
const workOf = (securityContext: object) =>
  ({ pod: { spec: { securityContext } }, volume: { name: 'data' } }) as unknown as PodVolume

const rows: readonly (readonly [
  what: string,
  securityContext: object,
  hasGroup: boolean,
  changed: readonly number[],
])[] = [
  ['without fsGroup nothing is changed', {}, false, []],
  ['the files get the group', { fsGroup: 7 }, true, [7]],
  ['a root with the right group is enough', { fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' }, true, []],
  ['a root with another group is not', { fsGroup: 7, fsGroupChangePolicy: 'OnRootMismatch' }, false, [7]],
]
for (const [what, securityContext, hasGroup, expected] of rows)
  test(what, async () => {
    const changed: number[] = []
    const changeGroup = async (_: string, group: number) => void changed.push(group)
    const disk = { hasGroup: async () => hasGroup, changeGroup } as unknown as Disk
    await applyFsGroup('/volume', workOf(securityContext), disk, ctx)
    deepEqual(changed, expected)
  })

test('a tree that is too deep is a failure of the volume', async () => {
  const disk = { changeGroup: () => Promise.reject(new TreeTooDeep('/volume is too deep')) } as unknown as Disk
  await rejects(applyFsGroup('/volume', workOf({ fsGroup: 7 }), disk, ctx), /applyFSGroup failed for vol data: /)
})
