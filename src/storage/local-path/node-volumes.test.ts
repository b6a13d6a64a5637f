import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { SimulatedDisk } from '../../machine/disk/simulated-disk.ts'
import { SimulatedQuotas } from '../../machine/quotas/simulated-quotas.ts'
import { NodeVolumes } from './node-volumes.ts'

const directory = '/data/node/local-path'
const newVolumes = (isVolatile: boolean) => {
  const disk = new SimulatedDisk()
  return { disk, volumes: new NodeVolumes({ directory, disk, quotas: new SimulatedQuotas(disk), isVolatile }) }
}

test('the directory of all volumes can be entered by its owner only, so each volume is writable for all users', async () => {
  const { disk, volumes } = newVolumes(false)
  await volumes.make('pvc-a')
  await volumes.make('pvc-a')
  const modes = [directory, volumes.pathOf('pvc-a')].map((path) => disk.nodeAt(path)?.mode)
  deepEqual(modes, [0o700, 0o777])
})

test('empty directories without a volume are removed; those with files are kept', async () => {
  const { disk, volumes } = newVolumes(false)
  for (const name of ['pvc-used', 'pvc-empty', 'pvc-filled']) await volumes.make(name)
  await disk.write(`${volumes.pathOf('pvc-filled')}/x`, { content: new Uint8Array(), mode: 0o644 })
  await volumes.removeUnused((name) => name === 'pvc-used')
  deepEqual(await disk.list(directory), ['pvc-used', 'pvc-filled'])
})

test('lost directories are created again only where they are in memory', async () => {
  for (const isVolatile of [true, false]) {
    const { disk, volumes } = newVolumes(isVolatile)
    await volumes.restore('pvc-a')
    equal(await disk.kindOf(volumes.pathOf('pvc-a')), isVolatile ? 'directory' : undefined)
  }
})
