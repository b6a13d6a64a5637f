// Lets packets between two ports of a bridge pass the rules of nftables.
import type { Clock } from '../../base/time/clock.ts'
import type { KernelSettings } from './kernel-settings.ts'

const settings = ['net/bridge/bridge-nf-call-iptables', 'net/bridge/bridge-nf-call-ip6tables']

/** Returns the settings that could not be set: the kernel module br_netfilter may not be loaded. */
export async function filterBridges(kernelSettings: KernelSettings, clock: Clock): Promise<readonly string[]> {
  const missing: string[] = []
  for (const name of settings)
    if (!(await clock.outside(kernelSettings.set(name, '1').catch(() => false)))) missing.push(name)
  return missing
}
