// Usage of simulated containers, from an annotation of their pod.
import { quantityMillis, quantityUnits } from '../../schema/scalar/quantity.ts'

export interface SimulatedUsage {
  readonly cpuMillis?: number
  readonly memoryBytes?: number
  readonly layerBytes?: number
}

/** The usage of each container of the pod: `cpu=100m,memory=64Mi`. */
const usageAnnotation = 'coxswain.dev/usage'

export function usageFromAnnotations(annotations: Readonly<Record<string, string>>): SimulatedUsage {
  const parts = new Map(
    (annotations[usageAnnotation] ?? '').split(',').map((part) => part.split('=') as [string, string]),
  )
  return {
    cpuMillis: quantityMillis(parts.get('cpu')),
    memoryBytes: quantityUnits(parts.get('memory')),
    layerBytes: quantityUnits(parts.get('ephemeral-storage')),
  }
}
