// The matrix of volumes on simulated nodes; mounted-matrix.test.ts runs it with real mounts and loop devices.
import { equal } from 'node:assert/strict'
import { test } from 'node:test'
import { simulatedStorage } from './storage-under-test.ts'
import { testMatrix } from './volume-matrix.ts'

test('volumes of all kinds', async (t) => {
  await using storage = await simulatedStorage({ nodes: 3 })
  equal(await testMatrix(t, storage), 224)
})
