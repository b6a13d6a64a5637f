// The scheduler as a component.
import { pod } from '../../api/core/v1/pod/pod.ts'
import { Informers } from '../../client/informer/informers.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import { extenderOf } from '../../scheduler/framework/extender.ts'
import { podResourceFamilies } from '../../scheduler/framework/pod-resource-metrics.ts'
import type { SchedulerConfiguration } from '../../scheduler/framework/scheduler-configuration.ts'
import { schedulerMetrics } from '../../scheduler/framework/scheduler-metrics.ts'
import { schedulerPlugins } from '../../scheduler/plugins.ts'
import { Scheduler } from '../../scheduler/scheduler.ts'
import { schedulerUser } from '../client/component-users.ts'
import type { ComponentDefinition } from './component-definition.ts'

const name = 'scheduler'

export const schedulerComponent = (
  configuration: SchedulerConfiguration,
  decisions: DecisionRecord,
): ComponentDefinition => ({
  name,
  user: schedulerUser,
  lease: 'kube-scheduler',
  isCoordinated: true,
  prepare(host) {
    const { clock, random, log, flow } = host
    const metrics = schedulerMetrics(host.metrics)
    /** Of the last start. */
    let informers: Informers | undefined
    return {
      start(tasks) {
        const client = host.client(name, schedulerUser)
        const own = new Informers(client, { clock, random, log }, tasks)
        informers = own
        const extenders = (configuration.extenders ?? []).map((extender) => extenderOf(extender, nodeOutbound, clock))
        const deps = {
          client,
          informers: own,
          clock,
          random,
          log,
          flow,
          metrics,
          plugins: schedulerPlugins,
          configuration,
          decisions,
          extenders,
        }
        new Scheduler(deps, tasks).start()
      },
      resources: () => podResourceFamilies(informers?.of(pod).all() ?? []),
    }
  },
})
