// The Ingress and Gateway proxy as a component.
import { ingressMetrics } from '../../ingress/data-plane/ingress-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { apiServerUser, ingressUser } from '../client/component-users.ts'
import type { IngressChoices } from '../flags/ingress-flags.ts'
import { startIngress } from '../node/start-ingress.ts'
import { Component } from './component.ts'
import type { ComponentContext } from './component-context.ts'

/** `hostIp` is in the status of Ingresses if the proxy listens on all addresses. */
export function ingressComponent(
  cluster: ComponentContext,
  { mode: _, ...choices }: IngressChoices,
  hostIp?: string,
): Component {
  const { options, flow } = cluster
  const { clock, log } = options
  const random = options.random.fork('ingress')
  const address = choices.host === '0.0.0.0' || choices.host === '::' ? hostIp : choices.host
  const settings = { ...choices, addresses: address === undefined ? [] : [{ ip: address }] }
  const metrics = ingressMetrics(cluster.metrics)
  return new Component('ingress', options, (tasks) =>
    tasks.start('ingress', async () => {
      const publisher = cluster.client('apiserver', apiServerUser)
      const client = cluster.client('ingress', ingressUser)
      const deps = { client, publisher, clock, random, log, flow, metrics }
      const gateways = options.hasGatewayApi === true ? {} : undefined
      await startIngress({ ...deps, platform: nodePlatform, settings, gateways }, tasks)
    }),
  )
}
