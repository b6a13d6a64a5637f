// simulatedStats: what the runtime measures of a simulated container.
import type { RuntimeStats } from './container-runtime.ts'
import type { SimulatedContainer } from './simulated-container.ts'
import { usageAt, usageFromAnnotations, type MeasuredContainer, type UsageOverTime } from './simulated-usage.ts'

/** `usage` overrides the annotation of the pod, which overrides the usage of the image. */
export function simulatedStats(
  container: SimulatedContainer,
  usage: UsageOverTime | undefined,
  nowMs: number,
): RuntimeStats {
  const { id, config, sandbox, startedMs, behaviour } = container
  const { name, image } = config
  const { namespace, name: pod, annotations, podUid } = sandbox.config
  const measured: MeasuredContainer = { namespace, pod, name, image, runningMs: nowMs - startedMs, nowMs }
  const {
    cpuMillis = 0,
    memoryBytes = 0,
    layerBytes = 0,
  } = {
    ...usageAt(behaviour.usage, measured),
    ...usageFromAnnotations(annotations, measured),
    ...usageAt(usage, measured),
  }
  return {
    containerId: id,
    podUid,
    name,
    usage: {
      cpuNanos: container.useCpu(cpuMillis, nowMs),
      memoryBytes,
      workingSetBytes: memoryBytes,
      rssBytes: memoryBytes,
      pageFaults: 0,
      majorPageFaults: 0,
      swapBytes: 0,
    },
    layer: { bytes: layerBytes, inodes: 0 },
  }
}
