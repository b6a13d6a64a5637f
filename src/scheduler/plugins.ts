// Every scheduler plugin, in the order in which they are asked.
import type { SchedulerPlugin } from './framework.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { imageLocality } from './plugins/image-locality.ts'
import { interPodAffinity } from './plugins/inter-pod-affinity.ts'
import { nodeAffinity } from './plugins/node-affinity.ts'
import { nodeName } from './plugins/node-name.ts'
import { nodePorts } from './plugins/node-ports.ts'
import { nodeResourcesBalancedAllocation } from './plugins/node-resources-balanced-allocation.ts'
import { nodeResourcesFit } from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { podTopologySpread } from './plugins/pod-topology-spread.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { schedulingGates } from './plugins/scheduling-gates.ts'
import { taintToleration } from './plugins/taint-toleration.ts'

export const schedulerPlugins: readonly SchedulerPlugin[] = [
  schedulingGates,
  prioritySort,
  nodeUnschedulable,
  nodeName,
  taintToleration,
  nodeAffinity,
  nodePorts,
  nodeResourcesFit,
  podTopologySpread,
  interPodAffinity,
  nodeResourcesBalancedAllocation,
  imageLocality,
  defaultBinder,
]
