// All scheduler plugins, in the order in which they run.
import type { SchedulerPlugin } from './framework/framework.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { defaultPreemption } from './plugins/default-preemption.ts'
import { dynamicResources } from './plugins/devices/dynamic-resources.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { interPodAffinity } from './plugins/affinity/inter-pod-affinity.ts'
import { nodeAffinity } from './plugins/node-affinity.ts'
import { nodeName } from './plugins/node-name.ts'
import { nodePorts } from './plugins/node-ports.ts'
import { nodeResourcesBalancedAllocation } from './plugins/node-resources-balanced-allocation.ts'
import { nodeResourcesFit } from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { nodeVolumeLimits } from './plugins/volumes/node-volume-limits.ts'
import { podTopologySpread } from './plugins/spread/pod-topology-spread.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { schedulingGates } from './plugins/scheduling-gates.ts'
import { taintToleration } from './plugins/taint-toleration.ts'
import { volumeBinding } from './plugins/volumes/volume-binding.ts'
import { volumeRestrictions } from './plugins/volumes/volume-restrictions.ts'
import { volumeZone } from './plugins/volumes/volume-zone.ts'

export const schedulerPlugins: readonly SchedulerPlugin[] = [
  schedulingGates,
  prioritySort,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  volumeRestrictions,
  nodeVolumeLimits,
  volumeBinding,
  volumeZone,
  podTopologySpread,
  interPodAffinity,
  dynamicResources,
  defaultPreemption,
  nodeResourcesBalancedAllocation,
  imageLocality,
  defaultBinder,
]
