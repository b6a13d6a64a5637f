// componentIn: hosts a component in the process of its cluster, without sockets. It is restarted after a failure.
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'
import type { ComponentDefinition } from './component-definition.ts'
import { startElected, type Candidate } from './start-elected.ts'

/** With a candidate, it starts when it is elected. */
export function componentIn(
  cluster: ComponentContext,
  definition: ComponentDefinition,
  candidate?: Candidate,
): Component {
  const { options, flow, metrics } = cluster
  const { clock, log } = options
  const random = options.random.fork(definition.name)
  const client = cluster.client.bind(cluster)
  const host = { clock, random, log, flow, metrics, client }
  const prepared = definition.prepare(host)
  return new Component(
    definition.name,
    options,
    (tasks) => void startElected(definition, prepared, host, candidate, tasks),
  )
}
