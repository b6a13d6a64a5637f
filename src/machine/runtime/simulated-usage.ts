// Usage of simulated containers over time: from a function, an annotation of their pod, or their image.
import { durationMs } from '../../base/time/clock.ts'
import { quantityMillis, quantityUnits } from '../../schema/scalar/quantity.ts'

export interface SimulatedUsage {
  readonly cpuMillis?: number
  readonly memoryBytes?: number
  readonly layerBytes?: number
}

/** A running container whose usage is measured. */
export interface MeasuredContainer {
  readonly namespace: string
  readonly pod: string
  readonly name: string
  readonly image: string
  /** How long it has been running. */
  readonly runningMs: number
  /** The time of the cluster. */
  readonly nowMs: number
}

/** A constant usage, or one that depends on the time. */
export type UsageOverTime = SimulatedUsage | ((container: MeasuredContainer) => SimulatedUsage)

export const usageAt = (usage: UsageOverTime | undefined, container: MeasuredContainer): SimulatedUsage =>
  typeof usage === 'function' ? usage(container) : (usage ?? {})

/** The usage of each container of the pod, or of one with the suffix `.<container>`. */
const usageAnnotation = 'coxswain.dev/usage'

/**
 * `cpu=100m,memory=64Mi` is constant. Steps begin so long after the container has started, and what they leave out stays:
 * `cpu=100m,memory=64Mi; 1m: cpu=400m; 5m: cpu=50m`.
 */
export function usageFromAnnotations(
  annotations: Readonly<Record<string, string>>,
  { name, runningMs }: Pick<MeasuredContainer, 'name' | 'runningMs'>,
): SimulatedUsage {
  const text = annotations[`${usageAnnotation}.${name}`] ?? annotations[usageAnnotation]
  if (text === undefined) return {}
  let usage: SimulatedUsage = {}
  for (const { fromMs, change } of stepsOf(text)) if (fromMs <= runningMs) usage = { ...usage, ...change }
  return usage
}

interface UsageStep {
  readonly fromMs: number
  readonly change: SimulatedUsage
}

/** Parsed texts; a simulation has few different ones. A full cache is emptied. */
const parsedMax = 1_024
const parsed = new Map<string, readonly UsageStep[]>()

function stepsOf(text: string): readonly UsageStep[] {
  const known = parsed.get(text)
  if (known !== undefined) return known
  const steps = text.split(';').map((part): UsageStep => {
    const colon = part.indexOf(':')
    return {
      fromMs: colon < 0 ? 0 : durationMs(part.slice(0, colon).trim()),
      change: amountsOf(part.slice(colon + 1).trim()),
    }
  })
  if (parsed.size >= parsedMax) parsed.clear()
  parsed.set(text, steps)
  return steps
}

function amountsOf(text: string): SimulatedUsage {
  const amounts = new Map(text.split(',').map((part) => part.split('=').map((word) => word.trim()) as [string, string]))
  return {
    ...(amounts.has('cpu') ? { cpuMillis: quantityMillis(amounts.get('cpu')) } : {}),
    ...(amounts.has('memory') ? { memoryBytes: quantityUnits(amounts.get('memory')) } : {}),
    ...(amounts.has('ephemeral-storage') ? { layerBytes: quantityUnits(amounts.get('ephemeral-storage')) } : {}),
  }
}
