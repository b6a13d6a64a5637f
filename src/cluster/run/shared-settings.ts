// Flags whose values must be the same on all servers of a control plane. A server that joins gets them with the authorities.
import type { DataDirectory } from '../data-directory/open-directory.ts'
import { nodeRangeFlags } from '../flags/node-ranges.ts'
import type { PolicyFlag } from '../flags/policy-flags.ts'
import { serviceRangeFlags } from '../flags/service-ranges.ts'
import type { UpOptions } from './up-options.ts'

export type SharedSettings = Readonly<Record<string, string>>

type FlagOptions = Pick<UpOptions, 'serviceRangeFlags' | 'nodeRangeFlags' | 'policyFlags'>

const names = {
  serviceRangeFlags: Object.keys(serviceRangeFlags),
  nodeRangeFlags: Object.keys(nodeRangeFlags),
  policyFlags: ['service-account-issuer'] satisfies PolicyFlag[] as readonly string[],
} as const

const chosen = (values: Readonly<Record<string, unknown>>, flags: readonly string[]): SharedSettings =>
  Object.fromEntries(
    Object.entries(values).filter(
      (entry): entry is [string, string] => flags.includes(entry[0]) && typeof entry[1] === 'string',
    ),
  )

/** Those that were given. */
export const sharedSettings = ({
  serviceRangeFlags: s,
  nodeRangeFlags: n,
  policyFlags: p,
}: FlagOptions): SharedSettings => ({
  ...chosen(s ?? {}, names.serviceRangeFlags),
  ...chosen(n ?? {}, names.nodeRangeFlags),
  ...chosen(p ?? {}, names.policyFlags),
})

/** Options with these values, and the other ones that were given. */
export const withSettings = (options: FlagOptions, settings: SharedSettings): FlagOptions => ({
  serviceRangeFlags: { ...options.serviceRangeFlags, ...chosen(settings, names.serviceRangeFlags) },
  nodeRangeFlags: { ...options.nodeRangeFlags, ...chosen(settings, names.nodeRangeFlags) },
  policyFlags: { ...options.policyFlags, ...chosen(settings, names.policyFlags) },
})

/** Options with flags that the data directory has of a cluster that came from elsewhere and that must stay the same, unless they are given. */
export function withStored<Options extends FlagOptions>(options: Options, { marker }: DataDirectory): Options {
  const stored = marker.server?.settings ?? marker.settings ?? {}
  return { ...options, ...withSettings(options, { ...stored, ...sharedSettings(options) }) }
}

/** Throws on a value that differs from that of the other servers. */
export function checkSettings(given: SharedSettings, shared: SharedSettings): void {
  const values = new Map(Object.entries(shared))
  for (const [flag, value] of Object.entries(given))
    if (values.get(flag) !== value)
      throw new Error(`--${flag} ${value}: the other servers of the cluster have ${values.get(flag) ?? 'the default'}`)
}
