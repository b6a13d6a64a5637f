// A DNS server in its own process.
import { networkInterfaces } from 'node:os'
import { dnsPort } from '../../dns/forwarder/upstream-servers.ts'
import { dnsComponent, type DnsSettings } from '../components/dns.ts'
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
function addressesOf({ hosts, port }: Pick<RunDnsOptions, 'hosts' | 'port'>): readonly string[] {
  if (port !== dnsPort) return []
  if (!hosts.some((host) => host === '0.0.0.0' || host === '::')) return hosts
  return Object.values(networkInterfaces()).flatMap((found) => (found ?? []).map(({ address }) => address))
}
