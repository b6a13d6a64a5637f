// A service proxy in its own process. On request, it enforces network policies as well.
import { realClock } from '../../base/time/clock.ts'
import { NftProgram } from '../../machine/nftables/nft-program.ts'
import type { Nftables } from '../../machine/nftables/nftables.ts'
import { removePolicyRules } from '../../network-policy/policy-agent.ts'
import { nodeProcesses } from '../../platform/node/process/processes.ts'
import { removeServiceRules } from '../../proxy/service-proxy.ts'
import { proxyComponent, type ProxySettings } from '../components/proxy.ts'
import type { ProxyAddresses } from '../node/proxy-ports.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunProxyOptions
  extends
    Omit<ProxySettings, 'name' | 'ports' | 'arePortsOptional' | 'network' | 'healthCheckHost'>,
    ProxyAddresses,
    Pick<ComponentProcessOptions, 'kubeconfig' | 'log'> {}

/** Runs until the signal is aborted. */
export async function runProxy(options: RunProxyOptions, signal: AbortSignal): Promise<void> {
  const { healthz, metricsAt } = options
  const definition = proxyComponent({
    ...options,
    name: 'proxy',
    network: undefined,
    healthCheckHost: '0.0.0.0',
    arePortsOptional: false,
    ports: [{ ...(healthz && { healthz }), ...(metricsAt && { metricsAt }) }],
  })
  await runComponent(definition, options, signal)
}

/** Removes the rules of a proxy that no longer runs; those of network policies only if it enforced them. */
export async function removeProxyRules(
  enforcesPolicies: boolean,
  nftables: Nftables = new NftProgram({ processes: nodeProcesses, clock: realClock }),
): Promise<void> {
  await using _nftables = nftables
  await removeServiceRules(nftables)
  if (enforcesPolicies) await removePolicyRules(nftables)
}
