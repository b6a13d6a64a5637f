// The flags of the horizontal pod autoscaler, with upstream's names, defaults and errors.
import { durationMs } from '../../apiserver/config/config-reader.ts'
import type { AutoscalerSettings } from '../../controllers/runtime/controller-settings.ts'

export const autoscalerFlags = {
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

type FlagName = keyof typeof autoscalerFlags
export type AutoscalerFlagValues = Readonly<Partial<Record<FlagName, string>>>

/** Parses the flags. Throws on an invalid value. */
export function autoscalerSettingsOf(flags: AutoscalerFlagValues): AutoscalerSettings {
  const syncMs = periodOf(flags, 'horizontal-pod-autoscaler-sync-period', '15s')
  // Upstream accepts 0 and then evaluates without a pause.
  if (syncMs === 0) throw new Error('--horizontal-pod-autoscaler-sync-period must be greater than 0')
  return {
    syncMs,
    downscaleStabilizationMs: periodOf(flags, 'horizontal-pod-autoscaler-downscale-stabilization', '5m'),
    cpuInitializationMs: periodOf(flags, 'horizontal-pod-autoscaler-cpu-initialization-period', '5m'),
    initialReadinessDelayMs: periodOf(flags, 'horizontal-pod-autoscaler-initial-readiness-delay', '30s'),
    tolerance: toleranceOf(flags),
  }
}

function periodOf(flags: AutoscalerFlagValues, name: FlagName, otherwise: string): number {
  const { [name]: text = otherwise } = flags
  const ms = durationMs(text)
  if (ms === undefined) throw invalidArgument(name, text, `time: invalid duration ${JSON.stringify(text)}`)
  return ms
}

function toleranceOf({ 'horizontal-pod-autoscaler-tolerance': text = '0.1' }: AutoscalerFlagValues): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value))
    throw invalidArgument(
      'horizontal-pod-autoscaler-tolerance',
      text,
      `strconv.ParseFloat: parsing ${JSON.stringify(text)}: invalid syntax`,
    )
  return value
}

const invalidArgument = (name: FlagName, text: string, why: string): Error =>
  new Error(`invalid argument ${JSON.stringify(text)} for "--${name}" flag: ${why}`)
