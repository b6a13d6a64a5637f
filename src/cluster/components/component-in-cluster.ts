// componentIn: hosts a component in the process of its cluster, without sockets. It is restarted after a failure.
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'
import type { ComponentDefinition } from './component-definition.ts'
import { startElected } from './start-elected.ts'

/** With an identity, a component that has a lease starts when it is elected. */
export function componentIn(
  cluster: ComponentContext,
  definition: ComponentDefinition,
  identity = cluster.options.identity,
): Component {
  const { options, flow, metrics, leaderGauge: gauge } = cluster
  const { clock, log } = options
  const random = options.random.fork(definition.name)
  const client = cluster.client.bind(cluster)
  const host = { clock, random, log, flow, metrics, client }
  const prepared = definition.prepare(host)
  const versions = definition.isCoordinated === true ? options.coordinatedElection : undefined
  // A LeaseCandidate has the name of its holder, so several of one process need different ones.
  const ownName = versions === undefined ? '' : `_${definition.name}`
  const candidate = identity === undefined ? undefined : { identity: identity + ownName, gauge, versions }
  return new Component(definition.name, options, (tasks) => startElected(definition, prepared, host, candidate, tasks))
}
