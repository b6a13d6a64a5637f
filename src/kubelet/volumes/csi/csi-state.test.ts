import { deepEqual } from 'node:assert/strict'
import { test } from 'node:test'
import { CsiState, type Staged } from './csi-state.ts'

const staged: Staged = {
  driver: 'd',
  handle: 'h',
  specName: 'pv',
  isBlock: false,
  staging: '/s',
  stagingData: '/s.json',
  isCertain: false,
  needsAttachment: undefined,
}

function observed() {
  const state = new CsiState()
  const reports: (readonly string[] | undefined)[] = []
  state.onChange(() => reports.push(state.volumesInUse))
  return { state, reports }
}

test('volumes in use are not reported before those of an earlier kubelet are known', () => {
  const { state, reports } = observed()
  state.addUser('kubernetes.io/csi/d^other', 'uid', true)
  deepEqual([state.volumesInUse, reports], [undefined, []])
  state.reconstructed([staged], [])
  deepEqual(reports, [['kubernetes.io/csi/d^h', 'kubernetes.io/csi/d^other']])
})

test('that no volume is in use is reported, because an earlier kubelet may have reported one', () => {
  const { state, reports } = observed()
  state.reconstructed([], [])
  deepEqual(reports, [[]])
  state.removeUser('uid')
  state.deleteStaged('kubernetes.io/csi/d^h')
  deepEqual(reports, [[]], 'no change, no report')
})
