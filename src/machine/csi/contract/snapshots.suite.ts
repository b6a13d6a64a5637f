// The contract of a CSI driver about snapshots and clones.
import { deepEqual, equal, rejects } from 'node:assert/strict'
import { controllerService } from '../methods.ts'
import { MiB, release, signal, use, volumeOn, withCode, type Check } from './driver-under-test.harness.ts'

export function snapshotContract(check: Check): void {
  check('a snapshot and a clone have the data of their source', async (under) => {
    const { driver } = under
    const source = volumeOn(under, 'source')
    await source.create()
    await use(source)
    await under.write(source.targetPath, 'file', 'old')
    const snapshotOf = (sourceVolumeId: string) =>
      driver.call(controllerService.createSnapshot, { name: 'snap', sourceVolumeId }, signal)
    const { snapshot } = await snapshotOf('source')
    deepEqual([snapshot?.snapshotId, snapshot?.sizeBytes, snapshot?.readyToUse], ['snap', 4 * MiB, true])
    deepEqual((await snapshotOf('source')).snapshot, snapshot)
    await rejects(snapshotOf('other'), withCode('ALREADY_EXISTS'))
    await under.write(source.targetPath, 'file', 'new')
    const restored = volumeOn(under, 'restored')
    await restored.create({ volumeContentSource: { snapshot: { snapshotId: 'snap' } } })
    const clone = volumeOn(under, 'clone')
    await clone.create({ volumeContentSource: { volume: { volumeId: 'source' } } })
    await rejects(
      volumeOn(under, 'small').create({
        capacityRange: { requiredBytes: 2 * MiB },
        volumeContentSource: { snapshot: { snapshotId: 'snap' } },
      }),
      withCode('OUT_OF_RANGE'),
    )
    for (const [volume, text] of [
      [restored, 'old'],
      [clone, 'new'],
    ] as const) {
      await use(volume)
      equal(await under.read(volume.targetPath, 'file'), text)
      await release(volume)
    }
    const list = async (filter: object) => {
      const { entries } = await driver.call(controllerService.listSnapshots, filter, signal)
      return entries.length
    }
    deepEqual([await list({}), await list({ snapshotId: 'x' }), await list({ sourceVolumeId: 'source' })], [1, 0, 1])
    for (const _ of [1, 2]) await driver.call(controllerService.deleteSnapshot, { snapshotId: 'snap' }, signal)
    equal(await list({}), 0)
    await rejects(
      volumeOn(under, 'late').create({ volumeContentSource: { snapshot: { snapshotId: 'snap' } } }),
      withCode('NOT_FOUND'),
    )
    await release(source)
  })

  check('a filesystem in a file is copied by a snapshot while it is in use', async (under) => {
    const parameters = { backing: 'file' }
    const source = volumeOn(under, 'source')
    await source.create({ parameters })
    await use(source)
    await under.write(source.targetPath, 'file', 'text')
    await under.driver.call(controllerService.createSnapshot, { name: 'snap', sourceVolumeId: 'source' }, signal)
    const restored = volumeOn(under, 'restored')
    await restored.create({ parameters, volumeContentSource: { snapshot: { snapshotId: 'snap' } } })
    await use(restored)
    equal(await under.read(restored.targetPath, 'file'), 'text')
    for (const volume of [source, restored]) await release(volume)
  })
}
