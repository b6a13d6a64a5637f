import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { directoryBeside, VolumeError, type PodVolume } from './volume-type.ts'

const claimed = { directory: '/pods/u/volumes/kubernetes.io~persistent-volume-claim/data' } as PodVolume

test('a volume that is bound to a claim has its directory beside that of the claim', () => {
  equal(directoryBeside(claimed, 'nfs', 'pv-1'), '/pods/u/volumes/kubernetes.io~nfs/pv-1')
})

for (const name of ['..', 'a/b', ''])
  test(`no directory has the name ${JSON.stringify(name)}`, () =>
    throws(() => directoryBeside(claimed, 'nfs', name), VolumeError))
