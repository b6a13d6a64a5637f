import { deepEqual, throws } from 'node:assert/strict'
import { test } from 'node:test'
import { autoscalerDefaults } from '../../controllers/horizontal-pod-autoscaler/autoscaler-state.ts'
import { nodeLifecycleDefaults } from '../../controllers/node-lifecycle/zone-disruption.ts'
import { controllerSettingsOf, type ControllerFlagValues } from './controller-flags.ts'

test('without flags controllers have their defaults', () => {
  deepEqual(controllerSettingsOf({}), {
    horizontalPodAutoscaler: autoscalerDefaults,
    nodeLifecycle: nodeLifecycleDefaults,
    finishedPodsMax: 12_500,
  })
})

test('each flag sets one value', () => {
  deepEqual(
    controllerSettingsOf({
      'horizontal-pod-autoscaler-sync-period': '1s',
      'horizontal-pod-autoscaler-downscale-stabilization': '2m',
      'horizontal-pod-autoscaler-cpu-initialization-period': '0s',
      'horizontal-pod-autoscaler-initial-readiness-delay': '1m30s',
      'horizontal-pod-autoscaler-tolerance': '0.05',
      'node-monitor-grace-period': '8s',
      'node-startup-grace-period': '20s',
      'node-eviction-rate': '1',
      'secondary-node-eviction-rate': '0',
      'large-cluster-size-threshold': '3',
      'unhealthy-zone-threshold': '0.9',
      'terminated-pod-gc-threshold': '10',
    }),
    {
      horizontalPodAutoscaler: {
        syncMs: 1_000,
        downscaleStabilizationMs: 120_000,
        cpuInitializationMs: 0,
        initialReadinessDelayMs: 90_000,
        tolerance: 0.05,
      },
      nodeLifecycle: {
        graceMs: 8_000,
        startupGraceMs: 20_000,
        evictionRate: 1,
        disruptedEvictionRate: 0,
        largeZoneNodes: 3,
        disruptedShare: 0.9,
      },
      finishedPodsMax: 10,
    },
  )
})

const invalid: readonly [flags: ControllerFlagValues, message: string][] = [
  [
    { 'horizontal-pod-autoscaler-initial-readiness-delay': 'bad' },
    'invalid argument "bad" for "--horizontal-pod-autoscaler-initial-readiness-delay" flag: time: invalid duration "bad"',
  ],
  [
    { 'horizontal-pod-autoscaler-tolerance': 'x' },
    'invalid argument "x" for "--horizontal-pod-autoscaler-tolerance" flag: strconv.ParseFloat: parsing "x": invalid syntax',
  ],
  [{ 'horizontal-pod-autoscaler-sync-period': '0s' }, '--horizontal-pod-autoscaler-sync-period must be greater than 0'],
  [{ 'node-monitor-grace-period': '0s' }, '--node-monitor-grace-period must be greater than 0'],
  [{ 'node-eviction-rate': '-1' }, '--node-eviction-rate must not be negative'],
  [
    { 'terminated-pod-gc-threshold': '1.5' },
    'invalid argument "1.5" for "--terminated-pod-gc-threshold" flag: strconv.ParseInt: parsing "1.5": invalid syntax',
  ],
]

for (const [flags, message] of invalid)
  test(`an invalid value is rejected: ${message}`, () => {
    throws(() => controllerSettingsOf(flags), { message })
  })

test('a negative number of finished pods deletes none, as in upstream', () => {
  deepEqual(controllerSettingsOf({ 'terminated-pod-gc-threshold': '-1' }).finishedPodsMax, 0)
})
