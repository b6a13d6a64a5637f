import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { defaultKubeletSettings } from './kubelet-settings.ts'

test('the default eviction thresholds are upstream’s', () => {
  deepEqual(
    defaultKubeletSettings.thresholds.map(({ signal, below, graceMs }) => `${signal}<${below.text} after ${graceMs}`),
    [
      'memory.available<100Mi after 0',
      'nodefs.available<10% after 0',
      'nodefs.inodesFree<5% after 0',
      'imagefs.available<15% after 0',
      'imagefs.inodesFree<5% after 0',
    ],
  )
})
