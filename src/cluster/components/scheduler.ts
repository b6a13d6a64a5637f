// The scheduler as a component.
import { Informers } from '../../client/informer/informers.ts'
import { nodeOutbound } from '../../platform/node/http/outbound.ts'
import type { DecisionRecord } from '../../scheduler/cycle/decision-record.ts'
import { extenderOf } from '../../scheduler/framework/extender.ts'
import { schedulerMetrics } from '../../scheduler/framework/scheduler-metrics.ts'
import { schedulerPlugins } from '../../scheduler/plugins.ts'
import { Scheduler } from '../../scheduler/scheduler.ts'
import { schedulerUser } from '../client/component-users.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'

export function schedulerComponent(cluster: ComponentContext, decisions: DecisionRecord): Component {
  const { options, flow } = cluster
  const { clock, log, schedulerConfiguration: configuration = {} } = options
  const metrics = schedulerMetrics(cluster.metrics)
  const random = options.random.fork('scheduler')
  return new Component('scheduler', options, (tasks) => {
    const client = cluster.client('scheduler', schedulerUser)
    const informers = new Informers(client, { clock, random, log }, tasks)
    const extenders = (configuration.extenders ?? []).map((extender) => extenderOf(extender, nodeOutbound, clock))
    const deps = {
      ...{ client, informers, clock, random, log, flow, metrics },
      ...{ plugins: schedulerPlugins, configuration, decisions, extenders },
    }
    new Scheduler(deps, tasks).start()
  })
}
