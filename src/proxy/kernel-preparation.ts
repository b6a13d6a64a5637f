// The settings of the kernel that the service proxy needs. They are those of this machine's network, and remain when the
// proxy stops.
import { errorText, type Log } from '../base/observability/log.ts'
import type { Clock } from '../base/time/clock.ts'
import { filterBridges } from '../machine/kernel-settings/filter-bridges.ts'
import type { KernelSettings } from '../machine/kernel-settings/kernel-settings.ts'

export interface KernelPreparationDeps {
  readonly kernelSettings: KernelSettings
  readonly clock: Clock
  readonly log: Log
  readonly loopbackInterface?: string | undefined
}

/** How long the kernel tracks connections without packets, as with kube-proxy's defaults. */
const timeouts = {
  'net/netfilter/nf_conntrack_tcp_timeout_established': '86400',
  // A server that closes its side first may have a client that reads for long. The kernel's default is one minute.
  'net/netfilter/nf_conntrack_tcp_timeout_close_wait': '3600',
}

/** Responses between two pods of one bridge must pass the rules as well, where the destination is translated back. */
export async function prepareBridges({ kernelSettings, clock, log }: KernelPreparationDeps): Promise<void> {
  for (const setting of await filterBridges(kernelSettings, clock))
    log.warn('pods on one bridge may not reach one another through Services: load the kernel module br_netfilter', {
      setting,
    })
}

/** The settings exist once a rule tracks connections. */
export async function setConnectionTimeouts({ kernelSettings, clock, log }: KernelPreparationDeps): Promise<void> {
  for (const [setting, value] of Object.entries(timeouts))
    if (!(await clock.outside(kernelSettings.set(setting, value).catch(() => false))))
      log.warn('the timeout of tracked connections could not be set', { setting })
}

/**
 * Lets replies from pods return to 127.0.0.1. The interface appears with the first pod. A rule drops what pods send to
 * 127.0.0.1 themselves.
 */
export async function routeLoopback(deps: KernelPreparationDeps): Promise<void> {
  const { loopbackInterface, kernelSettings, clock, log } = deps
  if (loopbackInterface === undefined) return
  try {
    await clock.outside(kernelSettings.set(`net/ipv4/conf/${loopbackInterface}/route_localnet`, '1'))
  } catch (error) {
    log.error('node ports at 127.0.0.1 do not work', { error: errorText(error) })
  }
}
