// A DNS server in its own process.
import { dnsPort } from '../../dns/forwarder/upstream-servers.ts'
import { isWildcard } from '../certificates/serving-hosts.ts'
import { dnsComponent, type DnsSettings } from '../components/dns.ts'
import { localAddresses } from './local-addresses.ts'
import { runComponent, type ComponentProcessOptions } from './run-component.ts'

export interface RunDnsOptions
  extends Omit<DnsSettings, 'resolvConf' | 'ownAddresses' | 'serviceRange'>, ComponentProcessOptions {
  /** The text of a resolv.conf with the upstream servers. */
  readonly resolvConf: string
}

/** Runs until the signal is aborted. */
export async function runDns({ resolvConf, ...options }: RunDnsOptions, signal: AbortSignal): Promise<void> {
  const ownAddresses = addressesOf(options)
  await runComponent(dnsComponent({ ...options, ownAddresses, resolvConf: () => resolvConf }), options, signal)
}

/** Addresses at which a resolv.conf would refer to this server. It can only refer to the usual port. */
export const addressesOf = ({ hosts, port }: Pick<RunDnsOptions, 'hosts' | 'port'>): readonly string[] => {
  if (port !== dnsPort) return []
  return hosts.some(isWildcard) ? localAddresses() : hosts
}
