// Which sysctls a pod may set on the node: the safe ones, which affect only the pod itself, and those that the
// configuration of the kubelet allows. The API server has rejected sysctls of namespaces that a pod shares with the host.
import type { PodSpec } from '../../api/core/v1/pod-spec/pod-spec.ts'
import type { PodTermination } from '../pod/pod-sync-state.ts'

/** Upstream requires Linux 4.15 for the latest of them, which Node.js does, too. */
const safeSysctls: ReadonlySet<string> = new Set([
  'kernel.shm_rmid_forced',
  'net.ipv4.ip_local_port_range',
  'net.ipv4.ip_local_reserved_ports',
  'net.ipv4.ip_unprivileged_port_start',
  'net.ipv4.ping_group_range',
  'net.ipv4.tcp_fin_timeout',
  'net.ipv4.tcp_keepalive_intvl',
  'net.ipv4.tcp_keepalive_probes',
  'net.ipv4.tcp_keepalive_time',
  'net.ipv4.tcp_rmem',
  'net.ipv4.tcp_syncookies',
  'net.ipv4.tcp_wmem',
])

/** Why the pod is rejected because of a sysctl; `allowed` are the names and patterns of the configuration. */
export function sysctlRejection(
  { securityContext }: Pick<PodSpec, 'securityContext'>,
  allowed: readonly string[],
): PodTermination | undefined {
  const patterns = allowed.map(dotted)
  const forbidden = (securityContext.sysctls ?? [])
    .map(({ name }) => dotted(name))
    .find((name) => !safeSysctls.has(name) && !patterns.some((pattern) => matches(name, pattern)))
  return forbidden === undefined
    ? undefined
    : { reason: 'SysctlForbidden', message: `forbidden sysctl: ${JSON.stringify(forbidden)} not allowlisted` }
}

/** A pattern that ends with `*` matches all names with this prefix. */
const matches = (name: string, pattern: string): boolean =>
  pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern

/** A name whose first separator is a slash has slashes and dots exchanged: `net/ipv4/conf/eth0.1/forwarding`. */
const dotted = (name: string): string =>
  /^[^./]*\//.test(name) ? name.replaceAll(/[./]/g, (separator) => (separator === '/' ? '.' : '/')) : name

const segment = '[a-z0-9]([-_a-z0-9]*[a-z0-9])?'
const patternText = `^(${segment}[\\./])*(${segment}|[a-z0-9][-_a-z0-9]*\\*|\\*)$`
const patternForm = new RegExp(patternText)
const patternCharactersMax = 253
const namespaced = /^(net\.|kernel\.shm|kernel\.msg|kernel\.sem$|fs\.mqueue\.)/

/** Checks a pattern of the configuration. Only sysctls that belong to a namespace of the pod can be allowed. */
export function checkSysctlPattern(pattern: string): string {
  if (pattern.length > patternCharactersMax || !patternForm.test(pattern))
    throw new Error(
      `sysctl ${JSON.stringify(pattern)} must have at most ${patternCharactersMax} characters and match regex ${patternText}`,
    )
  const name = dotted(pattern)
  if (!namespaced.test(name.replace(/\*$/, '')))
    throw new Error(`the sysctls ${JSON.stringify(name)} are not known to be namespaced`)
  return pattern
}
