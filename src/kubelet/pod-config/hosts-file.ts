// The /etc/hosts of a pod: loopback, its own names and its host aliases.
import { withoutTrailing } from '../../base/text/without-trailing.ts'
import type { Pod } from '../../api/core/v1/pod/pod.ts'

export function hostsFile({ spec }: Pod, podIps: readonly string[], hostname: string, domain: string): string {
  const names = domain === '' ? [hostname] : [`${hostname}.${domain}`, hostname]
  return [
    '# Kubernetes-managed hosts file.',
    '127.0.0.1\tlocalhost',
    '::1\tlocalhost ip6-localhost ip6-loopback',
    'fe00::\tip6-localnet',
    'fe00::\tip6-mcastprefix',
    'fe00::1\tip6-allnodes',
    'fe00::2\tip6-allrouters',
    ...podIps.flatMap((ip) => linesOf(ip, names)),
    ...aliasLines(spec),
    '',
  ].join('\n')
}

/** The /etc/hosts of a host network pod: the node's file and the pod's aliases. */
export const nodeHostsFile = ({ spec }: Pod, ofNode: string): string =>
  ['# Kubernetes-managed hosts file (host network).', ofNode.trimEnd(), ...aliasLines(spec), ''].join('\n')

function aliasLines({ hostAliases = [] }: Pod['spec']): string[] {
  if (hostAliases.length === 0) return []
  const lines = hostAliases.flatMap(({ ip, hostnames = [] }) => linesOf(ip, hostnames))
  return ['', '# Entries added by HostAliases.', ...lines]
}

const address = /^[\d.:A-Fa-f]+$/
const blank = /\s/

/** One line, or none if a text of the pod would make it several lines or entries. The API accepts no such texts. */
const linesOf = (ip: string, names: readonly string[]): string[] =>
  address.test(ip) && !names.some((name) => blank.test(name)) ? [`${ip}\t${names.join('\t')}`] : []

const hostnameCharactersMax = 63

/** The hostname of the pod, and its domain if it has a subdomain. */
export function hostnameOf({ metadata, spec }: Pod, clusterDomain: string): { hostname: string; domain: string } {
  if (spec.hostnameOverride !== undefined) return { hostname: spec.hostnameOverride, domain: '' }
  const requested = spec.hostname ?? metadata.name
  const hostname = withoutTrailing(requested.slice(0, hostnameCharactersMax), '-.')
  const domain =
    spec.subdomain === undefined ? '' : `${spec.subdomain}.${metadata.namespace ?? ''}.svc.${clusterDomain}`
  return { hostname: spec.setHostnameAsFQDN && domain !== '' ? `${hostname}.${domain}` : hostname, domain }
}
