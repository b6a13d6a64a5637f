// Every scheduler plugin, in the order in which they are asked.
import type { SchedulerPlugin } from './framework.ts'
import { defaultBinder } from './plugins/default-binder.ts'
import { nodeResourcesFit } from './plugins/node-resources-fit.ts'
import { nodeUnschedulable } from './plugins/node-unschedulable.ts'
import { prioritySort } from './plugins/priority-sort.ts'
import { taintToleration } from './plugins/taint-toleration.ts'

export const schedulerPlugins: readonly SchedulerPlugin[] = [
  prioritySort,
  nodeUnschedulable,
  taintToleration,
  nodeResourcesFit,
  defaultBinder,
]
