// Columns of an Ingress that join several values.
import type { IngressRule, IngressStatus } from './ingress-spec.ts'

const hostsMax = 3

/** `*` stands for rules without a host; for more than three rules only their number is shown. */
export function hostsText(rules: readonly IngressRule[]): string {
  const hosts = rules
    .slice(0, hostsMax)
    .map(({ host }) => host)
    .filter((host) => host)
  if (hosts.length === 0) return '*'
  return `${hosts.join(',')}${rules.length > hostsMax ? ` + ${rules.length - hostsMax} more...` : ''}`
}

export function addressesText({ loadBalancer }: IngressStatus): string {
  const addresses = (loadBalancer?.ingress ?? []).map(({ ip, hostname }) => ip || hostname || '')
  return [...new Set(addresses.filter((address) => address !== ''))].toSorted().join(',')
}
