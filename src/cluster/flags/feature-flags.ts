// The flags of features that are off by default, with upstream's names and errors. Gates of features that do not exist here are
// errors: a cluster that was started with one would not have the feature.

export const featureGateFlag = {
  'feature-gates': {
    type: 'string',
    value: '<gate>=true|false,…',
    help: 'features that are on or off: CoordinatedLeaderElection (false), UnknownVersionInteroperabilityProxy (true)',
  },
} as const

export const featureFlags = {
  ...featureGateFlag,
  'runtime-config': {
    type: 'string',
    value: '<version>=true|false,…',
    help: 'API versions that are served besides the stable ones: coordination.k8s.io/v1beta1 (false)',
  },
} as const

export type FeatureFlagValues = Readonly<Partial<Record<keyof typeof featureFlags, string | undefined>>>

const coordinatedElectionGate = 'CoordinatedLeaderElection'
const peerProxyGate = 'UnknownVersionInteroperabilityProxy'
const gateNames = [coordinatedElectionGate, peerProxyGate]

export interface Features {
  readonly hasCoordinatedElection: boolean
  readonly hasNoPeerProxy: boolean
}

const candidateVersion = 'coordination.k8s.io/v1beta1'
/** The names that include that version, the weakest first. */
const candidateVersionNames = ['api/all', 'api/beta', candidateVersion, `${candidateVersion}/leasecandidates`]

/** Of a program without an API. Throws on an invalid flag. */
export function gatesOf(flags: FeatureFlagValues): Features {
  const gates = entriesOf('feature-gates', flags)
  for (const name of gates.keys())
    if (!gateNames.includes(name))
      throw new Error(`--feature-gates: unrecognized feature gate: ${name}; the gates here are ${gateNames.join(', ')}`)
  return {
    hasCoordinatedElection: gates.get(coordinatedElectionGate) ?? false,
    hasNoPeerProxy: gates.get(peerProxyGate) === false,
  }
}

/** Of an API server. Throws on an invalid flag, and on a feature whose API is not served. */
export function featuresOf(flags: FeatureFlagValues): Features {
  const gates = gatesOf(flags)
  const versions = entriesOf('runtime-config', flags)
  for (const name of versions.keys())
    if (!candidateVersionNames.includes(name))
      throw new Error(`--runtime-config: unknown api groups ${name}; the versions here are ${candidateVersion}`)
  const isServed = candidateVersionNames.reduce((served, name) => versions.get(name) ?? served, false)
  if (gates.hasCoordinatedElection && !isServed)
    throw new Error(
      `--feature-gates ${coordinatedElectionGate}=true needs the API of LeaseCandidates: --runtime-config ${candidateVersion}=true`,
    )
  return gates
}

/** A later entry of the same name replaces an earlier one. */
function entriesOf(flag: keyof typeof featureFlags, flags: FeatureFlagValues): ReadonlyMap<string, boolean> {
  const texts = (flags[flag] ?? '').split(',').map((entry) => entry.trim())
  return new Map(texts.filter((entry) => entry !== '').map((entry) => entryOf(flag, entry)))
}

/** As upstream, a version without a value is served. */
function entryOf(flag: keyof typeof featureFlags, entry: string): readonly [string, boolean] {
  const [name = '', value, ...rest] = entry.split('=')
  if (value === undefined && flag === 'feature-gates') throw new Error(`--${flag}: missing bool value for ${name}`)
  const isOn = rest.length > 0 ? undefined : boolOf(value ?? 'true')
  if (isOn === undefined)
    throw new Error(`--${flag}: invalid value of ${name}=${[value, ...rest].join('=')}: it is neither true nor false`)
  return [name, isOn]
}

/** The texts that Go accepts. */
function boolOf(text: string): boolean | undefined {
  if (['1', 't', 'T', 'true', 'TRUE', 'True'].includes(text)) return true
  return ['0', 'f', 'F', 'false', 'FALSE', 'False'].includes(text) ? false : undefined
}
