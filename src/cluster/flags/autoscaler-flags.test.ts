import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { autoscalerDefaults } from '../../controllers/horizontal-pod-autoscaler/autoscaler-state.ts'
import { autoscalerSettingsOf, type AutoscalerFlagValues } from './autoscaler-flags.ts'

test('without flags the autoscaler has its defaults', () => {
  deepEqual(autoscalerSettingsOf({}), autoscalerDefaults)
})

test('each flag sets one value', () => {
  deepEqual(
    autoscalerSettingsOf({
      'horizontal-pod-autoscaler-sync-period': '1s',
      'horizontal-pod-autoscaler-downscale-stabilization': '2m',
      'horizontal-pod-autoscaler-cpu-initialization-period': '0s',
      'horizontal-pod-autoscaler-initial-readiness-delay': '1m30s',
      'horizontal-pod-autoscaler-tolerance': '0.05',
    }),
    {
      syncMs: 1_000,
      downscaleStabilizationMs: 120_000,
      cpuInitializationMs: 0,
      initialReadinessDelayMs: 90_000,
      tolerance: 0.05,
    },
  )
})

const invalid: readonly [flags: AutoscalerFlagValues, message: string][] = [
  [
    { 'horizontal-pod-autoscaler-initial-readiness-delay': 'bad' },
    'invalid argument "bad" for "--horizontal-pod-autoscaler-initial-readiness-delay" flag: time: invalid duration "bad"',
  ],
  [
    { 'horizontal-pod-autoscaler-tolerance': 'x' },
    'invalid argument "x" for "--horizontal-pod-autoscaler-tolerance" flag: strconv.ParseFloat: parsing "x": invalid syntax',
  ],
  [{ 'horizontal-pod-autoscaler-sync-period': '0s' }, '--horizontal-pod-autoscaler-sync-period must be greater than 0'],
]

for (const [flags, message] of invalid)
  test(`an invalid value is rejected: ${message}`, () => {
    throws(() => autoscalerSettingsOf(flags), { message })
  })
