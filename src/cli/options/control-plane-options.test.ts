import { deepEqual, rejects } from 'node:assert/strict'
import { test } from 'node:test'
import { controlPlaneChoicesOf } from './control-plane-options.ts'

test('without flags, no further kinds are installed, and the scheduler has its own configuration', async () => {
  const { hasGatewayApi, hasVolumeSnapshots, schedulerConfiguration } = await controlPlaneChoicesOf({})
  deepEqual([hasGatewayApi, hasVolumeSnapshots, schedulerConfiguration], [false, false, {}])
})

test('flags are passed on', async () => {
  const options = { 'gateway-api': true, 'volume-snapshots': true, 'cluster-signing-duration': '1h' }
  const { hasGatewayApi, hasVolumeSnapshots, signingDuration } = await controlPlaneChoicesOf(options)
  deepEqual([hasGatewayApi, hasVolumeSnapshots, signingDuration], [true, true, '1h'])
})

test('a configuration of the scheduler that cannot be read is named', () =>
  rejects(controlPlaneChoicesOf({ 'scheduler-config': '/none' }), /^UsageError: --scheduler-config \/none: ENOENT/))
