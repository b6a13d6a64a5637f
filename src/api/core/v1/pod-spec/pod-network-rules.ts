// Rules of a pod's host names, host aliases and DNS configuration.
import { wholePattern } from '../../../../base/text/whole-pattern.ts'
import { forbidden, invalid, required, type FieldError } from '../../../../schema/validation/field-error.ts'
import { dnsLabelErrors, dnsSubdomainErrors } from '../../../validation/names.ts'
import { ipErrors } from '../../../validation/network-rules.ts'
import type { HostAlias, PodDNSConfig, PodSpec } from './pod-spec.ts'

const nameserversMax = 3
const searchesMax = 32
const searchCharactersMax = 2048

export const validateHostNames = (spec: PodSpec, path: string): FieldError[] => [
  ...(spec.hostname
    ? dnsLabelErrors(spec.hostname).map((detail) => invalid(`${path}.hostname`, spec.hostname, detail))
    : []),
  ...(spec.subdomain
    ? dnsLabelErrors(spec.subdomain).map((detail) => invalid(`${path}.subdomain`, spec.subdomain, detail))
    : []),
  ...validateHostnameOverride(spec, `${path}.hostnameOverride`),
]

function validateHostnameOverride(
  { hostnameOverride, setHostnameAsFQDN, hostNetwork }: PodSpec,
  path: string,
): FieldError[] {
  if (hostnameOverride === undefined) return []
  const others = { setHostnameAsFQDN, hostNetwork }
  return [
    ...Object.entries(others)
      .filter(([, isSet]) => isSet)
      .map(([name]) => forbidden(path, `may not be specified when ${name} is true`)),
    ...dnsSubdomainErrors(hostnameOverride).map((detail) => invalid(path, hostnameOverride, detail)),
  ]
}

export const validateHostAliases = (aliases: readonly Partial<HostAlias>[], path: string): FieldError[] =>
  aliases.flatMap(({ ip = '', hostnames = [] }, index) => [
    ...ipErrors(ip).map((detail) => invalid(`${path}[${index}].ip`, ip, detail)),
    ...hostnames.flatMap((name, position) =>
      dnsSubdomainErrors(name).map((detail) => invalid(`${path}[${index}].hostnames[${position}]`, name, detail)),
    ),
  ])

export function validateDns({ dnsPolicy, dnsConfig }: PodSpec, path: string): FieldError[] {
  if (dnsPolicy === 'None' && dnsConfig === undefined)
    return [required(path, 'must provide `dnsConfig` when `dnsPolicy` is None')]
  if (dnsPolicy === 'None' && !dnsConfig?.nameservers?.length)
    return [required(`${path}.nameservers`, 'must provide at least one DNS nameserver when `dnsPolicy` is None')]
  return dnsConfig === undefined ? [] : validateDnsConfig(dnsConfig, path)
}

const validateDnsConfig = (config: PodDNSConfig, path: string): FieldError[] => [
  ...validateNameservers(config.nameservers ?? [], `${path}.nameservers`),
  ...validateSearches(config.searches ?? [], `${path}.searches`),
  ...(config.options ?? []).flatMap(({ name }, index) =>
    name ? [] : [required(`${path}.options[${index}]`, 'must not be empty')],
  ),
]

const validateNameservers = (addresses: readonly string[], path: string): FieldError[] => [
  ...(addresses.length > nameserversMax
    ? [invalid(path, addresses, `must not have more than ${nameserversMax} nameservers`)]
    : []),
  ...addresses.flatMap((address, index) =>
    ipErrors(address).map((detail) => invalid(`${path}[${index}]`, address, detail)),
  ),
]

function validateSearches(searches: readonly string[], path: string): FieldError[] {
  const bounds = [
    [searches.length > searchesMax, `${searchesMax} search paths`],
    [
      searches.join(' ').length > searchCharactersMax,
      `${searchCharactersMax} characters (including spaces) in the search list`,
    ],
  ] as const
  // A single dot is the root domain; a trailing dot marks a fully qualified name.
  const domains = searches.map((search) => (search === '.' ? undefined : search.replace(/\.$/, '')))
  return [
    ...bounds
      .filter(([isExceeded]) => isExceeded)
      .map(([, bound]) => invalid(path, searches, `must not have more than ${bound}`)),
    ...domains.flatMap((domain, index) =>
      domain === undefined ? [] : searchErrors(domain).map((detail) => invalid(`${path}[${index}]`, domain, detail)),
    ),
  ]
}

const searchLabel = '[a-z0-9_]([-_a-z0-9]*[a-z0-9])?'
const searchDomain = `${searchLabel}(\\.${searchLabel})*`
const searchPattern = wholePattern(searchDomain)

/** A search domain may contain underscores, like names of services in DNS. */
const searchErrors = (domain: string): string[] =>
  searchPattern.test(domain)
    ? []
    : [
        `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${searchDomain}')`,
      ]
