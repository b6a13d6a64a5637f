import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { nodePlatform } from '../../platform/node/platform.ts'
import { readAdmissionSettings } from './admission-settings.ts'

const { files } = nodePlatform

test('for how long pods stay on nodes that are not ready is that of the flags', async () => {
  deepEqual((await readAdmissionSettings({}, files)).tolerationSeconds, { notReady: 300, unreachable: 300 })
  const flags = { 'default-not-ready-toleration-seconds': '20', 'default-unreachable-toleration-seconds': '0' }
  deepEqual((await readAdmissionSettings(flags, files)).tolerationSeconds, { notReady: 20, unreachable: 0 })
  await rejects(readAdmissionSettings({ 'default-unreachable-toleration-seconds': '-1' }, files), {
    message: '--default-unreachable-toleration-seconds "-1" is not an integer of at least 0',
  })
})
