import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../base/observability/log.ts'
import { VirtualClock } from '../../base/time/virtual-clock.ts'
import { idleLoad } from '../../machine/load/simulated-host-load.ts'
import { ImageGcManager } from './image-gc-manager.ts'

const { signal } = new AbortController()

/** Three images of 10 bytes on a disk of 100, of which `other` bytes are something else. */
function collector(settings: { ageMsMin?: number; ageMsMax?: number } = {}) {
  const clock = new VirtualClock()
  const images = new Map(['a', 'b', 'pause'].map((id) => [id, id === 'pause']))
  const shortages: string[] = []
  const state = { used: new Set<string>(['a', 'b']), shown: [] as string[], otherBytes: 0 }
  const manager = new ImageGcManager({
    runtime: {
      images: () =>
        Promise.resolve(
          [...images].map(([id, isPinned]) => ({
            id,
            tags: [`${id}:1`],
            digests: [],
            sizeBytes: 10,
            uid: 0,
            username: '',
            isPinned,
          })),
        ),
      imagesInUse: () => Promise.resolve(state.used),
      removeImage: (id) => Promise.resolve(void images.delete(id)),
    },
    volumeImages: () => state.shown,
    fileSystem: () => {
      const usedBytes = images.size * 10 + state.otherBytes
      return Promise.resolve({ ...idleLoad.fileSystem, capacityBytes: 100, availableBytes: 100 - usedBytes, usedBytes })
    },
    settings: { highPercent: 85, lowPercent: 80, ageMsMin: 120_000, ageMsMax: 0, ...settings },
    onShortage: (message) => Promise.resolve(void shortages.push(message)),
    clock,
    log: silentLog,
  })
  return {
    clock,
    images,
    reported: shortages,
    state,
    collect: () => manager.collect(signal),
    deleteUnusedImages: () => manager.deleteUnusedImages(signal),
  }
}

test('images are kept while there is space, and images in use in any case', async () => {
  const node = collector()
  node.state.used = new Set()
  await node.collect()
  await node.clock.advance(600_000)
  await node.collect()
  equal(node.images.size, 3)
  node.state.used = new Set(['a'])
  node.state.shown = ['b:1']
  node.state.otherBytes = 70
  await node.collect()
  deepEqual(
    [[...node.images.keys()], node.reported],
    [
      ['a', 'b', 'pause'],
      [
        'Failed to garbage collect required amount of images. Attempted to free 20 bytes, but only found 0 bytes eligible to free.',
      ],
    ],
  )
})

test('a full disk: the least recently used images are removed, and no more than needed', async () => {
  const node = collector()
  await node.collect()
  await node.clock.advance(60_000)
  node.state.used = new Set(['a'])
  await node.collect()
  await node.clock.advance(120_000)
  node.state.used = new Set()
  node.state.otherBytes = 58
  await node.collect()
  deepEqual([...node.images.keys()], ['a', 'pause'])
  deepEqual(node.reported, [])
})

test('young images are kept, except when pods would be evicted otherwise', async () => {
  const node = collector()
  node.state.used = new Set()
  node.state.otherBytes = 60
  await node.collect()
  equal(node.images.size, 3)
  await node.deleteUnusedImages()
  deepEqual([...node.images.keys()], ['pause'])
})

test('an image that exceeds the maximum age is removed even if there is space', async () => {
  const node = collector({ ageMsMax: 3_600_000 })
  await node.collect()
  node.state.used = new Set(['a'])
  await node.clock.advance(3_500_000)
  await node.collect()
  await node.clock.advance(200_000)
  await node.collect()
  deepEqual([...node.images.keys()], ['a', 'pause'])
})
