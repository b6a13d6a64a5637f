// The Ingress and Gateway proxy as a component.
import type { BalancerTarget } from '../../gateway/attachment/gateway-balancer.ts'
import { ingressMetrics } from '../../ingress/data-plane/ingress-metrics.ts'
import { nodePlatform } from '../../platform/node/platform.ts'
import { apiServerUser, ingressUser } from '../client/component-users.ts'
import type { IngressChoices } from '../flags/ingress-flags.ts'
import { startIngress } from '../node/start-ingress.ts'
import type { ComponentDefinition } from './component-definition.ts'

const name = 'ingress'
/** One process serves Ingresses, because their statuses name its address. */
export const ingressLease = 'coxswain-ingress'

export interface IngressComponentSettings {
  readonly choices: IngressChoices
  readonly hasGateways: boolean
  /** Where load balancers of Gateways lead, if there is a pool of addresses. */
  readonly balancerTarget?: BalancerTarget | undefined
  /** In the status of Ingresses if the proxy listens on all addresses. */
  readonly hostIp?: string
}

export const ingressComponent = ({
  choices: { mode: _, ...choices },
  hasGateways,
  balancerTarget,
  hostIp,
}: IngressComponentSettings): ComponentDefinition => ({
  name,
  user: ingressUser,
  lease: ingressLease,
  prepare(host) {
    const { clock, random, log, flow } = host
    const metrics = ingressMetrics(host.metrics)
    const address = choices.host === '0.0.0.0' || choices.host === '::' ? hostIp : choices.host
    const settings = { ...choices, addresses: address === undefined ? [] : [{ ip: address }] }
    const gateways = hasGateways ? (balancerTarget === undefined ? {} : { balancerTarget }) : undefined
    return {
      start: (tasks) =>
        tasks.start('ingress', async () => {
          const publisher = host.client('apiserver', apiServerUser)
          const deps = { client: host.client(name, ingressUser), publisher, clock, random, log, flow, metrics }
          await startIngress({ ...deps, platform: nodePlatform, settings, gateways }, tasks)
        }),
    }
  },
})
