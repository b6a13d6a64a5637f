// The flags of single controllers, with upstream's names, defaults and errors.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import { nodeLifecycleDefaults } from '../../controllers/node-lifecycle/zone-disruption.ts'
import { finishedPodsMaxDefault } from '../../controllers/pod-garbage-collector.ts'
import type {
  AutoscalerSettings,
  ControllerSettings,
  NodeLifecycleSettings,
} from '../../controllers/runtime/controller-settings.ts'

const autoscalerFlags = {
  'horizontal-pod-autoscaler-sync-period': {
    type: 'string',
    value: '<time>',
    help: 'how often each autoscaler is evaluated (15s)',
  },
  'horizontal-pod-autoscaler-downscale-stabilization': {
    type: 'string',
    value: '<time>',
    help: 'replicas are not reduced below a recommendation of this time (5m0s)',
  },
  'horizontal-pod-autoscaler-cpu-initialization-period': {
    type: 'string',
    value: '<time>',
    help: 'how long after the start of a pod its CPU usage may be ignored (5m0s)',
  },
  'horizontal-pod-autoscaler-initial-readiness-delay': {
    type: 'string',
    value: '<time>',
    help: 'how long after the start of a pod a change of readiness is its first (30s)',
  },
  'horizontal-pod-autoscaler-tolerance': {
    type: 'string',
    value: '<number>',
    help: 'by how much usage and target may differ without a change (0.1)',
  },
} as const

const nodeFlags = {
  'node-monitor-grace-period': {
    type: 'string',
    value: '<time>',
    help: 'how long a node may not report until its conditions are Unknown (50s)',
  },
  'node-startup-grace-period': {
    type: 'string',
    value: '<time>',
    help: 'the same for a node that has never reported (1m0s)',
  },
  'node-eviction-rate': {
    type: 'string',
    value: '<number>',
    help: 'nodes per second of a zone whose pods are evicted when the nodes are not ready (0.1)',
  },
  'secondary-node-eviction-rate': {
    type: 'string',
    value: '<number>',
    help: 'the same while much of a large zone is not ready (0.01)',
  },
  'large-cluster-size-threshold': {
    type: 'string',
    value: '<n>',
    help: 'zones with more nodes are large; in smaller ones, evictions stop while much of them is not ready (50)',
  },
  'unhealthy-zone-threshold': {
    type: 'string',
    value: '<number>',
    help: 'the share of nodes that are not ready from which that is the case (0.55)',
  },
} as const

const podFlags = {
  'terminated-pod-gc-threshold': {
    type: 'string',
    value: '<n>',
    help: `of more finished pods the oldest are deleted; 0: none is (${finishedPodsMaxDefault})`,
  },
} as const

export const controllerFlags = { ...autoscalerFlags, ...nodeFlags, ...podFlags }

type FlagName = keyof typeof controllerFlags
export type ControllerFlagValues = Readonly<Partial<Record<FlagName, string>>>

export type ControllerFlagSettings = Required<
  Pick<ControllerSettings, 'horizontalPodAutoscaler' | 'nodeLifecycle' | 'finishedPodsMax'>
>

/** Parses the flags. Throws on an invalid value. */
export const controllerSettingsOf = (flags: ControllerFlagValues): ControllerFlagSettings => ({
  horizontalPodAutoscaler: autoscalerSettingsOf(flags),
  nodeLifecycle: nodeLifecycleSettingsOf(flags),
  finishedPodsMax: Math.max(0, integerOf(flags, 'terminated-pod-gc-threshold', finishedPodsMaxDefault)),
})

function nodeLifecycleSettingsOf(flags: ControllerFlagValues): NodeLifecycleSettings {
  const { evictionRate, disruptedEvictionRate, largeZoneNodes, disruptedShare } = nodeLifecycleDefaults
  return {
    graceMs: positivePeriodOf(flags, 'node-monitor-grace-period', '50s'),
    startupGraceMs: positivePeriodOf(flags, 'node-startup-grace-period', '1m'),
    evictionRate: rateOf(flags, 'node-eviction-rate', evictionRate),
    disruptedEvictionRate: rateOf(flags, 'secondary-node-eviction-rate', disruptedEvictionRate),
    largeZoneNodes: integerOf(flags, 'large-cluster-size-threshold', largeZoneNodes),
    disruptedShare: rateOf(flags, 'unhealthy-zone-threshold', disruptedShare),
  }
}

function autoscalerSettingsOf(flags: ControllerFlagValues): AutoscalerSettings {
  return {
    // Upstream accepts 0 and then evaluates without a pause.
    syncMs: positivePeriodOf(flags, 'horizontal-pod-autoscaler-sync-period', '15s'),
    downscaleStabilizationMs: periodOf(flags, 'horizontal-pod-autoscaler-downscale-stabilization', '5m'),
    cpuInitializationMs: periodOf(flags, 'horizontal-pod-autoscaler-cpu-initialization-period', '5m'),
    initialReadinessDelayMs: periodOf(flags, 'horizontal-pod-autoscaler-initial-readiness-delay', '30s'),
    tolerance: numberOf(flags, 'horizontal-pod-autoscaler-tolerance', 0.1),
  }
}

function periodOf(flags: ControllerFlagValues, name: FlagName, otherwise: string): number {
  const { [name]: text = otherwise } = flags
  const ms = durationMs(text)
  if (ms === undefined) throw invalidArgument(name, text, `time: invalid duration ${JSON.stringify(text)}`)
  return ms
}

function positivePeriodOf(flags: ControllerFlagValues, name: FlagName, otherwise: string): number {
  const ms = periodOf(flags, name, otherwise)
  if (ms === 0) throw new Error(`--${name} must be greater than 0`)
  return ms
}

function numberOf(flags: ControllerFlagValues, name: FlagName, otherwise: number): number {
  const { [name]: text = String(otherwise) } = flags
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value))
    throw invalidArgument(name, text, `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`)
  return value
}

function rateOf(flags: ControllerFlagValues, name: FlagName, otherwise: number): number {
  const value = numberOf(flags, name, otherwise)
  if (value < 0) throw new Error(`--${name} must not be negative`)
  return value
}

function integerOf(flags: ControllerFlagValues, name: FlagName, otherwise: number): number {
  const { [name]: text = String(otherwise) } = flags
  if (!/^[+-]?\d{1,9}$/.test(text))
    throw invalidArgument(name, text, `strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`)
  return Number(text)
}

const invalidArgument = (name: FlagName, text: string, why: string): Error =>
  new Error(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: ${why}`)
