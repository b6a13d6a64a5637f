// The matrix of volumes with the driver process and real mounts: filesystems in image files and block volumes are on loop
// devices, volumes that several nodes share are folders. Without loop devices there are only folders.
import { deepEqual, equal } from 'node:assert/strict'
import { test } from 'node:test'
import { inNamespaces } from '../containers/namespaces.ts'
import { attachedImages } from './loop-devices.ts'
import { mountedStorage } from './mounted-storage.ts'
import { testMatrix } from './volume-matrix.ts'

inNamespaces(import.meta.url, () => {
  test('volumes of all kinds, mounted', async (t) => {
    await using storage = await mountedStorage({ nodes: 3 })
    const checked = await testMatrix(t, storage)
    equal(checked, storage.hasBlock ? 224 : 112)
    deepEqual(await attachedImages(storage.driver.folder), [])
  })
})
